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
#include "itkVoxelMapsDiscretization.h"

#include <ostream>

namespace itk
{
namespace VoxelMapsDetail
{
void
PrintParameters(std::ostream & os, Indent indent, const voxelmaps::GrayLevelDiscretizationParameters & parameters,
                const char * methodName)
{
  os << indent << methodName << ": " << parameters.method << std::endl;
  os << indent << "NumberOfGrayLevels: " << parameters.numberOfGrayLevels << std::endl;
  os << indent << "BinWidth: " << parameters.binWidth << std::endl;
  os << indent << "BinEdges:";
  for (const double edge : parameters.binEdges)
  {
    os << ' ' << edge;
  }
  os << std::endl << indent << "RangeSource: " << parameters.rangeSource << std::endl;
  os << indent << "RangeMinimum: " << parameters.rangeMinimum << std::endl;
  os << indent << "RangeMaximum: " << parameters.rangeMaximum << std::endl;
}
} // namespace VoxelMapsDetail
} // namespace itk
