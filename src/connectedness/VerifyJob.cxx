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
#include "connectedness/VerifyJob.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace itk
{
namespace voxelmaps
{
namespace
{
// Numbers of voxels, and of bytes of their strengths, are computed with 64 bits.
constexpr double maxNumberOfVoxels = 0x1p59;

// Costs are inversely proportional to a variance, and their factors must be finite.
constexpr double minVariance = 1e-299;

template <typename TValue>
void
Require(bool isValid, const char * name, const TValue & value, const char * rule)
{
  if (!isValid)
  {
    std::ostringstream message;
    message << "A job has " << name << ' ' << value << ", but " << rule << '.';
    throw EngineError(message.str());
  }
}

template <typename TEnum>
void
RequireEnumerator(TEnum value, TEnum last, const char * name)
{
  Require(value <= last, name, static_cast<int>(value), "there is no such enumerator");
}
} // namespace

void
VerifyInput(const FuzzyConnectednessInput & input)
{
  double voxels = 1.0;
  for (const std::int64_t size : input.size)
  {
    Require(size >= 0, "an image of size", size, "no size is negative");
    voxels *= static_cast<double>(std::max<std::int64_t>(size, 1));
  }
  Require(voxels <= maxNumberOfVoxels, "a number of voxels of", voxels, "it must be at most 2^59");
  RequireEnumerator(input.pixelType, FuzzyConnectednessInput::PixelType::Double, "the pixel type");
  const std::int64_t count = input.GetNumberOfVoxels();
  for (const std::int64_t seed : input.seeds)
  {
    Require(seed >= 0 && seed < count, "a seed at voxel", seed, "that voxel is not in the image");
  }
}

void
VerifyJob(const FuzzyConnectednessJob & job)
{
  VerifyInput(job);
  for (const std::int64_t seed : job.seeds)
  {
    Require(job.mask == nullptr || job.mask[seed] != 0, "a seed at voxel", seed, "that voxel is outside the mask");
  }
  RequireEnumerator(
    job.affinityFunction, FuzzyConnectednessJob::AffinityFunction::Homogeneity, "the affinity function");
  RequireEnumerator(job.adjacency, FuzzyConnectednessJob::Adjacency::Full, "the adjacency");
  RequireEnumerator(job.method, FuzzyConnectednessJob::Method::Hierarchy, "the method");
  const auto verifyMean = [](double mean, const char * name) {
    Require(std::isfinite(mean), name, mean, "it must be finite");
  };
  const auto verifyVariance = [](double variance, const char * name) {
    Require(variance >= minVariance && std::isfinite(variance), name, variance, "it must be finite, at least 1e-299");
  };
  const auto verifyFraction = [](double fraction, const char * name) {
    Require(fraction >= 0.0 && fraction <= 1.0, name, fraction, "it must be 0 to 1");
  };
  verifyMean(job.objectMean, "the object mean");
  verifyVariance(job.objectVariance, "the object variance");
  verifyMean(job.differenceMean, "the difference mean");
  verifyVariance(job.differenceVariance, "the difference variance");
  verifyFraction(job.weight, "the weight");
  verifyFraction(job.minimumStrength, "the minimum strength");
}
} // namespace voxelmaps
} // namespace itk
