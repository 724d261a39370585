// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/GrayLevelDiscretizationParameters.h"


#include "voxelmaps/Job.h"

#include <cmath>
#include <sstream>

namespace voxelmaps
{
namespace
{
template <typename... TParts>
[[noreturn]] void
ThrowError(const TParts &... parts)
{
  std::ostringstream message;
  (message << ... << parts);
  throw EngineError(message.str());
}

void
VerifyBinEdges(const std::vector<double> & edges)
{
  if (edges.empty() || edges.size() > GrayLevelDiscretizationParameters::MaximumNumberOfGrayLevels)
  {
    ThrowError("There are ",
               edges.size(),
               " BinEdges, but must be 1 to ",
               GrayLevelDiscretizationParameters::MaximumNumberOfGrayLevels,
               '.');
  }
  for (std::size_t i = 0; i < edges.size(); ++i)
  {
    if (!std::isfinite(edges[i]) || (i > 0 && !(edges[i - 1] < edges[i])))
    {
      ThrowError("Number ",
                 i,
                 " of the BinEdges is ",
                 edges[i],
                 ", but all must be finite and each greater than the one before.");
    }
  }
}
} // namespace

bool
GrayLevelDiscretizationParameters::UsesRange() const
{
  return method == MethodEnum::FixedBinNumber || method == MethodEnum::FixedBinSize ||
         method == MethodEnum::FixedBinSizeAtMultiples;
}

bool
GrayLevelDiscretizationParameters::NeedsWholeInput() const
{
  return this->UsesRange() && rangeSource != RangeSourceEnum::Given;
}

void
GrayLevelDiscretizationParameters::Verify() const
{
  VerifyEnumerator("The discretization method", method, MethodEnum::Edges);
  VerifyEnumerator("RangeSource", rangeSource, RangeSourceEnum::Mask);
  switch (method)
  {
    case MethodEnum::FixedBinNumber:
    case MethodEnum::Identity:
    case MethodEnum::Levels:
      if (numberOfGrayLevels < 1 || numberOfGrayLevels > MaximumNumberOfGrayLevels)
      {
        ThrowError("NumberOfGrayLevels is ", numberOfGrayLevels, ", but must be 1 to ", MaximumNumberOfGrayLevels, '.');
      }
      break;
    case MethodEnum::FixedBinSize:
    case MethodEnum::FixedBinSizeAtMultiples:
      if (!(binWidth > 0.0 && std::isfinite(binWidth)))
      {
        ThrowError("BinWidth is ", binWidth, ", but must be positive and finite.");
      }
      break;
    case MethodEnum::Edges:
      VerifyBinEdges(binEdges);
      break;
  }
  if (this->UsesRange() && rangeSource == RangeSourceEnum::Given &&
      (!(rangeMinimum < rangeMaximum) || !std::isfinite(rangeMaximum - rangeMinimum)))
  {
    ThrowError("The given range is ",
               rangeMinimum,
               " to ",
               rangeMaximum,
               ", but RangeMinimum must be less than RangeMaximum, and their difference finite.");
  }
}

} // namespace voxelmaps
