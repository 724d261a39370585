// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CooccurrenceRow_h
#define CooccurrenceRow_h

#include "glcm/Cooccurrence.h"
#include "window/WindowBox.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace voxelmaps
{
/** From sums to output: the voxels of a row that are computed, matrix by matrix. */
class CooccurrenceRow
{
public:
  explicit CooccurrenceRow(const CooccurrenceTask & task);

  /** Begin with these voxels of the output; sums[n] becomes those of voxels[n]. */
  void
  Begin(std::vector<std::int64_t> && voxels);

  std::size_t
  NumberOfVoxels() const
  {
    return m_Voxels.size();
  }
  /** Set all sums of the current matrix to 0. */
  void
  ClearSums();
  CooccurrenceSums *
  Sums()
  {
    return m_Sums.data();
  }

  /** The sums of a matrix are complete. */
  void
  FinishMatrix(int matrix);
  /** All matrices are complete. */
  void
  Finish();

private:
  template <typename TNumber, int... VFeatures>
  void
  Evaluate(std::integer_sequence<int, VFeatures...> all);
  template <typename TNumber, CooccurrenceTask::Feature VFeature>
  void
  EvaluateFeature(double * values) const;

  const CooccurrenceTask &                                 m_Task;
  std::vector<std::int64_t>                                m_Voxels;
  std::vector<CooccurrenceSums>                            m_Sums;
  std::vector<CooccurrenceDivisors<PlainDivision<double>>> m_Divisors;
  std::vector<double>                                      m_Values;   // of one matrix, feature by feature
  std::vector<double>                                      m_Totals;   // the same over all matrices
  std::vector<double>                                      m_Matrices; // matrices with a pair
};
} // namespace voxelmaps

#endif // CooccurrenceRow_h
