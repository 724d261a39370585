// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsEnums_h
#define itkVoxelMapsEnums_h

#include "voxelmaps/CooccurrenceJob.h"
#include "voxelmaps/CudaDevices.h"
#include "voxelmaps/DependenceJob.h"
#include "voxelmaps/FilterImageJob.h"
#include "voxelmaps/FirstOrderJob.h"
#include "voxelmaps/FuzzyConnectednessJob.h"
#include "voxelmaps/GrayLevelDiscretizationEnums.h"
#include "voxelmaps/GrayToneDifferenceJob.h"
#include "voxelmaps/RelativeFuzzyConnectednessEnums.h"
#include "voxelmaps/ResponseMapJob.h"
#include "voxelmaps/RunLengthJob.h"
#include "voxelmaps/SizeZoneJob.h"

// These types belong to the core; the filters and their users find them in ITK's namespace.
namespace itk
{
using CooccurrenceFeatureMapEnums = ::voxelmaps::CooccurrenceFeatureMapEnums;
using CudaDevices = ::voxelmaps::CudaDevices;
using DependenceFeatureMapEnums = ::voxelmaps::DependenceFeatureMapEnums;
using DeviceEnums = ::voxelmaps::DeviceEnums;
using FilterImageEnums = ::voxelmaps::FilterImageEnums;
using FirstOrderFeatureMapEnums = ::voxelmaps::FirstOrderFeatureMapEnums;
using FuzzyConnectednessAffinity = ::voxelmaps::FuzzyConnectednessAffinity;
using FuzzyConnectednessEnums = ::voxelmaps::FuzzyConnectednessEnums;
using GrayLevelDiscretizationEnums = ::voxelmaps::GrayLevelDiscretizationEnums;
using GrayToneDifferenceFeatureMapEnums = ::voxelmaps::GrayToneDifferenceFeatureMapEnums;
using RelativeFuzzyConnectednessEnums = ::voxelmaps::RelativeFuzzyConnectednessEnums;
using ResponseMapEnums = ::voxelmaps::ResponseMapEnums;
using RunLengthFeatureMapEnums = ::voxelmaps::RunLengthFeatureMapEnums;
using SizeZoneFeatureMapEnums = ::voxelmaps::SizeZoneFeatureMapEnums;
using TextureFeatureMapEnums = ::voxelmaps::TextureFeatureMapEnums;
} // namespace itk

#endif // itkVoxelMapsEnums_h
