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
#ifndef itkVoxelMapsEnums_h
#define itkVoxelMapsEnums_h

#include "voxelmaps/CooccurrenceFeatureMapEnums.h"
#include "voxelmaps/DependenceFeatureMapEnums.h"
#include "voxelmaps/FirstOrderFeatureMapEnums.h"
#include "voxelmaps/FuzzyConnectednessEnums.h"
#include "voxelmaps/GrayLevelDiscretizationEnums.h"
#include "voxelmaps/GrayToneDifferenceFeatureMapEnums.h"
#include "voxelmaps/RelativeFuzzyConnectednessEnums.h"
#include "voxelmaps/RunLengthFeatureMapEnums.h"
#include "voxelmaps/SizeZoneFeatureMapEnums.h"

// The enumerations belong to the core; the filters and their users find them in ITK's namespace.
namespace itk
{
using CooccurrenceFeatureMapEnums = ::voxelmaps::CooccurrenceFeatureMapEnums;
using DependenceFeatureMapEnums = ::voxelmaps::DependenceFeatureMapEnums;
using FirstOrderFeatureMapEnums = ::voxelmaps::FirstOrderFeatureMapEnums;
using FuzzyConnectednessEnums = ::voxelmaps::FuzzyConnectednessEnums;
using GrayLevelDiscretizationEnums = ::voxelmaps::GrayLevelDiscretizationEnums;
using GrayToneDifferenceFeatureMapEnums = ::voxelmaps::GrayToneDifferenceFeatureMapEnums;
using RelativeFuzzyConnectednessEnums = ::voxelmaps::RelativeFuzzyConnectednessEnums;
using RunLengthFeatureMapEnums = ::voxelmaps::RunLengthFeatureMapEnums;
using SizeZoneFeatureMapEnums = ::voxelmaps::SizeZoneFeatureMapEnums;
} // namespace itk

#endif // itkVoxelMapsEnums_h
