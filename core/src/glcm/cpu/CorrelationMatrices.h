// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CorrelationMatrices_h
#define CorrelationMatrices_h

#include "window/cpu/KernelTile.h"

#include <cstdint>

namespace voxelmaps
{
/** Matrices to compute the maximal correlation coefficients of, side by side: number i of each of them, one after the
 * other, then number i + 1. All memory is aligned to 64 bytes. */
struct CorrelationMatrices
{
  int levels;
  /** A single matrix, instead of one per element of a vector. */
  bool isAlone;
  /** Matrices are D D^T, instead of counts. */
  bool isSquared;
  /** Lower triangles, which are lost. */
  double * elements;
  /** Two numbers per level of each matrix. */
  double * workspace;
  double * coefficients;

  /** Called every few milliseconds; throws to end the job. */
  void (*checkAbort)(const void * execution);
  const void * execution;
  /** What was done since the last call, for this and other matrices. */
  std::int64_t * work;
};

/** Matrices side by side. */
VOXELMAPS_DECLARE_KERNEL(int GetCorrelationWidth())
VOXELMAPS_DECLARE_KERNEL(void ComputeMaximalCorrelations(const CorrelationMatrices & matrices))
} // namespace voxelmaps

#endif // CorrelationMatrices_h
