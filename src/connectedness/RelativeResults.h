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
#ifndef RelativeResults_h
#define RelativeResults_h

#include "connectedness/SeedTree.h"
#include "itkRelativeFuzzyConnectednessJob.h"

#include <cstdint>

namespace itk
{
namespace voxelmaps
{
/** The greatest strength of a component for any label, and a seed to which it has this strength. */
struct ComponentResult
{
  std::uint32_t strength;
  std::uint32_t seed;
};

/** Turns strengths and seeds into the outputs of a job. */
class RelativeResults
{
public:
  RelativeResults(const RelativeFuzzyConnectednessJob & job, const SeedTree & seeds);

  /** Write voxels first ... first + count - 1. Voxel first + i belongs to component numbers[i], and has the strength of
   * its component, but at most strengths[i]. If keys is not null, keys[i] becomes the strength of voxel first + i, or
   * noKey below the minimum; keys and strengths may be the same. */
  void
  Write(std::int64_t first, int count, const std::uint32_t * strengths, const std::uint16_t * numbers,
        const ComponentResult * components, std::uint32_t * keys) const;

private:
  template <typename TLabel>
  void
  WriteLabels(TLabel * out, int count, const std::uint32_t * strengths, const std::uint16_t * numbers,
              const ComponentResult * components) const;
  template <typename TReal>
  void
  WriteReals(TReal * strengthsOut, TReal * marginsOut, int count, const std::uint32_t * strengths,
             const std::uint16_t * numbers, const ComponentResult * components) const;

  const RelativeFuzzyConnectednessJob & m_Job;
  const SeedTree &                      m_Seeds;
  const Combination                     m_Combination;
  const std::uint32_t                   m_MinKey;
};
} // namespace voxelmaps
} // namespace itk

#endif // RelativeResults_h
