// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef InternalRunLengthJob_h
#define InternalRunLengthJob_h

#include "voxelmaps/RunLengthJob.h"

#include <cstdint>
#include <vector>

namespace VoxelMapsTest
{
/** A job with a window, all features that the fast methods support, and buffers that are never used. */
inline voxelmaps::RunLengthJob
MakeJob(const voxelmaps::Triple & windowSize, const std::vector<voxelmaps::Triple> & offsets,
        std::uint32_t numberOfGrayLevels, voxelmaps::RunLengthJob::Aggregation aggregation, bool outputIsDouble)
{
  static std::uint16_t    levels = 0;
  static double           output = 0.0;
  voxelmaps::RunLengthJob job;
  job.levels = &levels;
  job.output = &output;
  job.levelsSize = { { 64, 64, 8 } };
  job.outputSize = job.levelsSize;
  job.windowSize = windowSize;
  job.offsets = offsets;
  job.numberOfGrayLevels = numberOfGrayLevels;
  job.aggregation = aggregation;
  job.outputIsDouble = outputIsDouble;
  job.features = voxelmaps::RunLengthFeatureMapEnums::GetAllFeatures();
  job.features.pop_back();
  return job;
}

const std::vector<voxelmaps::Triple> fourDirections{ { { 1, 0, 0 } },
                                                     { { 1, -1, 0 } },
                                                     { { 0, 1, 0 } },
                                                     { { 1, 1, 0 } } };

} // namespace VoxelMapsTest

#endif // InternalRunLengthJob_h
