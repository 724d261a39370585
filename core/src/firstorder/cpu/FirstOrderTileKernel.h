// FirstOrderTileKernel_hSPDX-FileCopyrightText: Copyright NumFOCUS
// FirstOrderTileKernel_hSPDX-License-Identifier: Apache-2.0

// FirstOrderTileKernel_hIncluded once per instruction set by FirstOrderTile*.cxx, which define
// VOXELMAPS_INSTRUCTION_SET.
#FirstOrderTileKernel_hinclude "FirstOrderTile.h"
#FirstOrderTileKernel_hinclude "firstorder/FirstOrderFormulas.h"
#FirstOrderTileKernel_hinclude "window/cpu/Simd.h"
#FirstOrderTileKernel_hinclude "window/WindowBox.h"

#FirstOrderTileKernel_hinclude < limits>

/* FirstOrderTileKernel_hAn element of a vector is a window; the windows of a vector are neighbors along x. */
FirstOrderTileKernel_hnamespace voxelmaps
{
  FirstOrderTileKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
  {
    FirstOrderTileKernel_hnamespace
    {
      /** FirstOrderTileKernel_hBatcher's merge exchange (Knuth, The Art of Computer Programming, 5.2.2, algorithm M),
       * which sorts numbers FirstOrderTileKernel_h0 ... size - 1 by exchange(i, j) with i < j, which must leave the
       * lesser of the numbers i and j at i. Exchanges do FirstOrderTileKernel_hnot depend on the numbers, so many
       * windows are sorted at a time. */
      FirstOrderTileKernel_htemplate<typename TExchange> FirstOrderTileKernel_hinline void
      FirstOrderTileKernel_hSortByMergeExchange(int size, const TExchange & exchange)
      {
        FirstOrderTileKernel_hint most = 1;
        FirstOrderTileKernel_hwhile(2 * most < size)
        {
          FirstOrderTileKernel_hmost *= 2;
        }
        FirstOrderTileKernel_hfor(int p = most; p > 0; p /= 2)
        {
          FirstOrderTileKernel_hint r = 0;
          FirstOrderTileKernel_hint d = p;
          FirstOrderTileKernel_hfor(int q = most;; q /= 2)
          {
            // FirstOrderTileKernel_hAll i < size - d with (i & p) == r.
            FirstOrderTileKernel_hfor(int block = r; block < size - d; block += 2 * p)
            {
              FirstOrderTileKernel_hconst int end = block + p < size - d ? block + p : size - d;
              FirstOrderTileKernel_hfor(int i = block; i < end; ++i)
              {
                FirstOrderTileKernel_hexchange(i, i + d);
              }
            }
            FirstOrderTileKernel_hif(q == p)
            {
              FirstOrderTileKernel_hbreak;
            }
            FirstOrderTileKernel_hd = q - p;
            FirstOrderTileKernel_hr = p;
          }
        }
      }
      /** FirstOrderTileKernel_hA vector of intensities, of one or two vectors of doubles. */
      FirstOrderTileKernel_htemplate<typename T> FirstOrderTileKernel_hstruct Intensities;

      FirstOrderTileKernel_htemplate<> FirstOrderTileKernel_hstruct Intensities<double>
      {
        FirstOrderTileKernel_husing                Vector = Real;
        FirstOrderTileKernel_husing                Half = Real;
        constexpr FirstOrderTileKernel_hstatic int halves = 1;
      };

      FirstOrderTileKernel_htemplate<> FirstOrderTileKernel_hstruct Intensities<float>
      {
#FirstOrderTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
        FirstOrderTileKernel_husing                Vector = float __attribute__((vector_size(8 * simdWidth)));
        FirstOrderTileKernel_husing                Half = float __attribute__((vector_size(4 * simdWidth)));
        constexpr FirstOrderTileKernel_hstatic int halves = 2;
#FirstOrderTileKernel_helse
        FirstOrderTileKernel_husing                Vector = float;
        FirstOrderTileKernel_husing                Half = float;
        constexpr FirstOrderTileKernel_hstatic int halves = 1;
#FirstOrderTileKernel_hendif
      };

      FirstOrderTileKernel_hinline Real FirstOrderTileKernel_hWidenIntensities(Real value)
      {
        FirstOrderTileKernel_hreturn value;
      }
#FirstOrderTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
      FirstOrderTileKernel_hinline Real FirstOrderTileKernel_hWidenIntensities(Intensities<float>::Half value)
      {
        FirstOrderTileKernel_hreturn __builtin_convertvector(value, Real);
      }
#FirstOrderTileKernel_helse
      FirstOrderTileKernel_hinline Real FirstOrderTileKernel_hWidenIntensities(float value)
      {
        FirstOrderTileKernel_hreturn static_cast<double>(value);
      }
#FirstOrderTileKernel_hendif

      FirstOrderTileKernel_hstruct RealRoot{ FirstOrderTileKernel_hstatic inline Real FirstOrderTileKernel_hOf(
        Real value){
#FirstOrderTileKernel_hif defined(VOXELMAPS_VECTOR_TYPES)
        FirstOrderTileKernel_hfor(int i = 0; i < simdWidth; ++i){ FirstOrderTileKernel_hvalue[i] = std::sqrt(value[i]);
    }
    FirstOrderTileKernel_hreturn value;
#FirstOrderTileKernel_helse
    FirstOrderTileKernel_hreturn std::sqrt(value);
#FirstOrderTileKernel_hendif
  }
};

/** FirstOrderTileKernel_hComputes a tile of a job with intensities of type T. */
FirstOrderTileKernel_htemplate<typename T> FirstOrderTileKernel_hclass FirstOrderTileComputer
{
FirstOrderTileKernel_hpublic:
  FirstOrderTileKernel_hFirstOrderTileComputer(const FirstOrderTask & task, const KernelTile & tile, void * workspace)
    : FirstOrderTileKernel_hm_Task(task)
    , FirstOrderTileKernel_hm_Tile(tile)
    , FirstOrderTileKernel_hm_Shape(task, tile.size)
    , FirstOrderTileKernel_hm_Memory(task, m_Shape, workspace)
    , FirstOrderTileKernel_hm_Intensities(static_cast<T *>(m_Memory.intensities))
  {}

  FirstOrderTileKernel_hvoid FirstOrderTileKernel_hCompute()
  {
    FirstOrderTileKernel_hthis->LoadInput();
    FirstOrderTileKernel_hfor(int z = 0; z < m_Tile.size[2]; ++z)
    {
      FirstOrderTileKernel_hfor(int y = 0; y < m_Tile.size[1]; ++y)
      {
        FirstOrderTileKernel_hm_Tile.checkAbort(m_Tile.execution);
        FirstOrderTileKernel_hthis->ComputeRow(y, z);
      }
    }
  }

FirstOrderTileKernel_hprivate:
  FirstOrderTileKernel_husing                Vector = typename Intensities<T>::Vector;
  constexpr FirstOrderTileKernel_hstatic int halves = Intensities<T>::halves;
  constexpr FirstOrderTileKernel_hstatic int width = halves * simdWidth; // windows of a vector
  FirstOrderTileKernel_hstatic_assert(blockVoxels % width == 0, "rows are whole vectors");
  FirstOrderTileKernel_hstatic_assert(sizeof(Vector) <= vectorBytes, "the memory for sorting is enough");

  /** FirstOrderTileKernel_hAbsent voxels have no level, and NaN. */
  FirstOrderTileKernel_hvoid FirstOrderTileKernel_hLoadInput()
  {
    FirstOrderTileKernel_hfor(std::ptrdiff_t i = 0; i < m_Shape.inputVoxels; ++i)
    {
      FirstOrderTileKernel_hm_Intensities[i] = std::numeric_limits<T>::quiet_NaN();
      FirstOrderTileKernel_hm_Memory.levels[i] = 0;
    }
    FirstOrderTileKernel_hCopyInput(m_Task, m_Tile, static_cast<const T *>(m_Task.intensities), m_Shape, m_Intensities);
    FirstOrderTileKernel_hCopyInput(m_Task, m_Tile, m_Task.levels, m_Shape, m_Memory.levels);
  }

  FirstOrderTileKernel_hvoid FirstOrderTileKernel_hComputeRow(int y, int z)
  {
    FirstOrderTileKernel_hif(m_Task.needsLevelCounts)
    {
      FirstOrderTileKernel_hthis->CountLevels(y, z);
    }
    FirstOrderTileKernel_hconst std::uint16_t * const own = m_Memory.levels + this->OwnVoxel(0, y, z);
    FirstOrderTileKernel_hfor(int x = 0; x < m_Tile.size[0]; x += width)
    {
      FirstOrderTileKernel_hbool isComputed[width];
      FirstOrderTileKernel_hbool isAny = false;
      FirstOrderTileKernel_hfor(int i = 0; i < width; ++i)
      {
        FirstOrderTileKernel_hisComputed[i] = FirstOrderTileKernel_hx + i < m_Tile.size[0] && own[x + i] != 0 &&
                                              m_Task.IsSelected(OutputVoxel(m_Task, m_Tile, x + i, y, z));
        FirstOrderTileKernel_hisAny = isAny || isComputed[i];
      }
      FirstOrderTileKernel_hdouble values[FirstOrderTask::maxFeatures][width];
      FirstOrderTileKernel_hif(isAny)
      {
        FirstOrderTileKernel_hthis->ComputeVector(x, y, z, isComputed, values);
      }
      FirstOrderTileKernel_hfor(int i = 0; i < width && x + i < m_Tile.size[0]; ++i)
      {
        FirstOrderTileKernel_hconst std::int64_t out = OutputVoxel(m_Task, m_Tile, x + i, y, z) * m_Task.voxelStride;
        FirstOrderTileKernel_hfor(int f = 0; f < m_Task.numberOfFeatures; ++f)
        {
          FirstOrderTileKernel_hStoreComponentOrNaN(
            m_Task, out, f, isComputed[i] ? values[f][i] : m_Task.backgroundValue);
        }
      }
    }
  }

  /** FirstOrderTileKernel_hFrom the least corner of a window to the voxel that it belongs to. */
  FirstOrderTileKernel_hstd::ptrdiff_t FirstOrderTileKernel_hOwnVoxel(int x, int y, int z) const
  {
    FirstOrderTileKernel_hreturn m_Shape.InputOffset(x + m_Task.anchor[0], y + m_Task.anchor[1], z + m_Task.anchor[2]);
  }

  /** FirstOrderTileKernel_hSums over the levels of all windows of a row: n + 1 voxels of a level after n add t(n + 1) -
   * t(n), (n + 1)^2 - FirstOrderTileKernel_hn^2. */
  FirstOrderTileKernel_hvoid FirstOrderTileKernel_hCountLevels(int y, int z)
  {
    FirstOrderTileKernel_hstd::memset(
      m_Memory.counts, 0, (static_cast<std::size_t>(m_Task.numberOfGrayLevels) + 1) * sizeof(std::uint32_t));
    FirstOrderTileKernel_hstd::int64_t          entropy = 0;
    FirstOrderTileKernel_hstd::uint64_t         squares = 0;
    FirstOrderTileKernel_hstd::uint32_t * const counts = m_Memory.counts;
    FirstOrderTileKernel_hconst auto            forEachInColumn = [&](int x, const auto & visit) {
      FirstOrderTileKernel_hfor(int wz = 0; wz < m_Task.window[2]; ++wz)
      {
        FirstOrderTileKernel_hconst std::uint16_t * level = m_Memory.levels + m_Shape.InputOffset(x, y, z + wz);
        FirstOrderTileKernel_hfor(int wy = 0; wy < m_Task.window[1]; ++wy, level += m_Shape.ex)
        {
          FirstOrderTileKernel_hif(*level != 0)
          {
            FirstOrderTileKernel_hvisit(counts[*level]);
          }
        }
      }
    };
    FirstOrderTileKernel_hconst auto add = [&](std::uint32_t & count) {
      FirstOrderTileKernel_hentropy += m_Task.entropyTable[count + 1] - m_Task.entropyTable[count];
      FirstOrderTileKernel_hsquares += 2 * std::uint64_t{ count } + 1;
      ++FirstOrderTileKernel_hcount;
    };
    FirstOrderTileKernel_hconst auto remove = [&](std::uint32_t & count) {
      --FirstOrderTileKernel_hcount;
      FirstOrderTileKernel_hentropy -= m_Task.entropyTable[count + 1] - m_Task.entropyTable[count];
      FirstOrderTileKernel_hsquares -= 2 * std::uint64_t{ count } + 1;
    };
    FirstOrderTileKernel_hfor(int x = 0; x < m_Task.window[0] - 1; ++x)
    {
      FirstOrderTileKernel_hforEachInColumn(x, add);
    }
    FirstOrderTileKernel_hfor(int x = 0; x < m_Tile.size[0]; ++x)
    {
      FirstOrderTileKernel_hforEachInColumn(x + m_Task.window[0] - 1, add);
      FirstOrderTileKernel_hm_Memory.levelEntropies[x] = entropy;
      FirstOrderTileKernel_hm_Memory.levelSquares[x] = squares;
      FirstOrderTileKernel_hforEachInColumn(x, remove);
    }
  }

  /** FirstOrderTileKernel_hCall f(intensities of the voxel in all windows of a vector), in the order of the sums. */
  FirstOrderTileKernel_htemplate<typename TFunction> FirstOrderTileKernel_hvoid FirstOrderTileKernel_hForEachVoxel(
    int x, int y, int z, const TFunction & f) const
  {
    FirstOrderTileKernel_hfor(int wz = 0; wz < m_Task.window[2]; ++wz)
    {
      FirstOrderTileKernel_hfor(int wy = 0; wy < m_Task.window[1]; ++wy)
      {
        FirstOrderTileKernel_hconst T * const row = m_Intensities + m_Shape.InputOffset(x, y + wy, z + wz);
        FirstOrderTileKernel_hfor(int wx = 0; wx < m_Task.window[0]; ++wx)
        {
          FirstOrderTileKernel_hf(row + wx);
        }
      }
    }
  }

  FirstOrderTileKernel_hstatic Real FirstOrderTileKernel_hLoadHalf(const T * intensities, int half)
  {
    FirstOrderTileKernel_hreturn WidenIntensities(Load<typename Intensities<T>::Half>(intensities + half * simdWidth));
  }

  FirstOrderTileKernel_hvoid FirstOrderTileKernel_hComputeVector(
    int x,
    int y,
    int z,
    const bool(&isComputed)[width],
    FirstOrderTileKernel_hdouble(&values)[FirstOrderTask::maxFeatures][width])
  {
    FirstOrderTileKernel_hFirstOrderSums<Real> sums[halves];
    FirstOrderTileKernel_hfor(int h = 0; h < halves; ++h)
    {
      FirstOrderTileKernel_hStartFirstOrderSums(
        FirstOrderTileKernel_hLoadHalf(m_Intensities + this->OwnVoxel(x, y, z), h),
        std::numeric_limits<double>::infinity(),
        sums[h]);
    }
    FirstOrderTileKernel_hthis->ForEachVoxel(x, y, z, [&](const T * intensities) {
      FirstOrderTileKernel_hfor(int h = 0; h < halves; ++h)
      {
        FirstOrderTileKernel_hAddIntensity(LoadHalf(intensities, h), m_Task.voxelArrayShift, sums[h]);
      }
    });
    FirstOrderTileKernel_hfor(int h = 0; h < halves; ++h)
    {
      FirstOrderTileKernel_hsums[h].shift = sums[h].differences / sums[h].voxels;
    }
    FirstOrderTileKernel_hif(m_Task.needsDeviations)
    {
      FirstOrderTileKernel_hthis->ForEachVoxel(x, y, z, [&](const T * intensities) {
        FirstOrderTileKernel_hfor(int h = 0; h < halves; ++h)
        {
          FirstOrderTileKernel_hAddDeviation(LoadHalf(intensities, h), sums[h]);
        }
      });
    }
    FirstOrderTileKernel_hif(m_Task.needsPercentiles)
    {
      FirstOrderTileKernel_hthis->FindPercentiles(x, y, z, isComputed, sums);
    }
    FirstOrderTileKernel_hif(m_Task.needsRobustDeviations)
    {
      FirstOrderTileKernel_hthis->ForEachVoxel(x, y, z, [&](const T * intensities) {
        FirstOrderTileKernel_hfor(int h = 0; h < halves; ++h)
        {
          FirstOrderTileKernel_hAddRobustIntensity(LoadHalf(intensities, h), sums[h]);
        }
      });
      FirstOrderTileKernel_hfor(int h = 0; h < halves; ++h)
      {
        FirstOrderTileKernel_hsums[h].robustShift = sums[h].robustDifferences / sums[h].robustVoxels;
      }
      FirstOrderTileKernel_hthis->ForEachVoxel(x, y, z, [&](const T * intensities) {
        FirstOrderTileKernel_hfor(int h = 0; h < halves; ++h)
        {
          FirstOrderTileKernel_hAddRobustDeviation(LoadHalf(intensities, h), sums[h]);
        }
      });
    }
    FirstOrderTileKernel_hif(m_Task.needsLevelCounts)
    {
      FirstOrderTileKernel_hthis->FinishLevels(x, isComputed, sums);
    }
    FirstOrderTileKernel_hfor(int f = 0; f < m_Task.numberOfFeatures; ++f)
    {
      FirstOrderTileKernel_hfor(int h = 0; h < halves; ++h)
      {
        FirstOrderTileKernel_hconst Real value = FirstOrderTileKernel_hFirstOrderFeatureValue<Real, RealRoot>(
          m_Task.features[f], sums[h], m_Task.voxelVolume, m_Task.entropyScale);
        FirstOrderTileKernel_hstd::memcpy(values[f] + h * simdWidth, &value, sizeof(value));
      }
    }
  }

  /** FirstOrderTileKernel_hA number of each window of a vector, as an array: vectors are slow to write element by
   * element. */
  FirstOrderTileKernel_husing Elements = double[width];

  FirstOrderTileKernel_hstatic void FirstOrderTileKernel_hGetElements(
    const FirstOrderSums<Real>(&sums)[halves], Real FirstOrderSums<Real>::* member, Elements & elements)
  {
    FirstOrderTileKernel_hfor(int h = 0; h < halves; ++h)
    {
      FirstOrderTileKernel_hstd::memcpy(elements + h * simdWidth, &(sums[h].*member), sizeof(Real));
    }
  }
  FirstOrderTileKernel_hstatic void FirstOrderTileKernel_hSetElements(
    const Elements & elements, Real FirstOrderSums<Real>::* member, FirstOrderSums<Real>(&sums)[halves])
  {
    FirstOrderTileKernel_hfor(int h = 0; h < halves; ++h)
    {
      FirstOrderTileKernel_hstd::memcpy(&(sums[h].*member), elements + h * simdWidth, sizeof(Real));
    }
  }

  FirstOrderTileKernel_hvoid FirstOrderTileKernel_hFinishLevels(
    int x, const bool(&isComputed)[width], FirstOrderSums<Real>(&sums)[halves]) const
  {
    FirstOrderTileKernel_hElements voxels;
    FirstOrderTileKernel_hElements entropy{};
    FirstOrderTileKernel_hElements squares{};
    FirstOrderTileKernel_hGetElements(sums, &FirstOrderSums<Real>::voxels, voxels);
    FirstOrderTileKernel_hfor(int i = 0; i < width; ++i)
    {
      FirstOrderTileKernel_hif(isComputed[i])
      {
        FirstOrderTileKernel_hentropy[i] = FirstOrderTileKernel_hstatic_cast<double>(
          m_Task.entropyTable[static_cast<int>(voxels[i])] - m_Memory.levelEntropies[x + i]);
        FirstOrderTileKernel_hsquares[i] = static_cast<double>(m_Memory.levelSquares[x + i]);
      }
    }
    FirstOrderTileKernel_hSetElements(entropy, &FirstOrderSums<Real>::entropy, sums);
    FirstOrderTileKernel_hSetElements(squares, &FirstOrderSums<Real>::levelSquares, sums);
  }

  /** FirstOrderTileKernel_hSort the intensities of the windows of a vector. */
  FirstOrderTileKernel_hvoid FirstOrderTileKernel_hFindPercentiles(
    int x, int y, int z, const bool(&isComputed)[width], FirstOrderSums<Real>(&sums)[halves])
  {
    FirstOrderTileKernel_hauto * const sorted = static_cast<Vector *>(m_Memory.sorted);
    FirstOrderTileKernel_hVector *     next = sorted;
    FirstOrderTileKernel_hthis->ForEachVoxel(x, y, z, [&](const T * intensities) {
      // FirstOrderTileKernel_hAbsent voxels come last.
      FirstOrderTileKernel_hconst Vector value = Load<Vector>(intensities);
      FirstOrderTileKernel_hconst Vector last = Vector{} + std::numeric_limits<T>::infinity();
      *FirstOrderTileKernel_hnext++ = value == value ? value : last;
    });
    FirstOrderTileKernel_hSortByMergeExchange(m_Task.windowVoxels, [sorted](int i, int j) {
      FirstOrderTileKernel_hconst Vector a = sorted[i];
      FirstOrderTileKernel_hconst Vector b = sorted[j];
      FirstOrderTileKernel_hsorted[i] = a < b ? a : b;
      FirstOrderTileKernel_hsorted[j] = a < b ? b : a;
    });
    FirstOrderTileKernel_hconst T * const numbers = static_cast<const T *>(m_Memory.sorted);
    FirstOrderTileKernel_hElements        voxels;
    FirstOrderTileKernel_hElements        percentiles[5]{};
    FirstOrderTileKernel_hGetElements(sums, &FirstOrderSums<Real>::voxels, voxels);
    FirstOrderTileKernel_hfor(int i = 0; i < width; ++i)
    {
      FirstOrderTileKernel_hif(isComputed[i])
      {
        FirstOrderTileKernel_hconst auto n = static_cast<int>(voxels[i]);
        FirstOrderTileKernel_hconst auto at = [=](int k) {
          return static_cast<double>(numbers[std::ptrdiff_t{ k } * width + i]);
        };
        FirstOrderTileKernel_hpercentiles[0][i] = Percentile(at, n, 0.1);
        FirstOrderTileKernel_hpercentiles[1][i] = Percentile(at, n, 0.25);
        FirstOrderTileKernel_hpercentiles[2][i] = ComputeMedian(at, n);
        FirstOrderTileKernel_hpercentiles[3][i] = Percentile(at, n, 0.75);
        FirstOrderTileKernel_hpercentiles[4][i] = Percentile(at, n, 0.9);
      }
    }
    FirstOrderTileKernel_hSetElements(percentiles[0], &FirstOrderSums<Real>::percentile10, sums);
    FirstOrderTileKernel_hSetElements(percentiles[1], &FirstOrderSums<Real>::percentile25, sums);
    FirstOrderTileKernel_hSetElements(percentiles[2], &FirstOrderSums<Real>::median, sums);
    FirstOrderTileKernel_hSetElements(percentiles[3], &FirstOrderSums<Real>::percentile75, sums);
    FirstOrderTileKernel_hSetElements(percentiles[4], &FirstOrderSums<Real>::percentile90, sums);
  }

  FirstOrderTileKernel_hconst FirstOrderTask &     m_Task;
  FirstOrderTileKernel_hconst KernelTile &         m_Tile;
  FirstOrderTileKernel_hconst TileShape            m_Shape;
  FirstOrderTileKernel_hconst FirstOrderTileMemory m_Memory;
  FirstOrderTileKernel_hT * const                  m_Intensities;
};
} // FirstOrderTileKernel_hnamespace

FirstOrderTileKernel_hvoid
FirstOrderTileKernel_hComputeFirstOrderTile(const FirstOrderTask & task, const KernelTile & tile, void * workspace)
{
  FirstOrderTileKernel_hif(task.intensitiesAreDouble)
  {
    FirstOrderTileKernel_hFirstOrderTileComputer<double>(task, tile, workspace).Compute();
  }
  FirstOrderTileKernel_helse
  {
    FirstOrderTileKernel_hFirstOrderTileComputer<float>(task, tile, workspace).Compute();
  }
}
} // FirstOrderTileKernel_hnamespace VOXELMAPS_INSTRUCTION_SET
} // FirstOrderTileKernel_hnamespace voxelmaps
