// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaImageFilter_h
#define itkCudaImageFilter_h

#include "itkVoxelMapsImageFilter.h"

#include <string>

namespace itk
{
/** \class CudaImageFilter
 * \brief A filter of this module that computes on a CUDA device, or throws where there is none.
 *
 * It is a TFilter whose Device is CUDA; CudaRunLengthFeatureMapImageFilter and the other names with Cuda are aliases of
 * it. Results are bit-identical to those of the CPU. It exists in builds without CUDA, too, where Update() throws.
 *
 * \sa VoxelMapsImageFilter
 * \ingroup VoxelMaps
 */
template <typename TFilter>
class ITK_TEMPLATE_EXPORT CudaImageFilter : public TFilter
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaImageFilter);

  using Self = CudaImageFilter;
  using Superclass = TFilter;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);

  const char *
  GetNameOfClass() const override
  {
    static const std::string name = std::string("Cuda") + Superclass::GetNameOfClass();
    return name.c_str();
  }

protected:
  CudaImageFilter() { this->SetDevice(DeviceEnums::Device::CUDA); }
  ~CudaImageFilter() override = default;
};
} // namespace itk

#endif // itkCudaImageFilter_h
