// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef FeatureMapsClasses_h
#define FeatureMapsClasses_h

#include "glcm/Cooccurrence.h"
#include "gldm/Dependence.h"
#include "discretization/GrayLevelJob.h"
#include "firstorder/FirstOrder.h"
#include "ngtdm/GrayToneDifference.h"
#include "glrlm/RunLength.h"
#include "glszm/SizeZone.h"
#include "voxelmaps/FeatureMapsJob.h"
#include "voxelmaps/HostMemory.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

/** Calls a macro with the name of each texture class. */
#define VOXELMAPS_TEXTURE_CLASSES(macro)                                                                               \
  macro(Cooccurrence);                                                                                                 \
  macro(Dependence);                                                                                                   \
  macro(FirstOrder);                                                                                                   \
  macro(GrayToneDifference);                                                                                           \
  macro(RunLength);                                                                                                    \
  macro(SizeZone);

// What CPU and device have in common in the computation of maps of several classes.
namespace voxelmaps
{
/** Give the job of a class what all classes have in common, but levels, intensities and output. */
void
SetClassJob(const FeatureMapsJob & job, TextureFeatureMapJob & classJob);

/** Let the arrays of a job that are null point to what must not be read, so that the job is valid. */
inline void
FillNullPointers(TextureFeatureMapJob & job)
{
  static std::uint64_t placeholder = 0;
  job.levels = job.levels == nullptr ? reinterpret_cast<std::uint16_t *>(&placeholder) : job.levels;
  job.intensities = job.intensities == nullptr ? &placeholder : job.intensities;
  job.output = job.output == nullptr ? &placeholder : job.output;
  if (NumberOfVoxels(job.outputSize) == 0)
  {
    job.outputSize = { { 1, 1, 1 } };
  }
}

/** Throws EngineError if the output is not within the array, or null although there are maps, if maps overlap, or if
 * there are no classes. */
void
VerifyFeatureMapsJob(const FeatureMapsJob & job);

/** The discretization of a job, without levels. */
GrayLevelDiscretizationJob
MakeDiscretizationJob(const FeatureMapsJob & job);

/** Complete the jobs of all classes, each with its part of the output, and call compute for them. */
template <typename TCompute>
void
ForEachClassJob(FeatureMapsJob & job, const GrayLevelDiscretizationResult & discretization,
                const std::uint16_t * levels, const TCompute & compute)
{
  const std::size_t bytes = job.outputIsDouble ? sizeof(double) : sizeof(float);
  auto *            output = static_cast<char *>(job.output);
  for (TextureClassJob & classJob : job.classes)
  {
    std::visit(
      [&](auto & typedJob) {
        SetClassJob(job, typedJob);
        typedJob.levels = levels;
        typedJob.numberOfGrayLevels = discretization.numberOfGrayLevels;
        typedJob.output = output;
        compute(typedJob);
        output +=
          static_cast<std::size_t>(static_cast<std::int64_t>(typedJob.GetNumberOfComponents()) * job.mapStride) * bytes;
      },
      classJob);
  }
}

/** Compute the levels, and the intensities of first order features, in host memory, and call compute(job of the class)
 * for all classes. */
template <typename TCompute>
GrayLevelDiscretizationResult
ComputeFromHostMemory(FeatureMapsJob job, const TCompute & compute)
{
  const auto allocate = [](std::uint64_t bytes) {
    std::unique_ptr<char[]> memory(new char[bytes]);
    UseHugePages(memory.get(), bytes);
    return memory;
  };
  GrayLevelDiscretizationJob discretization = MakeDiscretizationJob(job);
  // Verified before there is memory for the levels.
  std::uint16_t placeholder = 0;
  discretization.levels = &placeholder;
  const std::int64_t voxels = VerifyGrayLevelJob(discretization);
  VerifyFeatureMapsJob(job);
  const auto levels = allocate(static_cast<std::uint64_t>(voxels) * sizeof(std::uint16_t));
  discretization.levels = reinterpret_cast<std::uint16_t *>(levels.get());
  const GrayLevelDiscretizationResult result = DiscretizeGrayLevels(discretization);
  ForEachClassJob(job, result, discretization.levels, [&](auto & typedJob) {
    std::unique_ptr<char[]> intensities;
    if constexpr (std::is_same<std::decay_t<decltype(typedJob)>, FirstOrderJob>::value)
    {
      typedJob.intensitiesAreDouble = NeedsDoubleIntensities(job.pixelType);
      intensities =
        allocate(static_cast<std::uint64_t>(voxels) * (typedJob.intensitiesAreDouble ? sizeof(double) : sizeof(float)));
      typedJob.intensities = intensities.get();
      SelectIntensities(job.pixelType,
                        job.pixels,
                        discretization.levels,
                        voxels,
                        intensities.get(),
                        typedJob.intensitiesAreDouble,
                        discretization.execution);
    }
    compute(typedJob);
  });
  return result;
}
} // namespace voxelmaps

#endif // FeatureMapsClasses_h
