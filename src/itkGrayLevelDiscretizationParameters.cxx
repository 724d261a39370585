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
#include "itkGrayLevelDiscretizationParameters.h"

#include "itkVoxelMapsJobUtilities.h"

#include <cmath>

namespace itk
{
namespace
{
void
VerifyBinEdges(const Object & filter, const std::vector<double> & edges)
{
  if (edges.empty() || edges.size() > GrayLevelDiscretizationParameters::MaximumNumberOfGrayLevels)
  {
    itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": There are " << edges.size()
                             << " BinEdges, but must be 1 to "
                             << GrayLevelDiscretizationParameters::MaximumNumberOfGrayLevels << '.');
  }
  for (std::size_t i = 0; i < edges.size(); ++i)
  {
    if (!std::isfinite(edges[i]) || (i > 0 && !(edges[i - 1] < edges[i])))
    {
      itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": Number " << i << " of the BinEdges is " << edges[i]
                               << ", but all must be finite and each greater than the one before.");
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
GrayLevelDiscretizationParameters::Verify(const Object & filter) const
{
  voxelmaps::VerifyEnumerator(filter, "The discretization method", method, MethodEnum::Edges);
  voxelmaps::VerifyEnumerator(filter, "RangeSource", rangeSource, RangeSourceEnum::Mask);
  switch (method)
  {
    case MethodEnum::FixedBinNumber:
    case MethodEnum::Identity:
    case MethodEnum::Levels:
      if (numberOfGrayLevels < 1 || numberOfGrayLevels > MaximumNumberOfGrayLevels)
      {
        itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": NumberOfGrayLevels is " << numberOfGrayLevels
                                 << ", but must be 1 to " << MaximumNumberOfGrayLevels << '.');
      }
      break;
    case MethodEnum::FixedBinSize:
    case MethodEnum::FixedBinSizeAtMultiples:
      if (!(binWidth > 0.0 && std::isfinite(binWidth)))
      {
        itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": BinWidth is " << binWidth
                                 << ", but must be positive and finite.");
      }
      break;
    case MethodEnum::Edges:
      VerifyBinEdges(filter, binEdges);
      break;
  }
  if (this->UsesRange() && rangeSource == RangeSourceEnum::Given &&
      (!(rangeMinimum < rangeMaximum) || !std::isfinite(rangeMaximum - rangeMinimum)))
  {
    itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": The given range is " << rangeMinimum << " to "
                             << rangeMaximum
                             << ", but RangeMinimum must be less than RangeMaximum, and their difference finite.");
  }
}

void
GrayLevelDiscretizationParameters::Print(std::ostream & os, Indent indent, const char * nameOfMethod) const
{
  os << indent << nameOfMethod << ": " << method << std::endl;
  os << indent << "NumberOfGrayLevels: " << numberOfGrayLevels << std::endl;
  os << indent << "BinWidth: " << binWidth << std::endl;
  os << indent << "BinEdges:";
  for (const double edge : binEdges)
  {
    os << ' ' << edge;
  }
  os << std::endl << indent << "RangeSource: " << rangeSource << std::endl;
  os << indent << "RangeMinimum: " << rangeMinimum << std::endl;
  os << indent << "RangeMaximum: " << rangeMaximum << std::endl;
}
} // namespace itk
