// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_GrayLevelDiscretizationParameters_h
#define voxelmaps_GrayLevelDiscretizationParameters_h

#include "voxelmaps/CoreExport.h"
#include "voxelmaps/GrayLevelDiscretizationEnums.h"

#include <vector>

namespace voxelmaps
{
/** \class GrayLevelDiscretizationParameters
 * \brief Parameters of the discretization of gray levels that GrayLevelDiscretizationImageFilter and the texture
 * filters share, with their defaults and validation.
 *
 * \ingroup VoxelMaps
 */
struct VoxelMapsCore_EXPORT GrayLevelDiscretizationParameters
{
  using MethodEnum = GrayLevelDiscretizationEnums::Method;
  using RangeSourceEnum = GrayLevelDiscretizationEnums::RangeSource;

  static constexpr unsigned int MaximumNumberOfGrayLevels = 65535;

  MethodEnum          method{ MethodEnum::FixedBinNumber };
  unsigned int        numberOfGrayLevels{ 32 };
  double              binWidth{ 25.0 };
  std::vector<double> binEdges;
  RangeSourceEnum     rangeSource{ RangeSourceEnum::Mask };
  double              rangeMinimum{ 0.0 };
  double              rangeMaximum{ 255.0 };

  /** Call visit(name, pointer to the member) for each parameter; names are those of the ITK filters. */
  template <typename TVisit>
  static void
  VisitParameters(const TVisit & visit)
  {
    using Parameters = GrayLevelDiscretizationParameters;
    visit("DiscretizationMethod", &Parameters::method);
    visit("NumberOfGrayLevels", &Parameters::numberOfGrayLevels);
    visit("BinWidth", &Parameters::binWidth);
    visit("BinEdges", &Parameters::binEdges);
    visit("RangeSource", &Parameters::rangeSource);
    visit("RangeMinimum", &Parameters::rangeMinimum);
    visit("RangeMaximum", &Parameters::rangeMaximum);
  }

  /** Whether the method depends on a range of intensities. */
  bool
  UsesRange() const;

  /** Whether the level of any voxel depends on the whole input. */
  bool
  NeedsWholeInput() const;

  /** Throws EngineError, which names the value and the rule, if a parameter is invalid. */
  void
  Verify() const;
};
} // namespace voxelmaps

#endif // voxelmaps_GrayLevelDiscretizationParameters_h
