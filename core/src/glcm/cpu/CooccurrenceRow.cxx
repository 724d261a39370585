// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CooccurrenceRow.h"

#include <algorithm>
#include <utility>

namespace voxelmaps
{
CooccurrenceRow::CooccurrenceRow(const CooccurrenceTask & task)
  : m_Task(task)
{}

void
CooccurrenceRow::Begin(std::vector<std::int64_t> && voxels)
{
  m_Voxels = std::move(voxels);
  m_Sums.resize(m_Voxels.size());
  m_Values.resize(m_Voxels.size() * static_cast<std::size_t>(m_Task.numberOfFeatures));
  m_Totals.assign(m_Values.size(), 0.0);
  m_Matrices.assign(m_Voxels.size(), 0.0);
}

void
CooccurrenceRow::ClearSums()
{
  CooccurrenceSums empty{};
  empty.maximalCorrelation = m_Task.hasOneLevel ? 1.0 : 0.0;
  std::fill(m_Sums.begin(), m_Sums.end(), empty);
}

template <typename TNumber, CooccurrenceTask::Feature VFeature>
void
CooccurrenceRow::EvaluateFeature(double * values) const
{
  for (std::size_t n = 0; n < m_Sums.size(); ++n)
  {
    if (m_Sums[n].pairs != 0)
    {
      values[n] =
        CooccurrenceFeatureValue<TNumber, PlainDivision<double>>(VFeature, m_Sums[n], m_Divisors[n], m_Task.scales);
    }
  }
}

template <typename TNumber, int... VFeatures>
void
CooccurrenceRow::Evaluate(std::integer_sequence<int, VFeatures...>)
{
  // The feature is a constant of the loop over voxels, for speed.
  using Evaluator = void (CooccurrenceRow::*)(double *) const;
  constexpr Evaluator evaluators[] = {
    &CooccurrenceRow::EvaluateFeature<TNumber, static_cast<CooccurrenceTask::Feature>(VFeatures)>...
  };
  for (int f = 0; f < m_Task.numberOfFeatures; ++f)
  {
    const Evaluator evaluate = evaluators[static_cast<int>(m_Task.features[f])];
    (this->*evaluate)(m_Values.data() + static_cast<std::size_t>(f) * m_Sums.size());
  }
}

void
CooccurrenceRow::FinishMatrix(int matrix)
{
  m_Divisors.clear();
  for (const CooccurrenceSums & sums : m_Sums)
  {
    m_Divisors.emplace_back(sums.pairs);
  }
  const std::make_integer_sequence<int, CooccurrenceTask::maxFeatures> features;
  switch (m_Task.arithmetic)
  {
    case CooccurrenceArithmetic::Double:
      this->Evaluate<double>(features);
      break;
    case CooccurrenceArithmetic::Bits128:
      this->Evaluate<WideInteger<2>>(features);
      break;
    case CooccurrenceArithmetic::Bits256:
      this->Evaluate<WideInteger<4>>(features);
      break;
  }
  const auto numberOfFeatures = static_cast<std::size_t>(m_Task.numberOfFeatures);
  if (m_Task.aggregation == CooccurrenceTask::Aggregation::PerDirection)
  {
    for (std::size_t n = 0; n < m_Voxels.size(); ++n)
    {
      const std::int64_t out = m_Voxels[n] * m_Task.voxelStride;
      for (std::size_t f = 0; f < numberOfFeatures; ++f)
      {
        StoreComponentOrNaN(m_Task,
                            out,
                            std::int64_t{ matrix } * m_Task.numberOfFeatures + static_cast<std::int64_t>(f),
                            m_Sums[n].pairs != 0 ? m_Values[f * m_Voxels.size() + n] : m_Task.emptyValue);
      }
    }
    return;
  }
  for (std::size_t n = 0; n < m_Voxels.size(); ++n)
  {
    if (m_Sums[n].pairs != 0)
    {
      m_Matrices[n] += 1.0;
      for (std::size_t f = 0; f < numberOfFeatures; ++f)
      {
        m_Totals[f * m_Voxels.size() + n] += m_Values[f * m_Voxels.size() + n];
      }
    }
  }
}

void
CooccurrenceRow::Finish()
{
  if (m_Task.aggregation == CooccurrenceTask::Aggregation::PerDirection)
  {
    return;
  }
  const auto features = static_cast<std::size_t>(m_Task.numberOfFeatures);
  for (std::size_t n = 0; n < m_Voxels.size(); ++n)
  {
    const std::int64_t out = m_Voxels[n] * m_Task.voxelStride;
    for (std::size_t f = 0; f < features; ++f)
    {
      StoreComponentOrNaN(m_Task,
                          out,
                          static_cast<std::int64_t>(f),
                          m_Matrices[n] > 0.0 ? m_Totals[f * m_Voxels.size() + n] / m_Matrices[n] : m_Task.emptyValue);
    }
  }
}
} // namespace voxelmaps
