// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsCudaOverride_h
#define itkVoxelMapsCudaOverride_h

#include "itkVoxelMapsCudaFactory.h"

namespace itk
{
/** \class VoxelMapsCudaOverride
 * \brief Makes New() of a filter type create its Cuda class, for every type that a program uses.
 *
 * The override is registered when the program or library is loaded: the list of factories must not change while threads
 * create objects.
 *
 * \ingroup VoxelMaps
 */
template <typename TFilter, typename TCudaFilter>
struct VoxelMapsCudaOverride
{
  /** Called by the constructors of the filters: using the static member instantiates it, which registers the override
   * at load time. */
  static void
  Instantiate()
  {
    static_cast<void>(isRegistered);
  }

#ifdef VOXELMAPS_DEFER_OVERRIDES
  static inline const bool isRegistered =
    VoxelMapsCudaFactory::DeferRegistration(&VoxelMapsCudaFactory::RegisterFilter<TFilter, TCudaFilter>);
#else
  static inline const bool isRegistered = VoxelMapsCudaFactory::RegisterFilter<TFilter, TCudaFilter>();
#endif
};
} // namespace itk

#endif // itkVoxelMapsCudaOverride_h
