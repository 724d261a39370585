// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef VectorVoxels_h
#define VectorVoxels_h

#include "connectedness/AffinityPlan.h"
#include "connectedness/VectorKeys.h"

#include <cstdint>

namespace voxelmaps
{
/** A voxel of several components, which stay in the image. */
struct VectorVoxel
{
  const unsigned char * components;
};

/** Voxels of several components in the order of memory. */
class VectorVoxelIterator
{
public:
  explicit VectorVoxelIterator(const FuzzyConnectednessInput & input)
    : m_At(static_cast<const unsigned char *>(input.image))
    , m_Bytes(static_cast<std::int64_t>(ComponentSize(input.pixelType) * input.numberOfComponents))
  {}

  VectorVoxel
  operator[](std::int64_t voxel) const
  {
    return { m_At + voxel * m_Bytes };
  }
  VectorVoxelIterator
  operator+(std::int64_t voxels) const
  {
    VectorVoxelIterator result = *this;
    result.m_At += voxels * m_Bytes;
    return result;
  }

private:
  const unsigned char * m_At;
  std::int64_t          m_Bytes;
};

/** Keys of links between voxels of several components, computed where they are needed. */
template <>
class EdgeKeys<VectorVoxel>
{
public:
  explicit EdgeKeys(const FuzzyConnectednessProblem & problem)
    : m_Terms(MakeVectorTerms(problem))
  {}

  std::uint32_t
  Key(VectorVoxel a, VectorVoxel b, const LinkWeight & link) const
  {
    return VectorKey(m_Terms, a.components, b.components, link);
  }

private:
  VectorTerms m_Terms;
};

/** Access to the pixels of an image: a pointer, or VectorVoxelIterator. */
template <typename TPixel>
struct PixelAccess
{
  using Iterator = const TPixel *;

  static Iterator
  Get(const FuzzyConnectednessInput & input)
  {
    return static_cast<Iterator>(input.image);
  }
};
template <>
struct PixelAccess<VectorVoxel>
{
  using Iterator = VectorVoxelIterator;

  static Iterator
  Get(const FuzzyConnectednessInput & input)
  {
    return Iterator(input);
  }
};

/** Call f with a pointer to the type of the pixels of a graph. */
template <typename TFunction>
auto
WithPixels(const FuzzyConnectednessInput & input, const TFunction & f)
{
  return input.numberOfComponents > 0 ? f(static_cast<const VectorVoxel *>(nullptr)) : WithImage(input, f);
}
} // namespace voxelmaps

#endif // VectorVoxels_h
