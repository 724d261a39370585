// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_CudaArrays_h
#define voxelmaps_CudaArrays_h

#include "voxelmaps/CoreExport.h"
#include "voxelmaps/GrayLevelDiscretization.h"
#include "voxelmaps/Job.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

// What becomes the arrays of a job without leaving the device. All throw EngineError if the device cannot be used. Work
// is ordered by options.stream.
namespace voxelmaps
{
/** Number of the device whose memory an address is in; -1 for other addresses. */
VoxelMapsCore_EXPORT int
GetDeviceOf(const void * address);

/** Uninitialized memory of the device. Its deleter frees it, after the work so far in the stream. */
VoxelMapsCore_EXPORT std::shared_ptr<void>
                     AllocateCuda(std::uint64_t bytes, const CudaOptions & options);

/** \class ArrayBox
 * \brief A box of voxels, one or more, in an array.
 *
 * \ingroup VoxelMaps
 */
struct ArrayBox
{
  /** Size of the array. */
  Triple arraySize;
  /** Index and size of the box in it. */
  Triple index;
  Triple size;
};

/** Copy a box of the array from, which is where options.inputLocation says, to a box of the same size in the array to,
 * which is where options.outputLocation says. Copies from or to host memory are complete on return. */
VoxelMapsCore_EXPORT void
CopyBoxCuda(const void * from, const ArrayBox & fromBox, void * to, const ArrayBox & toBox, std::uint64_t bytesPerVoxel,
            const JobExecution & execution, const CudaOptions & options);

/** Set bytes of the device to 0. */
VoxelMapsCore_EXPORT void
ClearCuda(void * memory, std::uint64_t bytes, const CudaOptions & options);

/** \class MaskValues
 * \brief What the pixels of a mask are.
 *
 * \ingroup VoxelMaps
 */
struct MaskValues
{
  bool hasInside{ false };
  /** Whether pixels that are neither 0 nor NaN have several values. */
  bool hasSeveralValues{ false };
};

/** One byte per pixel of a mask: 1 where it has the value, which is in host memory, or, if that is null, where it is
 * neither 0 nor NaN; 0 elsewhere. Pixels and bytes are in device memory. Waits for the values. */
VoxelMapsCore_EXPORT MaskValues
MakeMaskBytesCuda(PixelType pixelType, const void * pixels, std::int64_t count, const void * insideValue,
                  std::uint8_t * bytes, const CudaOptions & options);

/** \class NonzeroPixel
 * \brief The number of a pixel in its array, and its value, rounded towards zero.
 *
 * \ingroup VoxelMaps
 */
struct NonzeroPixel
{
  std::int64_t number;
  std::int64_t value;
};

/** The pixels of an array in device memory that are not 0, in ascending order of their numbers. */
VoxelMapsCore_EXPORT std::vector<NonzeroPixel>
FindNonzeroPixelsCuda(PixelType pixelType, const void * pixels, std::int64_t count, const CudaOptions & options);
} // namespace voxelmaps

#endif // voxelmaps_CudaArrays_h
