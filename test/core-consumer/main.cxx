// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
// A program that has pixels in memory and no ITK.
#include "voxelmaps/GrayLevelDiscretization.h"
#include "voxelmaps/RunLengthJob.h"
#include "voxelmaps/CudaDevices.h"

#include <cstdint>
#include <iostream>
#include <vector>

int
main()
{
  using Feature = voxelmaps::RunLengthFeatureMapEnums::Feature;
  constexpr std::int64_t size = 8;

  // Intensities of 8 x 8 pixels: rows of 10 and of 250, which become the levels 1 and 10 of bins of 25.
  std::vector<std::int16_t> pixels;
  for (std::int64_t i = 0; i < size * size; ++i)
  {
    pixels.push_back(i / size % 2 == 0 ? 10 : 250);
  }
  std::vector<std::uint16_t> levels(pixels.size());

  voxelmaps::GrayLevelDiscretizationJob discretization;
  discretization.pixels = pixels.data();
  discretization.pixelType = voxelmaps::PixelType::Int16;
  discretization.size = { { size, size, 1 } };
  discretization.parameters.method = voxelmaps::GrayLevelDiscretizationEnums::Method::FixedBinSize;
  discretization.levels = levels.data();

  voxelmaps::RunLengthJob job;
  job.levels = levels.data();
  job.levelsSize = discretization.size;
  job.outputSize = discretization.size;
  job.windowSize = { { 3, 3, 1 } };
  job.windowAnchor = { { 1, 1, 0 } };
  job.offsets = { { { 1, 0, 0 } } };
  job.features = { Feature::LongRunEmphasis };
  std::vector<float> map(pixels.size());
  job.output = map.data();

  try
  {
    job.numberOfGrayLevels = voxelmaps::DiscretizeGrayLevels(discretization).numberOfGrayLevels;
    voxelmaps::ComputeFeatureMaps(job);
  }
  catch (const voxelmaps::EngineError & error)
  {
    std::cerr << error.what() << std::endl;
    return 1;
  }
  // Each window inside the image has three runs of three pixels.
  std::cout << job.numberOfGrayLevels << " levels, " << voxelmaps::RunLengthFeatureMapEnums::GetName(job.features[0])
            << " = " << map[4 * size + 4] << ", " << voxelmaps::CudaDevices::GetNumberOfDevices() << " CUDA devices"
            << std::endl;
  return job.numberOfGrayLevels == 10 && map[4 * size + 4] == 9.0f ? 0 : 1;
}
