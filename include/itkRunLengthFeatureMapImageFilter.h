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
#ifndef itkRunLengthFeatureMapImageFilter_h
#define itkRunLengthFeatureMapImageFilter_h

#include "itkRunLengthFeatureMapEnums.h"
#include "itkRunLengthJob.h"
#include "itkTextureFeatureMapImageFilter.h"
#include "itkTextureOffsets.h"

namespace itk
{
// Overrides this class where a device is usable.
template <typename TInputImage, typename TOutputImage, typename TMaskImage>
class CudaRunLengthFeatureMapImageFilter;

/** \class RunLengthFeatureMapImageFilter
 * \brief Features of the gray level run length matrix of the window around every voxel.
 *
 * A run is a maximal series of voxels of the same gray level along a direction, inside the window. P(i, j) counts the
 * runs of level i = 1..Ng and length j in voxels, N = sum P is the number of runs, V the number of voxels in the
 * window. With p = P / N, the features are
 *
 * - SRE = sum p / j^2, LRE = sum p j^2 (Galloway 1975)
 * - GLN = sum_i (sum_j P)^2 / N, RLN = sum_j (sum_i P)^2 / N (Galloway 1975)
 * - GLNN = GLN / N, RLNN = RLN / N (IBSI)
 * - RP = N / V (Galloway 1975), V inside mask and image (IBSI)
 * - LGRE = sum p / i^2, HGRE = sum p i^2 (Chu et al. 1990)
 * - SRLGE = sum p / (i^2 j^2), SRHGE = sum p i^2 / j^2, LRLGE = sum p j^2 / i^2, LRHGE = sum p i^2 j^2 (Dasarathy and
 *   Holder 1991)
 * - GLV, RV: variance of i, of j, over the runs (IBSI)
 * - RE = - sum p log2 p (IBSI)
 *
 * The weight of a level starts at 1: an intensity 0 that is a level already (Identity) has i = 1, since 1 / i^2 is
 * undefined for 0, which Zhang et al. (2019) leave open.
 *
 * Windows, masks, gray levels and the pipeline are those of TextureFeatureMapImageFilter. Runs end at the window, at
 * the image border and at absent voxels.
 *
 * \par Aggregation of directions
 * PerDirection gives the features of every direction, components direction by direction; Average their mean over the
 * directions (PyRadiomics' default, IBSI "averaged"); Merge the features of the sum of the matrices, where V
 * counts every voxel once per direction (IBSI "merged").
 *
 * \par Windows without runs or pairs
 * A computed window contains its voxel, so every direction has at least one run, and no NaN or infinity occurs unless
 * SkipDirectionsWithoutPairs is on.
 *
 * \par Exact results
 * All sums are integers until one last division in double precision, rounded once to the output type, so the bits do
 * not depend on regions, streaming, threads or processors. Per direction and merged, a feature that is a ratio of
 * integers below 2^53 is the correctly rounded quotient: GLN, RLN, RP, LRE, HGRE, LRHGE, RV and their like, and SRE and
 * SRHGE while runs are not longer than 12. LGRE, SRLGE, LRLGE (1 / i^2 in fixed point) and RE (table of n log2 n in
 * fixed point) are within 2 units of the last place of a float. Averages add the double values in the order of Offsets.
 *
 * \par Parameters, beside those of the base class
 * - Offsets (all 4 in 2D, 13 in 3D): directions with components -1, 0, 1; opposite ones are the same.
 * - Features (the eleven of Zhang et al. 2019): any of the sixteen, in any order.
 * - Aggregation (Average)
 * - SkipDirectionsWithoutPairs (off)
 *
 * \par Errors
 * Beside those of the base class, an itk::ExceptionObject names the value for: no offset, a zero, too long or repeated
 * offset, no feature, a feature that does not exist, and a repeated feature.
 *
 * Sources: H. Zhang et al., GPU-Accelerated GLRLM Algorithm for Feature Extraction of MRI, Sci Rep 9:10883 (2019);
 * Image Biomarker Standardisation Initiative reference manual, arXiv:1612.07003, section 3.7.
 *
 * \ingroup VoxelMaps
 */
template <typename TInputImage, typename TOutputImage = VectorImage<float, TInputImage::ImageDimension>,
          typename TMaskImage = Image<unsigned char, TInputImage::ImageDimension>>
class ITK_TEMPLATE_EXPORT RunLengthFeatureMapImageFilter
  : public TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>
{
public:
  ITK_DISALLOW_COPY_AND_MOVE(RunLengthFeatureMapImageFilter);

  using Self = RunLengthFeatureMapImageFilter;
  using Superclass = TextureFeatureMapImageFilter<TInputImage, TOutputImage, TMaskImage>;
  using Pointer = SmartPointer<Self>;
  using ConstPointer = SmartPointer<const Self>;

  /** New() gives the Cuda class, whose results are bit-identical, where a device is usable; see VoxelMapsCudaFactory.
   */
  itkNewMacro(Self);
  itkOverrideGetNameOfClassMacro(RunLengthFeatureMapImageFilter);

  using Superclass::ImageDimension;
  using typename Superclass::OffsetType;
  using OffsetsType = std::vector<OffsetType>;
  using FeatureEnum = RunLengthFeatureMapEnums::Feature;
  using FeaturesType = std::vector<FeatureEnum>;
  using AggregationEnum = RunLengthFeatureMapEnums::Aggregation;
  using CudaMethodEnum = RunLengthFeatureMapEnums::CudaMethod;

  /** Directions of the runs. Default: GetAllOffsets(). */
  virtual void
  SetOffsets(const OffsetsType & offsets);
  itkGetConstReferenceMacro(Offsets, OffsetsType);

  /** The 4 directions in 2D, the 13 in 3D: one of each opposite pair, the x axis first. */
  static OffsetsType
  GetAllOffsets()
  {
    return TextureOffsets<ImageDimension>::GetAll();
  }

  /** The 4 directions in the xy plane, for 2.5D features of 3D images. */
  static OffsetsType
  GetInPlaneOffsets()
  {
    return TextureOffsets<ImageDimension>::GetInPlane();
  }

  /** Features to compute and their order. Default: the eleven of Zhang et al. (2019). */
  virtual void
  SetFeatures(const FeaturesType & features);
  itkGetConstReferenceMacro(Features, FeaturesType);

  /** Names of the output components in order: "SRE", or "SRE_1_-1_0" for one of several directions. */
  std::vector<std::string>
  GetFeatureNames() const override;

  /** How directions are combined. Default: Average. */
  itkSetEnumMacro(Aggregation, AggregationEnum);
  itkGetEnumMacro(Aggregation, AggregationEnum);

  /** Leave out, window by window, the directions in which no line of the window holds two voxels with a level, as
   * PyRadiomics does. Averages and merged matrices are then of the other directions; components of a direction that is
   * left out, and of windows in which all are, are NaN. This matters for thin and scattered masks. Default: off. */
  itkSetMacro(SkipDirectionsWithoutPairs, bool);
  itkGetConstMacro(SkipDirectionsWithoutPairs, bool);
  itkBooleanMacro(SkipDirectionsWithoutPairs);

protected:
  RunLengthFeatureMapImageFilter();
  ~RunLengthFeatureMapImageFilter() override = default;

  void
  PrintSelf(std::ostream & os, Indent indent) const override;
  void
  VerifyPreconditions() const override;
  void
  ComputeTextureFeatureMaps(const voxelmaps::TextureFeatureMapJob & job) override;

  /** Compute all voxels of the job. Overridden by the Cuda class. */
  virtual void
  ComputeFeatureMaps(const voxelmaps::RunLengthJob & job);

private:
  OffsetsType     m_Offsets;
  FeaturesType    m_Features;
  AggregationEnum m_Aggregation{ AggregationEnum::Average };
  bool            m_SkipDirectionsWithoutPairs{ false };
};
} // namespace itk

#ifndef ITK_MANUAL_INSTANTIATION
#  include "itkRunLengthFeatureMapImageFilter.hxx"
#endif

#endif // itkRunLengthFeatureMapImageFilter_h
