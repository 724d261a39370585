// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TextureRandomCase_h
#define TextureRandomCase_h

#include "RunLengthOracle.h"
#include "VoxelMapsTestUtilities.h"

#include "voxelmaps/RunLengthJob.h"

#include <ostream>
#include <string>
#include <vector>

/** What a run length test is drawn from, without ITK types: levels, window, directions, features, aggregation. */
struct TextureRandomCase
{
  using Triple = RunLengthOracle::Triple;
  using Feature = RunLengthOracle::Feature;
  using Aggregation = RunLengthOracle::Aggregation;

  std::uint64_t           seed{ 0 };
  unsigned int            dimension{ 2 };
  std::string             pattern;
  std::uint32_t           numberOfGrayLevels{ 2 };
  RunLengthOracle::Levels levels;
  RunLengthOracle::Window window;
  std::vector<Triple>     offsets;
  std::vector<Feature>    features;
  Aggregation             aggregation{ Aggregation::Average };
  /** Part of the image whose features are asked for. */
  Triple regionIndex{ { 0, 0, 0 } };
  Triple regionSize{ { 1, 1, 1 } };

  std::size_t
  GetNumberOfComponents() const
  {
    return features.size() * (aggregation == Aggregation::PerDirection ? offsets.size() : 1);
  }
};

std::ostream &
operator<<(std::ostream & out, const TextureRandomCase & randomCase);

/** Draw a case. All levels are 1..numberOfGrayLevels, so that masks can be laid over them. */
TextureRandomCase
DrawTextureRandomCase(std::uint64_t seed, unsigned int dimension, std::uint32_t maxNumberOfGrayLevels,
                      VoxelMapsTest::RandomNumbers & random);

/** The job of a case, without output buffer. */
voxelmaps::RunLengthJob
MakeRunLengthJob(const TextureRandomCase & randomCase);

/** Set some levels to 0: none, scattered holes, all outside a box, or all; returns what was done. */
std::string
DrawHoles(RunLengthOracle::Levels & levels, VoxelMapsTest::RandomNumbers & random);

/** Positions to compare: the whole region if the oracle can do that soon, else its corners and random ones. */
std::vector<TextureRandomCase::Triple>
DrawPositions(const TextureRandomCase & randomCase, VoxelMapsTest::RandomNumbers & random, std::int64_t budget);

/** Compare components of the region (x fastest, components interleaved) with the oracle; false at the first difference.
 *
 * The budget bounds the oracle's work, in voxels visited. */
bool
AgreesWithOracle(const TextureRandomCase & randomCase, const std::vector<float> & result, double backgroundValue,
                 VoxelMapsTest::RandomNumbers & random, std::int64_t budget = 250000);
bool
AgreesWithOracle(const TextureRandomCase & randomCase, const std::vector<double> & result, double backgroundValue,
                 VoxelMapsTest::RandomNumbers & random, std::int64_t budget = 250000);

#endif // TextureRandomCase_h
