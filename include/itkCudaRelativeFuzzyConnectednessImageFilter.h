// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRelativeFuzzyConnectednessImageFilter_h
#define itkCudaRelativeFuzzyConnectednessImageFilter_h

#include "voxelmaps/CudaRelativeFuzzyConnectednessJob.h"
#include "itkCudaVoxelMapImageFilter.h"
#include "itkRelativeFuzzyConnectednessImageFilter.h"

#include <optional>

namespace itk
{
/** \class CudaRelativeFuzzyConnectednessImageFilter
 * \brief RelativeFuzzyConnectednessImageFilter on a CUDA device, with bit-identical results.
 *
 * See CudaVoxelMapImageFilter for the parameters that all Cuda classes share, and
 * RelativeFuzzyConnectednessEnums::CudaMethod for the methods.
 *
 * With KeepHierarchyOn(), the graph and a copy of the image stay in device memory, as GetMemoryOfHierarchy() reports: 9
 * bytes per voxel, and 2 for integers of up to 65535 levels, 4 for float, 8 for others, or for vectors 4 for each pair
 * of opposite neighbors. If the CPU computes, the graph is in host memory.
 *
 * Unlike other Cuda classes, it does not use slabs: the entire image must fit into the device memory, with 20 to 30
 * bytes per voxel, more for vectors and where many tiles of 2048 voxels have seeds. Otherwise, and for images of fewer
 * than 8192 voxels, CudaMethod Automatic computes on the CPU, so that GetUsedDeviceName() returns "CPU". With
 * Hierarchy, the exception states how much memory is needed.
 *
 * \sa RelativeFuzzyConnectednessImageFilter, CudaVoxelMapImageFilter
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TLabelImage = Image<unsigned char, TInputImage::ImageDimension>,
          typename TStrengthImage = Image<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaRelativeFuzzyConnectednessImageFilter
  : public CudaVoxelMapImageFilter<
      RelativeFuzzyConnectednessImageFilter<TInputImage, TLabelImage, TStrengthImage, TMaskImage>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaRelativeFuzzyConnectednessImageFilter);

  using Self = CudaRelativeFuzzyConnectednessImageFilter;
  using Superclass = CudaVoxelMapImageFilter<
    RelativeFuzzyConnectednessImageFilter<TInputImage, TLabelImage, TStrengthImage, TMaskImage>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(CudaRelativeFuzzyConnectednessImageFilter);

protected:
  CudaRelativeFuzzyConnectednessImageFilter() = default;
  ~CudaRelativeFuzzyConnectednessImageFilter() override = default;

  void
  VerifyPreconditions() const override
  {
    // Before the device is looked for.
    VoxelMapsDetail::VerifyEnumerator(
      *this, "CudaMethod", this->GetCudaMethod(), RelativeFuzzyConnectednessEnums::CudaMethod::Hierarchy);
    Superclass::VerifyPreconditions();
  }
  void
  ComputeLabels(const voxelmaps::RelativeFuzzyConnectednessJob & job,
                voxelmaps::RelativeFuzzyConnectednessHierarchy * hierarchy) override
  {
    using Method = RelativeFuzzyConnectednessEnums::CudaMethod;
    using Report = voxelmaps::CudaRelativeFuzzyConnectednessReport;
    voxelmaps::CudaRelativeFuzzyConnectednessOptions options;
    this->FillOptions(options);
    options.method = this->GetCudaMethod();
    const auto report = VoxelMapsDetail::CallDevice(*this, [&]() -> std::optional<Report> {
      if (options.method == Method::Automatic && job.IsSmall())
      {
        return std::nullopt;
      }
      try
      {
        return hierarchy != nullptr ? voxelmaps::ComputeRelativeFuzzyConnectednessCuda(job, options, *hierarchy)
                                    : voxelmaps::ComputeRelativeFuzzyConnectednessCuda(job, options);
      }
      catch (const voxelmaps::DeviceMemoryError &)
      {
        if (options.method != Method::Automatic)
        {
          throw;
        }
        return std::nullopt;
      }
    });
    if (!report)
    {
      Superclass::ComputeLabels(job, hierarchy);
      this->SetCPUReport();
      return;
    }
    this->SetReport(*report, Method::Hierarchy);
  }
};
} // namespace itk

#endif // itkCudaRelativeFuzzyConnectednessImageFilter_h
