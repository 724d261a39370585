// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkFuzzyConnectednessImageFilter_hxx
#define itkFuzzyConnectednessImageFilter_hxx

#include "itkFuzzyConnectednessImageFilter.h"
#include "voxelmaps/HostMemory.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace itk
{
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
const voxelmaps::FuzzyConnectednessVolumeCurve &
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::GetVolumeCurve() const
{
  const OutputImageType * output = this->GetOutput();
  const SizeValueType     voxels = output->GetBufferedRegion().GetNumberOfPixels();
  if (voxels == 0 || output->GetBufferPointer() == nullptr)
  {
    itkExceptionMacro("The output has 0 voxels: call Update() before volumes and thresholds.");
  }
  if (!m_IsOutputComplete)
  {
    itkExceptionMacro("The last Update() did not finish: call it again before volumes and thresholds.");
  }
  if (m_VolumeCurveTime != output->GetMTime())
  {
    voxelmaps::JobExecution execution;
    execution.numberOfWorkers = this->GetNumberOfWorkUnits();
    execution.parallelFor = VoxelMapsDetail::MakeParallelFor(const_cast<Self *>(this));
    m_VolumeCurve = voxelmaps::FuzzyConnectednessVolumeCurve(
      output->GetBufferPointer(), static_cast<std::int64_t>(voxels), execution);
    m_VolumeCurveTime = output->GetMTime();
  }
  return m_VolumeCurve;
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
double
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::GetSuggestedThreshold(double minimumVolume) const
{
  double box = 1.0;
  double voxelVolume = 1.0;
  for (unsigned int d = 0; d < TInputImage::ImageDimension; ++d)
  {
    const auto size = static_cast<double>(this->GetOutput()->GetBufferedRegion().GetSize(d));
    box *= std::min(size, 2.0 * this->GetEstimationRadius() + 1.0);
    voxelVolume *= this->GetOutput()->GetSpacing()[d];
  }
  if (!(minimumVolume >= 0.0 && minimumVolume / voxelVolume < 9e18))
  {
    itkExceptionMacro("The minimum volume is " << minimumVolume << ", but must be at least 0 and finite.");
  }
  const double minVoxels = std::max(box, std::ceil(minimumVolume / voxelVolume));
  return this->GetVolumeCurve().GetSuggestedThreshold(static_cast<std::int64_t>(minVoxels));
}

template <typename TInputImage, typename TOutputImage, typename TMaskImage>
void
FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>::ComputeOutput()
{
  this->UpdateProgress(0.0f);
  m_UsedMethod.clear();
  this->AllocateOutputs();
  this->ChooseMemory(true, this->GetOutput());
  this->SetUsedCropRegion(m_Seeds);
  const auto & region = this->GetUsedCropRegion();
  const auto   numberOfVoxels = static_cast<std::int64_t>(region.GetNumberOfPixels());
  if (numberOfVoxels == 0)
  {
    return;
  }

  voxelmaps::FuzzyConnectednessJob                   job;
  VoxelMapsDetail::JobProgress                       progress(this, static_cast<std::uint64_t>(numberOfVoxels));
  const voxelmaps::JobExecution                      execution = VoxelMapsDetail::MakeJobExecution(this, progress);
  const VoxelMapsDetail::InputRegion<InputImageType> input(
    this->GetNameOfClass(), this->GetInput(), region, execution, this->GetMemory());
  this->FillProblem(input, execution, job);
  const auto mask = this->MakeMaskBytes("the mask", this->GetMaskImage(), region, job.execution);
  job.mask = mask.get();
  for (const IndexType & seed : m_Seeds)
  {
    job.seeds.push_back(VoxelMapsDetail::GetVoxel(region, seed));
  }
  this->AddImageSeeds(job);
  this->SetUsedAffinity(job);

  VoxelMapsDetail::OutputRegion<OutputImageType> strengths(this->GetOutput(), region, this->GetMemory());
  job.output = strengths.GetBufferPointer();
  job.outputIsDouble = std::is_same<OutputPixelType, double>::value;
  if (this->UsesCudaFor(job))
  {
    const auto report = this->template CallCuda<voxelmaps::CudaFuzzyConnectednessOptions>(
      [&job](const auto & options) { return voxelmaps::ComputeFuzzyConnectednessCuda(job, options); });
    m_UsedMethod = report.method;
    this->SetUsedDeviceName(report.deviceName);
  }
  else
  {
    m_UsedMethod =
      VoxelMapsDetail::CallEngine(*this, [&job] { return voxelmaps::ComputeFuzzyConnectedness(job); }).method;
    this->SetUsedDeviceName("CPU");
  }
  strengths.Write(execution);
  this->UpdateProgress(1.0f);
}
} // namespace itk

#endif // itkFuzzyConnectednessImageFilter_hxx
