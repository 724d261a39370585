// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "RowKeys.h"

#include "VectorVoxels.h"

#include <type_traits>

namespace voxelmaps
{
namespace
{
template <typename TPixel>
class TypedRowKeys final : public RowKeys
{
public:
  explicit TypedRowKeys(const FuzzyConnectednessProblem & problem)
    : m_Image(PixelAccess<TPixel>::Get(problem))
    , m_Edges(problem)
  {}

  void
  Compute(std::int64_t first, int count, const Link & link, std::uint32_t * keys) const override
  {
    const auto from = m_Image + first;
    const auto to = from + link.stride;
    for (int i = 0; i < count; ++i)
    {
      keys[i] = m_Edges.Key(from[i], to[i], link.weight);
    }
  }

  bool
  IsInRange(std::int64_t first, std::int64_t count) const override
  {
    if constexpr (std::is_integral<TPixel>::value)
    {
      return m_Edges.IsInRange(m_Image + first, count);
    }
    else
    {
      return true;
    }
  }

  void
  SetImage(const FuzzyConnectednessInput & input) override
  {
    m_Image = PixelAccess<TPixel>::Get(input);
  }

private:
  typename PixelAccess<TPixel>::Iterator m_Image;
  const EdgeKeys<TPixel>                 m_Edges;
};
} // namespace

std::unique_ptr<RowKeys>
MakeRowKeys(const FuzzyConnectednessProblem & problem)
{
  return WithPixels(problem, [&](const auto * image) -> std::unique_ptr<RowKeys> {
    using Pixel = std::remove_cv_t<std::remove_reference_t<decltype(*image)>>;
    return std::make_unique<TypedRowKeys<Pixel>>(problem);
  });
}
} // namespace voxelmaps
