/*=========================================================================
 *
 *  Copyright NumFOCUS
 *
 *  Licensed under the Apache License, Version 2.0 (the "License");
 *  you may not use this file except in compliance with the License.
 *  You may obtain a copy of the License at
 *
 *         https://www.apache.org/licenses/LICENSE-2.0.txt
 *
 *  Unless required by applicable law or agreed to in writing, software
 *  distributed under the License is distributed on an "AS IS" BASIS,
 *  WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 *  See the License for the specific language governing permissions and
 *  limitations under the License.
 *
 *=========================================================================*/
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

#endif // HostDevice_h
