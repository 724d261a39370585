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
#ifndef FuzzyConnectednessRandomCase_h
#define FuzzyConnectednessRandomCase_h

#include "FuzzyConnectednessOracle.h"
#include "VoxelMapsTestUtilities.h"
#include "itkFuzzyConnectednessJob.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

/** What a connectedness test is drawn from, without ITK images: a scene, and its intensities as pixels of a type. */
struct FuzzyConnectednessRandomCase
{
  using Job = itk::FuzzyConnectednessJob;

  std::uint64_t                   seed{ 0 };
  unsigned int                    dimension{ 2 };
  std::string                     pattern;
  Job::PixelType                  pixelType{ Job::PixelType::Float };
  FuzzyConnectednessOracle::Scene scene;
  std::vector<unsigned char>      pixels;
};

std::ostream &
operator<<(std::ostream & out, const FuzzyConnectednessRandomCase & randomCase);

/** Draw a case. Affinity function and adjacency follow from the number of the case, so that all meet. */
FuzzyConnectednessRandomCase
DrawFuzzyConnectednessRandomCase(std::uint64_t seed, unsigned int dimension, itk::FuzzyConnectednessJob::PixelType type,
                                 VoxelMapsTest::RandomNumbers & random);

/** Make pixels of a type of the scene's intensities, and the intensities what the pixels hold. */
void
StorePixels(FuzzyConnectednessRandomCase & randomCase, itk::FuzzyConnectednessJob::PixelType type);

/** A case of the scene's intensities in a type of pixels. */
FuzzyConnectednessRandomCase
MakeFuzzyConnectednessCase(const FuzzyConnectednessOracle::Scene & scene, itk::FuzzyConnectednessJob::PixelType type);

/** Check cases of a type of pixels: every affinity function with every adjacency eight times, until one fails. */
void
CheckFuzzyConnectednessRandomCases(
  unsigned int dimension, itk::FuzzyConnectednessJob::PixelType type, std::uint64_t firstSeed,
  const std::function<void(const FuzzyConnectednessRandomCase &, VoxelMapsTest::RandomNumbers &)> & check);

/** A path of one voxel's width through 2D or 3D that only touches itself from one voxel to the next: rows connected at
 * their ends in turn, in slices connected at their ends in turn. */
std::vector<std::int64_t>
MakeSerpentine(const FuzzyConnectednessOracle::Triple & size);

/** For the names of tests that have the type of pixels as parameter. */
std::string
NameOfPixelType(const ::testing::TestParamInfo<itk::FuzzyConnectednessJob::PixelType> & parameter);

/** The job of a case, without keys; it refers to the case. */
itk::FuzzyConnectednessJob
MakeFuzzyConnectednessJob(const FuzzyConnectednessRandomCase & randomCase);

/** Run a job by a method with so many threads, whatever the number of processors; expect that it writes only keys. */
std::vector<std::uint32_t>
RunFuzzyConnectednessJob(itk::FuzzyConnectednessJob job, itk::FuzzyConnectednessJob::Method method,
                         unsigned int numberOfWorkers);

/** Strengths of keys, as the module converts them. */
template <typename TReal>
std::vector<TReal>
ConvertToStrengths(itk::FuzzyConnectednessJob job, std::vector<std::uint32_t> keys)
{
  std::vector<TReal> strengths(keys.size());
  job.keys = keys.data();
  itk::ConvertKeysToStrengths(job, 0, static_cast<std::int64_t>(keys.size()), strengths.data());
  return strengths;
}

/** Keys of which those of strengths below a minimum are 0. */
std::vector<std::uint32_t>
ClearWeakKeys(const itk::FuzzyConnectednessJob & job, std::vector<std::uint32_t> keys, double minimumStrength);

/** Expect that keys are the same, and tell the first that is not. */
::testing::AssertionResult
AreSameKeys(const std::vector<std::uint32_t> & expected, const std::vector<std::uint32_t> & actual);

#endif // FuzzyConnectednessRandomCase_h
