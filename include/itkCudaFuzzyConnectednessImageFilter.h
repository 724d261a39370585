// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaFuzzyConnectednessImageFilter_h
#define itkCudaFuzzyConnectednessImageFilter_h

#include "voxelmaps/CudaFuzzyConnectednessJob.h"
#include "itkCudaVoxelMapImageFilter.h"
#include "itkFuzzyConnectednessImageFilter.h"

namespace itk
{
/** \class CudaFuzzyConnectednessImageFilter
 * \brief FuzzyConnectednessImageFilter on a CUDA device, with bit-identical results.
 *
 * See CudaVoxelMapImageFilter for the parameters that all Cuda classes share, and FuzzyConnectednessEnums::CudaMethod
 * for the methods. Automatic computes images of fewer than 8192 voxels on the CPU, so that GetUsedDeviceName() returns
 * "CPU". CorrectionPasses (2) is the number of passes over voxels at block borders in every iteration of CorrectedKFOE;
 * it affects run time, not the result.
 *
 * \par Source of CorrectedKFOE
 * \cite Li2016, corrected CUDA-kFOE. This class makes it exact by an atomic maximum.
 *
 * \sa FuzzyConnectednessImageFilter, CudaVoxelMapImageFilter
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = Image<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT CudaFuzzyConnectednessImageFilter
  : public CudaVoxelMapImageFilter<FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(CudaFuzzyConnectednessImageFilter);

  using Self = CudaFuzzyConnectednessImageFilter;
  using Superclass = CudaVoxelMapImageFilter<FuzzyConnectednessImageFilter<TInputImage, TOutputImage, TMaskImage>>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(CudaFuzzyConnectednessImageFilter);

  /** Passes over voxels at block borders in every iteration of CorrectedKFOE. Default: 2, as in the paper. */
  itkSetMacro(CorrectionPasses, unsigned int);
  itkGetConstMacro(CorrectionPasses, unsigned int);

protected:
  CudaFuzzyConnectednessImageFilter() = default;
  ~CudaFuzzyConnectednessImageFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override
  {
    Superclass::PrintSelf(os, indent);
    os << indent << "CorrectionPasses: " << m_CorrectionPasses << std::endl;
  }
  void
  VerifyPreconditions() const override
  {
    // Before the device is looked for.
    VoxelMapsDetail::VerifyEnumerator(
      *this, "CudaMethod", this->GetCudaMethod(), FuzzyConnectednessEnums::CudaMethod::Hierarchy);
    Superclass::VerifyPreconditions();
  }
  void
  ComputeStrengths(const voxelmaps::FuzzyConnectednessJob & job) override
  {
    if (this->GetCudaMethod() == FuzzyConnectednessEnums::CudaMethod::Automatic && job.IsSmall())
    {
      Superclass::ComputeStrengths(job);
      this->SetCPUReport();
      return;
    }
    voxelmaps::CudaFuzzyConnectednessOptions options;
    this->FillOptions(options);
    options.method = this->GetCudaMethod();
    options.correctionPasses = m_CorrectionPasses;
    const auto report =
      VoxelMapsDetail::CallDevice(*this, [&] { return voxelmaps::ComputeFuzzyConnectednessCuda(job, options); });
    this->SetReport(report, report.method);
  }

private:
  unsigned int m_CorrectionPasses{ 2 };
};
} // namespace itk

#endif // itkCudaFuzzyConnectednessImageFilter_h
