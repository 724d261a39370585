// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsCudaFactory_h
#define itkVoxelMapsCudaFactory_h

#include "VoxelMapsExport.h"
#include "itkObjectFactoryBase.h"

#include <set>
#include <string>
#include <typeinfo>

namespace itk
{
/** \class VoxelMapsCudaFactory
 * \brief Makes New() of this module's filters create their Cuda classes where a CUDA device is usable.
 *
 * Programs do not need to call it: every filter type that a program uses registers its override when the program is
 * loaded. The results are bit-identical with and without it. The override is off if the environment variable
 * VOXELMAPS_USE_CUDA is "0", "OFF", "NO" or "FALSE" when it is first needed, or after SetOverrideEnabled(false).
 *
 * \ingroup VoxelMaps
 */
class VoxelMaps_EXPORT VoxelMapsCudaFactory : public ObjectFactoryBase
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(VoxelMapsCudaFactory);

  using Self = VoxelMapsCudaFactory;
  using Superclass = ObjectFactoryBase;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkFactorylessNewMacro(Self);
  itkTypeMacro(VoxelMapsCudaFactory, ObjectFactoryBase);

  const char *
  GetITKSourceVersion() const override;
  const char *
  GetDescription() const override;

  /** Whether New() may create the Cuda classes. Default: true, unless VOXELMAPS_USE_CUDA turns the override off. */
  static void
  SetOverrideEnabled(bool enabled);
  static bool
  GetOverrideEnabled();

  /** Make New() of one class create a class derived from it where a device is usable. */
  template <typename TFilter, typename TCudaFilter>
  static bool
  RegisterFilter()
  {
    return RegisterFilterByName(
      typeid(TFilter).name(), typeid(TCudaFilter).name(), CreateObjectFunction<TCudaFilter>::New().GetPointer());
  }

  /** Register the overrides that DeferRegistration() has kept. Only the Python module defers them: it is loaded with
   * its own copy of ITK, and no ITK object may be created before this copy has joined the ITK of the other modules. */
  static void
  RegisterDeferredFilters();

protected:
  VoxelMapsCudaFactory();
  ~VoxelMapsCudaFactory() override;

  /** Returns null if the override is off or there is no usable device, so that New() creates the CPU class. */
  LightObject::Pointer
  CreateObject(const char * className) override;

private:
  template <typename, typename>
  friend struct VoxelMapsCudaOverride;

  /** Keep a call of RegisterFilter() for RegisterDeferredFilters(). */
  static bool
  DeferRegistration(bool (*registerFilter)());

  static bool
  RegisterFilterByName(const char * filter, const char * cudaFilter, CreateObjectFunctionBase * createFunction);

  std::set<std::string> m_FilterNames;
};
} // namespace itk

#endif // itkVoxelMapsCudaFactory_h
