// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CorrelationBatch_h
#define CorrelationBatch_h

#include "CorrelationMatrices.h"
#include "glcm/Cooccurrence.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace voxelmaps
{
/** Maximal correlation coefficients of a thread: collects matrices, and computes those of several windows with the same
 * number of levels at once. */
class CorrelationBatch
{
public:
  CorrelationBatch(const CooccurrenceTask & task, const JobExecution & execution, InstructionSet widest);

  /** Begin a symmetric matrix of so many levels, whose coefficient a later call stores there. Its counts go to the
   * elements TriangleRow(i) + j, which are GetStride() apart: to all with j <= i. */
  double *
  BeginSymmetric(int levels, double * coefficient);
  std::ptrdiff_t
  GetStride() const
  {
    return m_Stride;
  }

  /** Begin a matrix in which pairs count in one order: rows x columns counts, row by row, to be added to. */
  double *
  BeginAsymmetric(int rows, int columns, double * coefficient);
  /** All its counts are there. */
  void
  FinishAsymmetric();

  /** Compute what is left. */
  void
  Flush();

private:
  struct Memory
  {
    std::shared_ptr<void> numbers;
    std::size_t           size{ 0 };

    double *
    Get() const
    {
      return static_cast<double *>(numbers.get());
    }
    /** Make room for so many numbers; the content may be lost. */
    double *
    Reserve(std::size_t number);
  };

  /** Matrices that wait, side by side. */
  struct Waiting
  {
    std::vector<int>      levels;
    std::vector<double *> coefficients;
    Memory                elements;
  };

  void
  ComputeSideBySide(Waiting & waiting);
  void
  ComputeAlone();
  void
  Compute(bool isAlone, int levels, double * elements, double * coefficients);

  const int            m_MaxLevels;
  const bool           m_IsSquared;
  const JobExecution & m_Execution;
  std::size_t          m_Width;
  void (*m_Compute)(const CorrelationMatrices &);
  Memory       m_Workspace;
  std::int64_t m_Work{ 0 };

  std::vector<Waiting> m_Waiting; // by number of levels; many levels share the last one
  // A large one that waits, or 0.
  int      m_LevelsAlone{ 0 };
  double * m_CoefficientAlone{ nullptr };
  Memory   m_ElementsAlone;

  // The last matrix.
  std::ptrdiff_t      m_Stride{ 1 };
  double *            m_To{ nullptr };
  int                 m_Rows{ 0 };
  int                 m_Columns{ 0 };
  std::vector<double> m_Counts;
  std::vector<double> m_Sums;
};
} // namespace voxelmaps

#endif // CorrelationBatch_h
