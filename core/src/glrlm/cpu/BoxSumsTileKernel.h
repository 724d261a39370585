// BoxSumsTileKernel_hSPDX-FileCopyrightText: Copyright NumFOCUS
// BoxSumsTileKernel_hSPDX-License-Identifier: Apache-2.0

// BoxSumsTileKernel_hIncluded once per instruction set by BoxSumsTile*.cxx, which define VOXELMAPS_INSTRUCTION_SET.
#BoxSumsTileKernel_hinclude "BoxSumsFeatures.h"
#BoxSumsTileKernel_hinclude "BoxSumsLevelCounts.h"
#BoxSumsTileKernel_hinclude "BoxSumsTileContext.h"

/* BoxSumsTileKernel_hBox sums of images start_k give all sums over runs (run by run, the identity is easy to check):
 *   BoxSumsTileKernel_hstart_k(p) = 1 if the k voxels from p along direction d are of one level,
 *   BoxSumsTileKernel_hS_k[f] = sum of f(level) start_k(p) over those p of the window whose k voxels are all in the
 * window, BoxSumsTileKernel_hR_l[f] = S_l[f] - 2 S_(l+1)[f] + S_(l+2)[f] is the sum of f over the runs of length l.
 * BoxSumsTileKernel_hThe p of S_k are a box that shrinks by |d| with every k, so windows need no border cases, and the
 * sums are separable. BoxSumsTileKernel_hImages start_k are indexed by the least corner of their k voxels, so every box
 * starts at the window's first voxel. */
BoxSumsTileKernel_hnamespace voxelmaps
{
  BoxSumsTileKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
  {
    BoxSumsTileKernel_hnamespace
    {
      /** BoxSumsTileKernel_hThe sums S_k of a tile, for every quantity that the features need. */
      BoxSumsTileKernel_hclass RunSums
      {
      BoxSumsTileKernel_hpublic:
        BoxSumsTileKernel_hexplicit RunSums(const TileContext & context)
          : BoxSumsTileKernel_hm_Context(context)
          , BoxSumsTileKernel_hm_Task(context.task)
          , BoxSumsTileKernel_hm_Shape(context.shape)
          , BoxSumsTileKernel_hm_Memory(context.memory)
        {}

        BoxSumsTileKernel_hvoid BoxSumsTileKernel_hMakeWeights()
        {
          BoxSumsTileKernel_hconst std::ptrdiff_t n = m_Context.inputVoxels;
          BoxSumsTileKernel_hconst std::uint16_t * VOXELMAPS_RESTRICT levels = m_Memory.levels;
          BoxSumsTileKernel_hstd::uint8_t * VOXELMAPS_RESTRICT        runStarts = m_Memory.runStarts;
          BoxSumsTileKernel_hfor(std::ptrdiff_t i = 0; i < n; ++i)
          {
            BoxSumsTileKernel_hrunStarts[i] = levels[i] != 0 ? 1 : 0;
          }
          BoxSumsTileKernel_hif(m_Task.needsSquares && m_Task.wideSquares)
          {
            BoxSumsTileKernel_hauto * VOXELMAPS_RESTRICT squares =
              static_cast<std::uint64_t *>(m_Memory.weights[SquareWeight]);
            BoxSumsTileKernel_hfor(std::ptrdiff_t i = 0; i < n; ++i)
            {
              BoxSumsTileKernel_hsquares[i] = std::uint64_t{ levels[i] } * levels[i];
            }
          }
          BoxSumsTileKernel_helse if (m_Task.needsSquares)
          {
            BoxSumsTileKernel_hauto * VOXELMAPS_RESTRICT squares =
              static_cast<std::uint32_t *>(m_Memory.weights[SquareWeight]);
            BoxSumsTileKernel_hfor(std::ptrdiff_t i = 0; i < n; ++i)
            {
              BoxSumsTileKernel_hsquares[i] = std::uint32_t{ levels[i] } * levels[i];
            }
          }
          BoxSumsTileKernel_hif(m_Task.needsLevelSum)
          {
            BoxSumsTileKernel_hauto * VOXELMAPS_RESTRICT weights =
              static_cast<std::uint32_t *>(m_Memory.weights[LevelWeight]);
            BoxSumsTileKernel_hfor(std::ptrdiff_t i = 0; i < n; ++i)
            {
              BoxSumsTileKernel_hweights[i] = levels[i];
            }
          }
          BoxSumsTileKernel_hif(m_Task.needsInverses)
          {
            BoxSumsTileKernel_hauto * inverses = static_cast<std::uint64_t *>(m_Memory.weights[InverseWeight]);
            BoxSumsTileKernel_hfor(std::ptrdiff_t i = 0; i < n; ++i)
            {
              BoxSumsTileKernel_hinverses[i] = m_Task.inverseSquares[levels[i]];
            }
          }
        }

        /** BoxSumsTileKernel_hS_1, which all directions share. */
        BoxSumsTileKernel_hvoid BoxSumsTileKernel_hSumFirst() const
        {
          BoxSumsTileKernel_hconst Box box{ m_Task.window[0], m_Task.window[1], m_Task.window[2] };
          BoxSumsTileKernel_hfor(int z = 0; z < m_Shape.nz; ++z)
          {
            BoxSumsTileKernel_hthis->SumAllWeights<false>(
              box, 0, 1, z, 0, m_Memory.firstSums, z * m_Context.PlaneOutputs());
          }
        }

        /** BoxSumsTileKernel_hS_2, S_3 ... of a direction, plane by plane; finish(longest, z) is called when plane z is
         * ready. */
        BoxSumsTileKernel_htemplate<typename TFinish> BoxSumsTileKernel_hvoid BoxSumsTileKernel_hSumDirection(
          int d, const TFinish & finish)
        {
          BoxSumsTileKernel_hconst int longest =
            m_Task.needsEntropy ? m_Memory.longestRuns[d] : m_Context.MakeRunStarts(d);
          BoxSumsTileKernel_hfor(int z = 0; z < m_Shape.nz; ++z)
          {
            BoxSumsTileKernel_hfor(int k = 2; k <= longest; ++k)
            {
              BoxSumsTileKernel_hthis->SumRunStarts(d, k, z);
            }
            BoxSumsTileKernel_hfinish(longest, z);
          }
          BoxSumsTileKernel_hm_LongestSoFar = longest > m_LongestSoFar ? longest : m_LongestSoFar;
        }

        /** BoxSumsTileKernel_hLongest run of the directions so far. */
        BoxSumsTileKernel_hint BoxSumsTileKernel_hGetLongest() const
        {
          BoxSumsTileKernel_hreturn m_LongestSoFar;
        }

      BoxSumsTileKernel_hprivate:
        /** BoxSumsTileKernel_hS_k of a direction, added to that of the directions before if merged. */
        BoxSumsTileKernel_hvoid BoxSumsTileKernel_hSumRunStarts(int d, int k, int z) const
        {
          BoxSumsTileKernel_hconst Box box = m_Context.GetBox(d, k);
          BoxSumsTileKernel_hconst std::ptrdiff_t first = m_Context.FirstVoxel(d, k);
          BoxSumsTileKernel_hconst bool           add =
            m_Task.aggregation == BoxSumsTask::Aggregation::Merge && k <= m_LongestSoFar;
          BoxSumsTileKernel_hif(add)
          {
            BoxSumsTileKernel_hthis->SumAllWeights<true>(box, d, k, z, first, m_Memory.sums, m_Memory.SumsOffset(k, z));
          }
          BoxSumsTileKernel_helse
          {
            BoxSumsTileKernel_hthis->SumAllWeights<false>(
              box, d, k, z, first, m_Memory.sums, m_Memory.SumsOffset(k, z));
          }
        }

        BoxSumsTileKernel_htemplate<bool VAdd> BoxSumsTileKernel_hvoid BoxSumsTileKernel_hSumAllWeights(
          const Box &                       box,
          int                               d,
          int                               k,
          int                               z,
          std::ptrdiff_t                    first,
          void * const                      outs[],
          BoxSumsTileKernel_hstd::ptrdiff_t outOffset) const
        {
          BoxSumsTileKernel_hconst std::uint8_t * runStart = m_Context.RunStarts(d, k);
          BoxSumsTileKernel_hfor(int c = 0; c < NumberOfWeights; ++c)
          {
            BoxSumsTileKernel_hconst int bytes = WeightBytes(m_Task, c);
            BoxSumsTileKernel_hif(bytes == 4)
            {
              BoxSumsTileKernel_hauto * plane =
                static_cast<std::uint32_t *>(m_Memory.planes[c]) + (k - 1) * m_Memory.planesPerLength;
              BoxSumsTileKernel_hauto * out = static_cast<std::uint32_t *>(outs[c]) + outOffset;
              BoxSumsTileKernel_hif(c == CountWeight)
              {
                BoxSumsTileKernel_hm_Context.SumBox<VAdd>(box, Counted<std::uint32_t>{ runStart }, z, plane, out);
              }
              BoxSumsTileKernel_helse
              {
                BoxSumsTileKernel_hconst auto * weight =
                  static_cast<const std::uint32_t *>(m_Memory.weights[c]) + first;
                BoxSumsTileKernel_hm_Context.SumBox<VAdd>(
                  box, Weighted<std::uint32_t>{ runStart, weight }, z, plane, out);
              }
            }
            BoxSumsTileKernel_helse if (bytes == 8)
            {
              BoxSumsTileKernel_hauto * plane =
                static_cast<std::uint64_t *>(m_Memory.planes[c]) + (k - 1) * m_Memory.planesPerLength;
              BoxSumsTileKernel_hauto *       out = static_cast<std::uint64_t *>(outs[c]) + outOffset;
              BoxSumsTileKernel_hconst auto * weight = static_cast<const std::uint64_t *>(m_Memory.weights[c]) + first;
              BoxSumsTileKernel_hm_Context.SumBox<VAdd>(
                box, Weighted<std::uint64_t>{ runStart, weight }, z, plane, out);
            }
          }
        }

        BoxSumsTileKernel_hconst TileContext & m_Context;
        BoxSumsTileKernel_hconst BoxSumsTask & m_Task;
        BoxSumsTileKernel_hconst TileShape &   m_Shape;
        BoxSumsTileKernel_hconst TileMemory &  m_Memory;
        BoxSumsTileKernel_hint                 m_LongestSoFar{ 1 };
      };
    } // BoxSumsTileKernel_hnamespace
  } // BoxSumsTileKernel_hnamespace VOXELMAPS_INSTRUCTION_SET

  BoxSumsTileKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
  {
    BoxSumsTileKernel_hvoid BoxSumsTileKernel_hComputeBoxSumsTile(
      const BoxSumsTask & task, const KernelTile & tile, void * workspace)
    {
      BoxSumsTileKernel_hTileContext         context(task, tile, workspace);
      BoxSumsTileKernel_hconst FeatureWriter writer(context);
      BoxSumsTileKernel_hif(!context.LoadLevels())
      {
        BoxSumsTileKernel_hwriter.WriteBackground();
        BoxSumsTileKernel_hreturn;
      }

      BoxSumsTileKernel_hRunSums sums(context);
      BoxSumsTileKernel_hsums.MakeWeights();
      BoxSumsTileKernel_hsums.SumFirst();
      BoxSumsTileKernel_hif(task.needsLevelCounts || task.needsEntropy)
      {
        BoxSumsTileKernel_hLevelCounts(context).Compute();
      }

      BoxSumsTileKernel_hconst bool merge = task.aggregation == BoxSumsTask::Aggregation::Merge;
      BoxSumsTileKernel_hfor(int d = 0; d < task.directions.number; ++d)
      {
        BoxSumsTileKernel_htile.checkAbort(tile.execution);
        BoxSumsTileKernel_hsums.SumDirection(d, [&](int longest, int z) {
          BoxSumsTileKernel_hif(!merge)
          {
            BoxSumsTileKernel_hwriter.FinishPlane(d, longest, z);
          }
        });
      }
      BoxSumsTileKernel_hif(merge)
      {
        BoxSumsTileKernel_hfor(int z = 0; z < context.shape.nz; ++z)
        {
          BoxSumsTileKernel_hwriter.FinishPlane(0, sums.GetLongest(), z);
        }
      }
      BoxSumsTileKernel_helse if (task.aggregation == BoxSumsTask::Aggregation::Average)
      {
        BoxSumsTileKernel_hwriter.WriteAverages();
      }
    }
  } // BoxSumsTileKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
} // BoxSumsTileKernel_hnamespace voxelmaps
