// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef HostDevice_h
#define HostDevice_h

#if defined(__FAST_MATH__)
#  error "VoxelMaps needs the arithmetic of IEEE 754: NaN, and operations in their order. Compile without -ffast-math."
#endif

// For functions that nvcc compiles for host and device, and other compilers for the host.
#if defined(__CUDACC__)
#  define VOXELMAPS_HOST_DEVICE __host__ __device__
#else
#  define VOXELMAPS_HOST_DEVICE
#endif

// For functions that nvcc compiles for the device alone, since they use what it has there only, and other compilers for
// the host.
#if defined(__CUDACC__)
#  define VOXELMAPS_DEVICE __device__
#else
#  define VOXELMAPS_DEVICE
#endif

#endif // HostDevice_h
