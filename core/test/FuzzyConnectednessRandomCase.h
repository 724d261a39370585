// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FuzzyConnectednessRandomCase_h
#define FuzzyConnectednessRandomCase_h

#include "FuzzyConnectednessOracle.h"
#include "VoxelMapsTestUtilities.h"
#include "connectedness/ConnectednessKeyEngines.h"
#include "voxelmaps/FuzzyConnectednessJob.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

/** Call f(pixel) with a pixel of a type. */
template <typename TFunction>
auto
VisitPixelType(voxelmaps::FuzzyConnectednessJob::PixelType type, const TFunction & f)
{
  using PixelType = voxelmaps::FuzzyConnectednessJob::PixelType;
  switch (type)
  {
    case PixelType::Int8:
      return f(std::int8_t());
    case PixelType::UInt8:
      return f(std::uint8_t());
    case PixelType::Int16:
      return f(std::int16_t());
    case PixelType::UInt16:
      return f(std::uint16_t());
    case PixelType::Int32:
      return f(std::int32_t());
    case PixelType::UInt32:
      return f(std::uint32_t());
    case PixelType::Float:
      return f(float());
    default:
      return f(double());
  }
}

/** A case of a connectedness test without ITK images: a scene, and its intensities as pixels of a type. */
struct FuzzyConnectednessRandomCase
{
  using Job = voxelmaps::FuzzyConnectednessJob;

  std::uint64_t                   seed{ 0 };
  unsigned int                    dimension{ 2 };
  std::string                     pattern;
  Job::PixelType                  pixelType{ Job::PixelType::Float };
  FuzzyConnectednessOracle::Scene scene;
  std::vector<unsigned char>      pixels;
};

std::ostream &
operator<<(std::ostream & out, const FuzzyConnectednessRandomCase & randomCase);

/** Draw a case. The number of the case decides affinity function and adjacency, so that all combinations occur. */
FuzzyConnectednessRandomCase
DrawFuzzyConnectednessRandomCase(std::uint64_t seed, unsigned int dimension,
                                 voxelmaps::FuzzyConnectednessJob::PixelType type,
                                 VoxelMapsTest::RandomNumbers &              random);

/** Give the voxels of a case so many components: images like that of the case, but shifted. The mean vectors and
 * covariance matrices suit its means and variances. */
void
MakeVectors(FuzzyConnectednessRandomCase & randomCase, unsigned int components, VoxelMapsTest::RandomNumbers & random);

/** Convert the intensities of the scene to pixels of a type, and round them to the values of these pixels. */
void
StorePixels(FuzzyConnectednessRandomCase & randomCase, voxelmaps::FuzzyConnectednessJob::PixelType type);

/** A case with the intensities of a scene as pixels of a type. */
FuzzyConnectednessRandomCase
MakeFuzzyConnectednessCase(const FuzzyConnectednessOracle::Scene &     scene,
                           voxelmaps::FuzzyConnectednessJob::PixelType type);

/** A path one voxel wide through a 2D or 3D image, whose voxels only touch the one before and the one after: rows
 * connected at alternating ends, in slices connected at alternating ends. */
std::vector<std::int64_t>
MakeSerpentine(const FuzzyConnectednessOracle::Triple & size);

/** A scene in which the steps of intensity along a path grow, while all other voxels have much greater intensities. */
FuzzyConnectednessOracle::Scene
MakePathScene(const FuzzyConnectednessOracle::Triple & size, const std::vector<std::int64_t> & path);

/** A scene of random intensities 0 ... range - 1. */
FuzzyConnectednessOracle::Scene
MakeNoiseScene(const FuzzyConnectednessOracle::Triple & size, std::int64_t range,
               VoxelMapsTest::RandomNumbers & random);

const std::vector<voxelmaps::FuzzyConnectednessJob::PixelType> allPixelTypes =
  voxelmaps::GetFirstEnumerators<voxelmaps::FuzzyConnectednessJob::PixelType>(8);

/** Names of tests whose parameter is the pixel type. */
std::string
PixelTypeName(const ::testing::TestParamInfo<voxelmaps::FuzzyConnectednessJob::PixelType> & parameter);

/** The job of a case, without output; it refers to the case. */
voxelmaps::FuzzyConnectednessJob
MakeFuzzyConnectednessJob(const FuzzyConnectednessRandomCase & randomCase);

/** The keys that computeKeys(keys) writes for a number of voxels; expect that it writes nothing else. */
std::vector<std::uint32_t>
ComputeGuardedKeys(std::int64_t numberOfVoxels, const std::function<void(std::uint32_t *)> & computeKeys);

/** The keys of a job, by a method with so many threads, whatever the number of processors. */
std::vector<std::uint32_t>
RunFuzzyConnectednessJob(voxelmaps::FuzzyConnectednessJob job, const std::string & method,
                         unsigned int numberOfWorkers);

/** Strengths of keys, as the engines convert them. */
template <typename TReal>
std::vector<TReal>
ConvertToStrengths(voxelmaps::FuzzyConnectednessJob job, const std::vector<std::uint32_t> & keys)
{
  std::vector<TReal> strengths(keys.size());
  job.size = { { static_cast<std::int64_t>(keys.size()), 1, 1 } };
  job.output = strengths.data();
  job.outputIsDouble = std::is_same<TReal, double>::value;
  voxelmaps::ConvertKeysToStrengths(job, keys.data());
  return strengths;
}

/** Keys in which those of strengths below a minimum are 0. */
std::vector<std::uint32_t>
ClearWeakKeys(const voxelmaps::FuzzyConnectednessJob & job, std::vector<std::uint32_t> keys, double minimumStrength);

/** Whether keys are equal; the message names the first that is not. */
::testing::AssertionResult
AreSameKeys(const std::vector<std::uint32_t> & expected, const std::vector<std::uint32_t> & actual);

#endif // FuzzyConnectednessRandomCase_h
