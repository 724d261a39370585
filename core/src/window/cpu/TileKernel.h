// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TileKernel_h
#define TileKernel_h

#include "window/cpu/KernelTile.h"
#include "window/Tiling.h"
#include "voxelmaps/TextureFeatureMapJob.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

// What CPU engines have in common that compile their kernel for several instruction sets.
namespace voxelmaps
{
/** The variant of a kernel for the widest instruction set that the processor has and the job allows. VOXELMAPS_KERNELS(
 * name) lists the variants. */
template <typename TKernel>
TKernel
ChooseKernel(InstructionSet widest, TKernel baseline, TKernel avx2, TKernel avx512)
{
  const InstructionSet use = std::min(widest, GetWidestInstructionSet());
  return use == InstructionSet::AVX512 ? avx512 : use == InstructionSet::AVX2 ? avx2 : baseline;
}

#if defined(VOXELMAPS_X86_KERNELS)
#  define VOXELMAPS_KERNELS(name) baseline::name, avx2::name, avx512::name
#else
#  define VOXELMAPS_KERNELS(name) baseline::name, baseline::name, baseline::name
#endif

/** Memory of one worker, aligned for all vectors. */
inline std::shared_ptr<void>
MakeWorkspace(std::size_t bytes)
{
  constexpr std::align_val_t alignment{ 64 };
  return std::shared_ptr<void>(::operator new(bytes, alignment),
                               [](void * memory) { ::operator delete(memory, alignment); });
}

/** Call compute(tile, workspace, context) for the tiles of a tiling, by all workers. Each worker has a workspace of so
 * many bytes, and a context from makeContext(). */
template <typename TMakeContext, typename TCompute>
void
ForEachKernelTile(const Tiling & tiling, const JobExecution & execution, std::size_t workspaceBytes,
                  const TMakeContext & makeContext, const TCompute & compute)
{
  ForEachTile(tiling, execution, [&]() {
    return [&compute, &execution, memory = MakeWorkspace(workspaceBytes), context = makeContext()](
             const Triple & start, const Triple & size) {
      KernelTile tile;
      for (int d = 0; d < 3; ++d)
      {
        tile.start[d] = start[d];
        tile.size[d] = static_cast<int>(size[d]);
      }
      tile.execution = &execution;
      tile.checkAbort = [](const void * jobExecution) {
        static_cast<const JobExecution *>(jobExecution)->CheckAbort();
      };
      compute(tile, memory.get(), context);
    };
  });
}
template <typename TCompute>
void
ForEachKernelTile(const Tiling & tiling, const JobExecution & execution, std::size_t workspaceBytes,
                  const TCompute & compute)
{
  ForEachKernelTile(
    tiling,
    execution,
    workspaceBytes,
    []() { return nullptr; },
    [&compute](const KernelTile & tile, void * workspace, std::nullptr_t) { compute(tile, workspace); });
}
} // namespace voxelmaps

#endif // TileKernel_h
