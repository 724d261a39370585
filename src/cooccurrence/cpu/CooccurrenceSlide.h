/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
#ifndef CooccurrenceSlide_h
#define CooccurrenceSlide_h

#include "CooccurrenceRow.h"
#include "CooccurrenceWalk.h"
#include "itkVoxelMapsJob.h"

#include <array>
#include <cstdint>
#include <vector>

namespace itk
{
namespace voxelmaps
{
/** What all threads of CooccurrenceSlide share. */
class CooccurrenceSlideTables
{
public:
  explicit CooccurrenceSlideTables(const CooccurrenceTask & task);

  static constexpr std::size_t differenceSize = 8;
  static constexpr std::size_t sumSize = 4;

  /** 1, k, k^2 and the weights w(k) at [k * differenceSize]; v, v^2, v^3 and v^4 at [u * sumSize]. */
  std::vector<std::int64_t> ofDifferences;
  std::vector<std::int64_t> ofSums;

  /** Voxels of a row that are computed together. */
  std::int64_t rowLength;
};

/** The fast engine: windows slide along x; one plane of pairs enters and one leaves their counts, offset by offset. */
class CooccurrenceSlide
{
public:
  CooccurrenceSlide(const CooccurrenceTask & task, const CooccurrenceSlideTables & tables,
                    const JobExecution & execution);

  /** Compute the output voxels of a box, of at most rowLength voxels along x. */
  void
  Compute(const Triple & start, const Triple & size);

private:
  /** Sums of moments and weights: those of CooccurrenceSlideTables, sums of e and v e, then the upper halves. */
  static constexpr std::size_t numberOfMoments = 24;
  using Moments = std::array<std::int64_t, numberOfMoments>;

  /** Planes of pairs with p.x in begin ... end - 1 are counted. */
  struct PlaneRange
  {
    int begin{ 0 };
    int end{ 0 };
  };
  /** A window along x, among the planes of the row. */
  struct Window
  {
    int begin;
    int end;
  };
  /** The pairs of an offset in a plane: (p.y, p.z) of p, and where the level of p + offset is. */
  struct PlaneOfPairs
  {
    int            before; // voxels that p.x must be away from the two ends of the window
    int            after;
    int            yBegin;
    int            yEnd;
    int            zBegin;
    int            zEnd;
    std::ptrdiff_t stride;
  };

  void
  ComputeRow(std::int64_t y, std::int64_t z, std::int64_t xBegin, std::int64_t xEnd);
  void
  CopyLevels(std::int64_t xBegin, std::int64_t xEnd, const WindowBox & window);
  bool
  RankLevels();
  PlaneOfPairs
  GetPlane(const CooccurrenceOffset & offset) const;
  template <typename TAdd, typename TRemove>
  static void
  MoveTo(const Window & window, const PlaneOfPairs & plane, PlaneRange & range, const TAdd & add,
         const TRemove & remove);

  void
  AddMoments(const PlaneOfPairs & plane);
  Moments
  ComputeMoments(const PlaneOfPairs & plane, int x);
  void
  StoreMoments();

  template <typename TCount>
  struct Counts
  {
    std::vector<TCount>        cells;
    std::vector<TCount>        rows;
    std::vector<TCount>        columns;
    std::vector<TCount>        sums;
    std::vector<TCount>        differences;
    std::vector<std::uint32_t> cellsOfCount;
  };
  void
  CountPairs(int firstOffset, int numberOfOffsets);
  template <typename TCount, bool VSymmetric>
  void
  CountPairs(int firstOffset, int numberOfOffsets, Counts<TCount> & counts);
  template <typename TCount, bool VSymmetric, bool VAdd>
  void
  CountPlane(const PlaneOfPairs & plane, int x, Counts<TCount> & counts, CooccurrenceSums & sums);

  void
  CheckAbort(const PlaneOfPairs & plane);

  const CooccurrenceTask &        m_Task;
  const CooccurrenceSlideTables & m_Tables;
  const JobExecution &            m_Execution;
  CooccurrenceRow                 m_Row;
  CooccurrenceWalk                m_Walk;
  std::uint64_t                   m_Pairs{ 0 };

  // The levels that the windows of a row hold, plane by plane: y fastest, x slowest; and their ranks, from 1, in the
  // order in which they are found.
  int                        m_SizeY{ 0 };
  int                        m_SizeZ{ 0 };
  std::vector<std::uint16_t> m_Levels;
  std::vector<std::uint16_t> m_Ranks;
  std::vector<std::uint16_t> m_RankOfLevel;
  std::vector<std::uint16_t> m_LevelOfRank;
  std::vector<Window>        m_Windows;

  std::vector<Moments> m_MomentsOfPlanes;
  std::vector<Moments> m_Moments;

  // Of 16 bits if that is enough.
  bool                      m_HasShortCounts{ true };
  Counts<std::uint16_t>     m_ShortCounts;
  Counts<std::uint32_t>     m_LongCounts;
  std::vector<PlaneOfPairs> m_Planes;
  std::vector<PlaneRange>   m_Ranges;
};
} // namespace voxelmaps
} // namespace itk

#endif // CooccurrenceSlide_h
