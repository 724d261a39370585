// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkFirstOrderFeatureMapImageFilter_hxx
#define itkFirstOrderFeatureMapImageFilter_hxx

#include "itkCudaFirstOrderFeatureMapImageFilter.h"
#include "itkFirstOrderFeatureMapImageFilter.h"
#include "itkVoxelMapsCudaOverride.h"
#include "voxelmaps/HostMemory.h"

#include <cmath>
#include <limits>

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
FirstOrderFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::FirstOrderFeatureMapImageFilter()
{
  Self::SetFeatures(FirstOrderFeatureMapEnums::GetAllFeatures());
  VoxelMapsCudaOverride<Self,
                        CudaFirstOrderFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>>::Instantiate();
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FirstOrderFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::PrintSelf(std::ostream & os,
                                                                                  Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "VoxelArrayShift: " << m_VoxelArrayShift << std::endl;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FirstOrderFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::VerifyPreconditions() const
{
  Superclass::VerifyPreconditions();
  if (!std::isfinite(m_VoxelArrayShift))
  {
    itkExceptionMacro("VoxelArrayShift is " << m_VoxelArrayShift << ", but must be finite.");
  }
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
auto
FirstOrderFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::MakeIntensities(
  const voxelmaps::TextureFeatureMapJob & job) const -> std::unique_ptr<IntensityType[]>
{
  InputRegionType region;
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    region.SetIndex(d, job.levelsIndex[d]);
    region.SetSize(d, static_cast<SizeValueType>(job.levelsSize[d]));
  }
  const auto size = static_cast<std::int64_t>(region.GetNumberOfPixels());
  // Not a vector: one thread would clear it.
  std::unique_ptr<IntensityType[]> intensities(new IntensityType[static_cast<std::size_t>(size)]);
  voxelmaps::UseHugePages(intensities.get(), static_cast<std::size_t>(size) * sizeof(IntensityType));
  voxelmaps::ForEachRangeOfVoxels(size, job.execution, [&](std::int64_t begin, std::int64_t end) {
    VoxelMapsDetail::RowReader<InputImageType> reader(this->GetInput());
    VoxelMapsDetail::ForEachRow(region, begin, end, [&](const auto & index, std::int64_t voxel, std::int64_t count) {
      const auto * const          row = reader.Read(index, count);
      const std::uint16_t * const levels = job.levels + voxel;
      IntensityType * const       to = intensities.get() + voxel;
      for (std::int64_t i = 0; i < count; ++i)
      {
        // Adding 0 makes negative zero positive.
        to[i] = levels[i] != 0 ? static_cast<IntensityType>(row[i]) + IntensityType{ 0 }
                               : std::numeric_limits<IntensityType>::quiet_NaN();
      }
    });
  });
  return intensities;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FirstOrderFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>::CompleteJob(
  const voxelmaps::TextureFeatureMapJob & textureJob)
{
  if constexpr (std::is_arithmetic<InputPixelType>::value)
  {
    auto       job = this->template MakeJob<voxelmaps::FirstOrderJob>(textureJob);
    const auto intensities = this->MakeIntensities(textureJob);
    job.intensities = intensities.get();
    job.intensitiesAreDouble = !hasFloatIntensities;
    job.voxelArrayShift = m_VoxelArrayShift;
    job.voxelVolume = 1.0;
    for (unsigned int d = 0; d < ImageDimension; ++d)
    {
      job.voxelVolume *= this->GetInput()->GetSpacing()[d];
    }
    this->ComputeFeatureMaps(job);
  }
}
} // namespace itk

#endif // itkFirstOrderFeatureMapImageFilter_hxx
