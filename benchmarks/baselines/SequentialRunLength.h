// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SequentialRunLength_h
#define SequentialRunLength_h

#include "voxelmaps/RunLengthJob.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

// The sequential program of Zhang et al., Sci Rep 9:10883 (2019), section "Sequential counterpart", in one thread and
// in single or double precision: Algorithm 1 computes the length of the run from every voxel on; then the lines of each
// window are walked from run to run, a dense matrix is filled, and the features are computed by equations (2) to (12).
// Where the paper leaves the choice open, the faster way is used: only rows of levels that occur are read and cleared,
// all features come from a single pass with tables of squares and their inverses, and the starts of the lines of a
// window are listed once per direction. Windows are clipped at the border of the image, and directions may be those of
// volumes.
namespace VoxelMapsBenchmarks
{
namespace SequentialRunLength
{
using voxelmaps::Triple;
using RunLength = std::uint16_t;
using Count = std::uint32_t;

constexpr unsigned int numberOfFeatures = 11;

inline std::ptrdiff_t
GetStride(const Triple & size, const Triple & offset)
{
  return static_cast<std::ptrdiff_t>(offset[0] + size[0] * (offset[1] + size[1] * offset[2]));
}

/** Algorithm 1: the length of the run that begins at each voxel and goes along the offset. */
inline void
CountRunLengths(const std::uint16_t * levels, const Triple & size, const Triple & offset,
                std::vector<RunLength> & runLengths)
{
  const std::ptrdiff_t stride = GetStride(size, offset);
  // The next voxel of a run has to come first.
  const bool descending = stride > 0;
  const auto rows = size[1] * size[2];
  const auto firstX = std::max<std::int64_t>(0, -offset[0]);
  const auto endX = size[0] - std::max<std::int64_t>(0, offset[0]);

  for (std::int64_t k = 0; k < rows; ++k)
  {
    const auto row = descending ? rows - 1 - k : k;
    const auto nextY = row % size[1] + offset[1];
    const auto nextZ = row / size[1] + offset[2];
    const auto start = static_cast<std::size_t>(row * size[0]);
    std::fill_n(&runLengths[start], size[0], RunLength{ 1 });
    if (nextY < 0 || nextY >= size[1] || nextZ < 0 || nextZ >= size[2])
    {
      continue;
    }
    const std::uint16_t * const level = levels + start;
    RunLength * const           runLength = &runLengths[start];
    const auto                  count = [=](std::int64_t x) {
      if (level[x] == level[x + stride])
      {
        runLength[x] = static_cast<RunLength>(runLength[x + stride] + 1);
      }
    };
    if (descending)
    {
      for (auto x = endX - 1; x >= firstX; --x)
      {
        count(x);
      }
    }
    else
    {
      for (auto x = firstX; x < endX; ++x)
      {
        count(x);
      }
    }
  }
}

/** A line of a window: its first voxel, relative to the first voxel of the window, and its length. */
struct Line
{
  std::ptrdiff_t start;
  unsigned int   length;
};

inline std::vector<Line>
ListLines(const Triple & imageSize, const Triple & windowSize, const Triple & offset)
{
  std::vector<Line> lines;
  Triple            p;
  for (p[2] = 0; p[2] < windowSize[2]; ++p[2])
  {
    for (p[1] = 0; p[1] < windowSize[1]; ++p[1])
    {
      for (p[0] = 0; p[0] < windowSize[0]; ++p[0])
      {
        bool         isStart = false;
        std::int64_t length = std::max({ windowSize[0], windowSize[1], windowSize[2] });
        for (unsigned int axis = 0; axis < 3; ++axis)
        {
          if (offset[axis] != 0)
          {
            const auto before = offset[axis] > 0 ? p[axis] : windowSize[axis] - 1 - p[axis];
            isStart = isStart || before == 0;
            length = std::min(length, windowSize[axis] - before);
          }
        }
        if (isStart)
        {
          lines.push_back({ GetStride(imageSize, p), static_cast<unsigned int>(length) });
        }
      }
    }
  }
  return lines;
}

/** The run length matrix of one window and direction, and its features in float or double. */
template <typename TReal>
class Matrix
{
public:
  Matrix(unsigned int numberOfGrayLevels, unsigned int maximumLength)
    : m_MaximumLength(maximumLength)
    , m_Counts(static_cast<std::size_t>(numberOfGrayLevels) * maximumLength)
    , m_RowCounts(numberOfGrayLevels)
    , m_Rows(numberOfGrayLevels)
    , m_ColumnCounts(maximumLength)
    , m_LevelWeights(MakeWeights(numberOfGrayLevels))
    , m_LengthWeights(MakeWeights(maximumLength))
  {}

  /** Count the runs of one line. */
  void
  AddLine(const std::uint16_t * level, const RunLength * runLength, std::ptrdiff_t stride, unsigned int remaining)
  {
    while (true)
    {
      const unsigned int row = *level - 1U;
      const unsigned int run = std::min<unsigned int>(*runLength, remaining);
      ++m_Counts[static_cast<std::size_t>(row) * m_MaximumLength + run - 1];
      if (m_RowCounts[row]++ == 0)
      {
        m_Rows[m_NumberOfRows++] = row;
      }
      remaining -= run;
      if (remaining == 0)
      {
        return;
      }
      level += run * stride;
      runLength += run * stride;
    }
  }

  void
  Clear()
  {
    for (unsigned int r = 0; r < m_NumberOfRows; ++r)
    {
      std::fill_n(&m_Counts[static_cast<std::size_t>(m_Rows[r]) * m_MaximumLength], m_MaximumLength, 0U);
      m_RowCounts[m_Rows[r]] = 0;
    }
    m_NumberOfRows = 0;
  }

  /** Write the eleven features to the output. */
  void
  ComputeFeatures(std::int64_t numberOfVoxels, TReal * output)
  {
    std::fill(m_ColumnCounts.begin(), m_ColumnCounts.end(), 0U);
    Count numberOfRuns = 0;
    TReal shortRuns{ 0 };
    TReal longRuns{ 0 };
    TReal lowLevels{ 0 };
    TReal highLevels{ 0 };
    TReal shortLow{ 0 };
    TReal shortHigh{ 0 };
    TReal longLow{ 0 };
    TReal longHigh{ 0 };
    TReal rowSquares{ 0 };
    TReal columnSquares{ 0 };
    for (unsigned int r = 0; r < m_NumberOfRows; ++r)
    {
      const unsigned int  row = m_Rows[r];
      const Count * const counts = &m_Counts[static_cast<std::size_t>(row) * m_MaximumLength];
      TReal               rowShortRuns{ 0 };
      TReal               rowLongRuns{ 0 };
      for (unsigned int j = 0; j < m_MaximumLength; ++j)
      {
        const auto count = static_cast<TReal>(counts[j]);
        m_ColumnCounts[j] += counts[j];
        rowShortRuns += count * m_LengthWeights[j].inverseSquare;
        rowLongRuns += count * m_LengthWeights[j].square;
      }
      const auto     rowCount = static_cast<TReal>(m_RowCounts[row]);
      const Weight & weight = m_LevelWeights[row];
      numberOfRuns += m_RowCounts[row];
      rowSquares += rowCount * rowCount;
      lowLevels += rowCount * weight.inverseSquare;
      highLevels += rowCount * weight.square;
      shortRuns += rowShortRuns;
      longRuns += rowLongRuns;
      shortLow += rowShortRuns * weight.inverseSquare;
      shortHigh += rowShortRuns * weight.square;
      longLow += rowLongRuns * weight.inverseSquare;
      longHigh += rowLongRuns * weight.square;
    }
    for (const Count count : m_ColumnCounts)
    {
      columnSquares += static_cast<TReal>(count) * static_cast<TReal>(count);
    }

    const auto  runs = static_cast<TReal>(numberOfRuns);
    const TReal features[numberOfFeatures] = { shortRuns / runs,
                                               longRuns / runs,
                                               rowSquares / runs,
                                               columnSquares / runs,
                                               runs / static_cast<TReal>(numberOfVoxels),
                                               lowLevels / runs,
                                               highLevels / runs,
                                               shortLow / runs,
                                               shortHigh / runs,
                                               longLow / runs,
                                               longHigh / runs };
    std::copy_n(features, numberOfFeatures, output);
  }

private:
  struct Weight
  {
    TReal square;
    TReal inverseSquare;
  };

  static std::vector<Weight>
  MakeWeights(unsigned int number)
  {
    std::vector<Weight> weights(number);
    for (unsigned int i = 0; i < number; ++i)
    {
      const double square = (i + 1.0) * (i + 1.0);
      weights[i] = { static_cast<TReal>(square), static_cast<TReal>(1.0 / square) };
    }
    return weights;
  }

  unsigned int              m_MaximumLength;
  std::vector<Count>        m_Counts;
  std::vector<Count>        m_RowCounts;
  std::vector<unsigned int> m_Rows;
  unsigned int              m_NumberOfRows{ 0 };
  std::vector<Count>        m_ColumnCounts;
  std::vector<Weight>       m_LevelWeights;
  std::vector<Weight>       m_LengthWeights;
};
} // namespace SequentialRunLength

/** Every voxel gets the features of each direction, in the order of RunLengthFeatureMapEnums::GetElevenFeatures(). With
 * matricesOnly, the matrices are filled and cleared, and the output is left as it is. */
template <typename TReal>
void
ComputeSequentialRunLengthFeatures(const voxelmaps::RunLengthJob & job, TReal * output, bool matricesOnly = false)
{
  using namespace SequentialRunLength;
  const Triple &    imageSize = job.levelsSize;
  const Triple &    windowSize = job.windowSize;
  const std::size_t numberOfComponents = numberOfFeatures * job.offsets.size();

  std::vector<RunLength> runLengths(static_cast<std::size_t>(imageSize[0] * imageSize[1] * imageSize[2]));
  TReal *                directionOutput = output;
  for (const Triple & offset : job.offsets)
  {
    CountRunLengths(job.levels, imageSize, offset, runLengths);

    const std::ptrdiff_t stride = GetStride(imageSize, offset);
    std::int64_t         maximumLength = std::max({ windowSize[0], windowSize[1], windowSize[2] });
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      maximumLength = offset[axis] != 0 ? std::min(maximumLength, windowSize[axis]) : maximumLength;
    }
    Matrix<TReal> matrix(job.numberOfGrayLevels, static_cast<unsigned int>(maximumLength));

    // The lines of windows of every clipped size, listed when first met.
    std::vector<std::vector<Line>> sizeLines(static_cast<std::size_t>(windowSize[0] * windowSize[1] * windowSize[2]));

    TReal * voxelOutput = directionOutput;
    Triple  p;
    for (p[2] = job.outputIndex[2]; p[2] < job.outputIndex[2] + job.outputSize[2]; ++p[2])
    {
      for (p[1] = job.outputIndex[1]; p[1] < job.outputIndex[1] + job.outputSize[1]; ++p[1])
      {
        for (p[0] = job.outputIndex[0]; p[0] < job.outputIndex[0] + job.outputSize[0]; ++p[0])
        {
          Triple first;
          Triple size;
          for (unsigned int axis = 0; axis < 3; ++axis)
          {
            const auto begin = p[axis] - job.windowAnchor[axis];
            first[axis] = std::max<std::int64_t>(0, begin);
            size[axis] = std::min(imageSize[axis], begin + windowSize[axis]) - first[axis];
          }
          std::vector<Line> & lines = sizeLines[static_cast<std::size_t>(
            size[0] - 1 + windowSize[0] * (size[1] - 1 + windowSize[1] * (size[2] - 1)))];
          if (lines.empty())
          {
            lines = ListLines(imageSize, size, offset);
          }
          const std::ptrdiff_t corner = GetStride(imageSize, first);
          for (const Line & line : lines)
          {
            const std::ptrdiff_t start = corner + line.start;
            matrix.AddLine(job.levels + start, runLengths.data() + start, stride, line.length);
          }
          if (!matricesOnly)
          {
            matrix.ComputeFeatures(size[0] * size[1] * size[2], voxelOutput);
          }
          matrix.Clear();
          voxelOutput += numberOfComponents;
        }
      }
    }
    directionOutput += numberOfFeatures;
  }
}

} // namespace VoxelMapsBenchmarks

#endif // SequentialRunLength_h
