// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "CorrelationBatch.h"

#include "glcm/MaximalCorrelation.h"
#include "window/cpu/TileKernel.h"

#include <algorithm>

namespace voxelmaps
{
namespace
{
// The elements of matrices side by side take 8.4 MB with 512 levels; larger ones are computed one after the other.
constexpr int maxLevelsSideBySide = 512;
// Larger matrices wait together, filled up with zeros, since those of each number of levels need memory.
constexpr int maxLevelsApart = 48;

/** The lane that multiplies a matrix by its transposed. */
struct ProductLane : SerialLane
{
  const JobExecution & execution;

  bool
  FinishColumn(int row) const
  {
    constexpr int rowsBetweenAbortChecks = 16;
    if (row % rowsBetweenAbortChecks == rowsBetweenAbortChecks - 1)
    {
      execution.CheckAbort();
    }
    return false;
  }
};
} // namespace

CorrelationBatch::CorrelationBatch(const CooccurrenceTask & task, const JobExecution & execution, InstructionSet widest)
  : m_MaxLevels(std::min(task.maxCorrelationLevels, maxLevelsSideBySide))
  , m_IsSquared(!task.scales.symmetric)
  , m_Execution(execution)
  , m_Width(static_cast<std::size_t>(ChooseKernel(widest, VOXELMAPS_KERNELS(GetCorrelationWidth))()))
  , m_Compute(ChooseKernel(widest, VOXELMAPS_KERNELS(ComputeMaximalCorrelations)))
  , m_Waiting(static_cast<std::size_t>(std::min(m_MaxLevels, maxLevelsApart)) + 2)
{}

double *
CorrelationBatch::Memory::Reserve(std::size_t number)
{
  if (size < number)
  {
    numbers.reset();
    numbers = MakeWorkspace(number * sizeof(double));
    size = number;
  }
  return this->Get();
}

double *
CorrelationBatch::BeginSymmetric(int levels, double * coefficient)
{
  this->ComputeAlone();
  if (levels > maxLevelsSideBySide)
  {
    m_LevelsAlone = levels;
    m_CoefficientAlone = coefficient;
    m_Stride = 1;
    return m_ElementsAlone.Reserve(static_cast<std::size_t>(TriangleRow(levels)));
  }
  const bool isApart = levels <= maxLevelsApart;
  Waiting &  waiting = isApart ? m_Waiting[static_cast<std::size_t>(levels)] : m_Waiting.back();
  if (waiting.levels.size() == m_Width)
  {
    this->ComputeSideBySide(waiting);
  }
  const auto     elements = static_cast<std::size_t>(TriangleRow(isApart ? levels : m_MaxLevels));
  double * const matrix = waiting.elements.Reserve(elements * m_Width) + waiting.levels.size();
  waiting.levels.push_back(levels);
  waiting.coefficients.push_back(coefficient);
  m_Stride = static_cast<std::ptrdiff_t>(m_Width);
  return matrix;
}

double *
CorrelationBatch::BeginAsymmetric(int rows, int columns, double * coefficient)
{
  m_To = this->BeginSymmetric(rows, coefficient);
  m_Rows = rows;
  m_Columns = columns;
  m_Counts.assign(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0.0);
  return m_Counts.data();
}

void
CorrelationBatch::FinishAsymmetric()
{
  const auto rows = static_cast<std::size_t>(m_Rows);
  m_Sums.resize(2 * (rows + static_cast<std::size_t>(m_Columns)));
  MaximalCorrelation<double, ProductLane>::MultiplyByTransposed(ProductLane{ {}, m_Execution },
                                                                m_Rows,
                                                                m_Columns,
                                                                m_Counts.data(),
                                                                m_Sums.data(),
                                                                m_Sums.data() + 2 * rows,
                                                                m_To,
                                                                m_Stride);
}

void
CorrelationBatch::Flush()
{
  this->ComputeAlone();
  for (Waiting & waiting : m_Waiting)
  {
    if (!waiting.levels.empty())
    {
      this->ComputeSideBySide(waiting);
    }
  }
}

void
CorrelationBatch::ComputeSideBySide(Waiting & waiting)
{
  double * const elements = waiting.elements.Get();
  const int      levels = *std::max_element(waiting.levels.begin(), waiting.levels.end());
  waiting.levels.resize(m_Width, 0);
  for (std::size_t matrix = 0; matrix < m_Width; ++matrix)
  {
    const auto end = static_cast<std::size_t>(TriangleRow(levels));
    for (auto i = static_cast<std::size_t>(TriangleRow(waiting.levels[matrix])); i < end; ++i)
    {
      elements[i * m_Width + matrix] = 0.0;
    }
  }
  constexpr std::size_t maxWidth = 8;
  alignas(64) double    coefficients[maxWidth];
  this->Compute(false, levels, elements, coefficients);
  for (std::size_t matrix = 0; matrix < waiting.coefficients.size(); ++matrix)
  {
    *waiting.coefficients[matrix] = coefficients[matrix];
  }
  waiting.levels.clear();
  waiting.coefficients.clear();
}

void
CorrelationBatch::ComputeAlone()
{
  if (m_LevelsAlone > 0)
  {
    this->Compute(true, m_LevelsAlone, m_ElementsAlone.Get(), m_CoefficientAlone);
    m_LevelsAlone = 0;
  }
}

void
CorrelationBatch::Compute(bool isAlone, int levels, double * elements, double * coefficients)
{
  const auto          numbers = 2 * static_cast<std::size_t>(levels) * (isAlone ? 1 : m_Width);
  CorrelationMatrices matrices{};
  matrices.levels = levels;
  matrices.isAlone = isAlone;
  matrices.isSquared = m_IsSquared;
  matrices.elements = elements;
  matrices.workspace = m_Workspace.Reserve(numbers);
  matrices.coefficients = coefficients;
  matrices.execution = &m_Execution;
  matrices.work = &m_Work;
  matrices.checkAbort = [](const void * execution) { static_cast<const JobExecution *>(execution)->CheckAbort(); };
  m_Compute(matrices);
}
} // namespace voxelmaps
