// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsParameters_h
#define itkVoxelMapsParameters_h

#include "VoxelMapsExport.h"
#include "itkIndent.h"
#include "itkVoxelMapsCompatibility.h"
#include "itkVoxelMapsEngineCall.h"
#include "voxelmaps/FeatureMapsJob.h"

#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace itk
{
/** Helpers shared by the filters of this module; not for users. */
namespace VoxelMapsDetail
{
/** Throw an itk::ExceptionObject unless an enumerator exists, of an enumeration that counts from 0 to the last one. */
template <typename TEnum>
void
VerifyEnumerator(const ProcessObject & filter, const char * parameterName, TEnum value, TEnum last)
{
  CallEngine(filter, [&] { voxelmaps::VerifyEnumerator(parameterName, value, last); });
}

/** Whether doubles hold all pixels of an image, so that they can be discretized. */
template <typename TPixel>
constexpr bool isIntensity =
  voxelmaps::hasPixelType<TPixel> && (std::is_floating_point<TPixel>::value || sizeof(TPixel) <= 4);
template <typename TImage>
constexpr bool hasIntensities = isIntensity<typename TImage::PixelType>;

/** Whether the environment allows CUDA devices to be chosen automatically. */
VoxelMaps_EXPORT bool
IsCudaAllowed();

/** \class DiscretizationSettings
 * \brief The parameters of a discretization that a user has set.
 *
 * \ingroup VoxelMaps
 */
struct VoxelMaps_EXPORT DiscretizationSettings
{
  using Parameters = voxelmaps::GrayLevelDiscretizationParameters;

  std::optional<Parameters::MethodEnum>      method;
  std::optional<unsigned int>                numberOfGrayLevels;
  std::optional<double>                      binWidth;
  std::optional<std::vector<double>>         binEdges;
  std::optional<Parameters::RangeSourceEnum> rangeSource;
  std::optional<double>                      rangeMinimum;
  std::optional<double>                      rangeMaximum;

  Parameters::MethodEnum defaultMethod{ Parameters::MethodEnum::FixedBinNumber };

  /** What is set, and defaults. */
  Parameters
  Get() const;

  /** Throw voxelmaps::EngineError, which names the value and the rule, if a parameter is invalid or has no effect. */
  void
  Verify() const;

  void
  Print(std::ostream & os, Indent indent) const;
};

/** The jobs of features with names such as "glcm_Contrast", or of classes such as "glcm", in the order of the classes.
 * Throws voxelmaps::EngineError if a name does not exist or is given twice. */
VoxelMaps_EXPORT std::vector<voxelmaps::TextureClassJob>
                 MakeTextureClassJobs(const std::vector<std::string> & names);

/** Names of the features of jobs, such as "glcm_Contrast". */
VoxelMaps_EXPORT std::vector<std::string>
                 GetFeatureNames(const std::vector<voxelmaps::TextureClassJob> & jobs);
} // namespace VoxelMapsDetail
} // namespace itk

#define VOXELMAPS_INTENSITY_RULE                                                                                       \
  "The input must be a scalar image of float, double or integers of at most 32 bits: cast others, such as 64-bit "     \
  "integers, and select a component of others"

/** Set and get a parameter that is a field of a struct. NaN is the same value as NaN. */
#define VoxelMapsSetGetMacro(name, type, field)                                                                        \
  virtual void Set##name(const type & value)                                                                           \
  {                                                                                                                    \
    itkDebugMacro("setting " #name);                                                                                   \
    if (field != value && !(field != field && value != value))                                                         \
    {                                                                                                                  \
      field = value;                                                                                                   \
      this->Modified();                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  virtual type Get##name() const                                                                                       \
  {                                                                                                                    \
    return field;                                                                                                      \
  }                                                                                                                    \
  ITK_MACROEND_NOOP_STATEMENT

/** Set a field of the member m_Discretization, and get the value that is used. */
#define VoxelMapsDiscretizationMacro(name, type, field)                                                                \
  virtual void Set##name(const type & value)                                                                           \
  {                                                                                                                    \
    itkDebugMacro("setting " #name);                                                                                   \
    if (m_Discretization.field != value)                                                                               \
    {                                                                                                                  \
      m_Discretization.field = value;                                                                                  \
      this->Modified();                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  virtual type Get##name() const                                                                                       \
  {                                                                                                                    \
    return m_Discretization.Get().field;                                                                               \
  }                                                                                                                    \
  ITK_MACROEND_NOOP_STATEMENT

/** The parameters of the discretization, for filters with the types MethodEnum and RangeSourceEnum, and what the last
 * Update() used of them. */
#define VoxelMapsDiscretizationMacros()                                                                                \
  VoxelMapsDiscretizationMacro(DiscretizationMethod, MethodEnum, method);                                              \
  VoxelMapsDiscretizationMacro(NumberOfGrayLevels, unsigned int, numberOfGrayLevels);                                  \
  VoxelMapsDiscretizationMacro(BinWidth, double, binWidth);                                                            \
  VoxelMapsDiscretizationMacro(BinEdges, std::vector<double>, binEdges);                                               \
  VoxelMapsDiscretizationMacro(RangeSource, RangeSourceEnum, rangeSource);                                             \
  VoxelMapsDiscretizationMacro(RangeMinimum, double, rangeMinimum);                                                    \
  VoxelMapsDiscretizationMacro(RangeMaximum, double, rangeMaximum);                                                    \
  virtual unsigned int GetUsedNumberOfGrayLevels() const                                                               \
  {                                                                                                                    \
    return m_UsedLevels.numberOfGrayLevels;                                                                            \
  }                                                                                                                    \
  virtual double GetUsedRangeMinimum() const                                                                           \
  {                                                                                                                    \
    return m_UsedLevels.rangeMinimum;                                                                                  \
  }                                                                                                                    \
  virtual double GetUsedRangeMaximum() const                                                                           \
  {                                                                                                                    \
    return m_UsedLevels.rangeMaximum;                                                                                  \
  }                                                                                                                    \
  ITK_MACROEND_NOOP_STATEMENT

#endif // itkVoxelMapsParameters_h
