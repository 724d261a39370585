// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/TextureFeatureMapJob.h"

namespace voxelmaps
{
InstructionSet
GetWidestInstructionSet()
{
#if defined(VOXELMAPS_X86_KERNELS)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
  {
    return InstructionSet::AVX512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
  {
    return InstructionSet::AVX2;
  }
#endif
  return InstructionSet::Baseline;
}
} // namespace voxelmaps
