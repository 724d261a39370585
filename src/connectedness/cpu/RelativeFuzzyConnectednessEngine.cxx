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
#include "RelativeHierarchy.h"

#include "connectedness/ImageOfInput.h"
#include "connectedness/VerifyJob.h"

#include <type_traits>

namespace itk
{
namespace voxelmaps
{
namespace
{
std::unique_ptr<RelativeHierarchy>
MakeHierarchy(const RelativeFuzzyConnectednessJob & job, bool isKept)
{
  return WithImage(job, [&](const auto * image) -> std::unique_ptr<RelativeHierarchy> {
    using Pixel = std::remove_cv_t<std::remove_reference_t<decltype(*image)>>;
    return std::make_unique<RelativeHierarchyOf<Pixel>>(job, isKept);
  });
}
} // namespace

RelativeFuzzyConnectednessHierarchy::RelativeFuzzyConnectednessHierarchy() = default;
RelativeFuzzyConnectednessHierarchy::~RelativeFuzzyConnectednessHierarchy() = default;

void
RelativeFuzzyConnectednessHierarchy::Release()
{
  m_Hierarchy.reset();
}

std::uint64_t
RelativeFuzzyConnectednessHierarchy::GetMemory() const
{
  return m_Hierarchy ? m_Hierarchy->GetMemory() : 0;
}

void
ComputeRelativeFuzzyConnectedness(const RelativeFuzzyConnectednessJob & job)
{
  VerifyRelativeJob(job);
  if (job.GetNumberOfVoxels() != 0)
  {
    MakeHierarchy(job, false)->Compute(job);
  }
}

void
ComputeRelativeFuzzyConnectedness(const RelativeFuzzyConnectednessJob & job,
                                  RelativeFuzzyConnectednessHierarchy & hierarchy)
{
  VerifyRelativeJob(job);
  if (job.GetNumberOfVoxels() == 0)
  {
    return;
  }
  if (hierarchy.IsEmpty())
  {
    auto made = MakeHierarchy(job, true);
    made->Compute(job);
    hierarchy.m_Hierarchy = std::move(made);
    return;
  }
  hierarchy.m_Hierarchy->Compute(job);
}
} // namespace voxelmaps
} // namespace itk
