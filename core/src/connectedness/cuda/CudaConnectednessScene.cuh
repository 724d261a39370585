// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaConnectednessScene_cuh
#define CudaConnectednessScene_cuh

#include "connectedness/ConnectednessKeys.h"
#include "voxelmaps/FuzzyConnectednessJob.h"

#include <cmath>
#include <cstdint>

namespace voxelmaps
{
/** A link to a neighbor that comes later in memory; it also stands for the link to the opposite neighbor. */
struct CudaLink
{
  int          x, y, z;
  std::int64_t stride;
  LinkWeight   weight;
};

/** The type of pixels on the device: levels above the smallest pixel, float, double, or a table of keys. */
enum class CudaPixels
{
  Levels,
  Floats,
  Doubles,
  Table
};

/** A slab of an image in device memory, as kernels see it. */
struct CudaConnectednessScene
{
  static constexpr int maxLinks = 13;

  /** Pixels of the type in CudaPixels; Outside() where the mask is 0 or the pixel is not finite. A table has the keys
   * of all voxels for one link after the other, noKey where there is no link. */
  const void * image;
  /** Before a method runs, the keys known so far, which are seedKey for seeds; after it, the result. */
  std::uint32_t *       keys;
  int                   numberOfLinks;
  int                   size[3];
  std::int64_t          numberOfVoxels;
  std::uint32_t         minKey;
  AffinityTerms         terms;
  const std::uint32_t * meanTerms; // of levels
  const std::uint32_t * differenceTerms;
  CudaLink              links[maxLinks];
};

/** Integers of at most 65535 levels, whose terms are looked up in tables; without branches, so that a thread can have
 * many loads in flight. */
struct LevelKeys
{
  using Pixel = std::uint16_t;

  static constexpr Pixel outside = 0xffff;

  static __device__ Pixel
  Outside()
  {
    return outside;
  }
  static __device__ Pixel
  Load(const CudaConnectednessScene & scene, std::int64_t voxel)
  {
    return __ldg(static_cast<const Pixel *>(scene.image) + voxel);
  }
  /** Key of a link; noKey if one end is outside or the key is below the minimum. */
  static __device__ std::uint32_t
                    Key(const CudaConnectednessScene & scene, Pixel a, Pixel b, const LinkWeight & weight)
  {
    const bool          isLink = a != outside && b != outside;
    const int           difference = isLink ? a - b : 0;
    const std::uint32_t meanTerm = __ldg(scene.meanTerms + (isLink ? a + b : 0));
    const std::uint32_t differenceTerm = __ldg(scene.differenceTerms + abs(difference));
    // All three cases of TermKey in 32 bits: terms are below 2^31, and factors at most 2^32, which stands for 1.
    const std::uint32_t sum = meanTerm + differenceTerm;
    const std::uint32_t greater = meanTerm > differenceTerm ? meanTerm : differenceTerm;
    const std::uint32_t both = scene.terms.combination == Combination::Minimum ? greater : sum;
    const std::uint32_t cost = both + weight.cost;
    const std::uint32_t fromCost = cost >= both && cost < topKey ? topKey - cost : noKey;
    const std::uint32_t weighted =
      weight.factor >> 32 != 0 ? sum : __umulhi(sum, static_cast<std::uint32_t>(weight.factor));
    const std::uint32_t key = scene.terms.combination == Combination::WeightedSum ? weighted : fromCost;
    return isLink && key >= scene.minKey ? key : noKey;
  }
};

/** Pixels of type float or double, whose terms are computed. */
template <typename TPixel>
struct RealKeys
{
  using Pixel = TPixel;

  static __device__ Pixel
  Outside()
  {
    return static_cast<Pixel>(nan(""));
  }
  static __device__ Pixel
  Load(const CudaConnectednessScene & scene, std::int64_t voxel)
  {
    return __ldg(static_cast<const Pixel *>(scene.image) + voxel);
  }
  static __device__ std::uint32_t
                    Key(const CudaConnectednessScene & scene, Pixel a, Pixel b, const LinkWeight & weight)
  {
    if (isnan(a) || isnan(b))
    {
      return noKey;
    }
    const auto          x = static_cast<double>(a);
    const auto          y = static_cast<double>(b);
    const double        difference = x > y ? x - y : y - x;
    const std::uint32_t key =
      TermKey(scene.terms.combination, MeanTerm(scene.terms, x + y), DifferenceTerm(scene.terms, difference), weight);
    return key >= scene.minKey ? key : noKey;
  }
};

/** Keys that have been computed before, since those of vectors take long; the number of a voxel is its pixel. */
struct TableKeys
{
  using Pixel = std::int64_t;

  static constexpr Pixel outside = -1;

  static __device__ Pixel
  Outside()
  {
    return outside;
  }
  static __device__ Pixel
  Load(const CudaConnectednessScene &, std::int64_t voxel)
  {
    return voxel;
  }
  static __device__ std::uint32_t
                    Key(const CudaConnectednessScene & scene, Pixel a, Pixel b, const LinkWeight & weight)
  {
    const Pixel first = a < b ? a : b;
    if (first == outside)
    {
      return noKey;
    }
    const std::uint32_t key =
      __ldg(static_cast<const std::uint32_t *>(scene.image) + weight.number * scene.numberOfVoxels + first);
    return key >= scene.minKey ? key : noKey;
  }
};

/** Call f with the class that computes keys from pixels. */
template <typename TFunction>
auto
WithKeys(CudaPixels pixels, const TFunction & f)
{
  switch (pixels)
  {
    case CudaPixels::Levels:
      return f(LevelKeys());
    case CudaPixels::Floats:
      return f(RealKeys<float>());
    case CudaPixels::Table:
      return f(TableKeys());
    default:
      return f(RealKeys<double>());
  }
}

/** An image divided into tiles whose sizes are powers of two. */
struct CudaTileGrid
{
  int          bits[3];       // a tile has 1 << bits voxels along an axis
  int          halo[3];       // 1 along axes with more than one voxel, else 0
  int          tiles[3];      // along each axis
  unsigned int reciprocal[2]; // 2^32 over the local sizes along x and y, rounded up; 0 for 1
  // For each link, the difference between voxel numbers in the tile, and in the tile with its halo.
  int tileStrides[CudaConnectednessScene::maxLinks];
  int localStrides[CudaConnectednessScene::maxLinks];

  VOXELMAPS_HOST_DEVICE int
  GetNumberOfTiles() const
  {
    return tiles[0] * tiles[1] * tiles[2];
  }
  /** Size of a tile with its halo along an axis. */
  VOXELMAPS_HOST_DEVICE int
  GetLocalSize(int axis) const
  {
    return (1 << bits[axis]) + 2 * halo[axis];
  }
  VOXELMAPS_HOST_DEVICE int
  GetNumberOfLocalVoxels() const
  {
    return this->GetLocalSize(0) * this->GetLocalSize(1) * this->GetLocalSize(2);
  }
};

/** A place in a tile, or in the image. */
struct CudaPlace
{
  int x, y, z;
};

/** The first voxel of a tile. */
inline __device__ CudaPlace
GetTileOrigin(const CudaTileGrid & grid, int tile)
{
  const int row = tile / grid.tiles[0];
  return { tile % grid.tiles[0] << grid.bits[0],
           row % grid.tiles[1] << grid.bits[1],
           row / grid.tiles[1] << grid.bits[2] };
}

/** Place of voxel number v in its tile. */
inline __device__ CudaPlace
GetPlaceInTile(const CudaTileGrid & grid, int v)
{
  return { v & ((1 << grid.bits[0]) - 1),
           (v >> grid.bits[0]) & ((1 << grid.bits[1]) - 1),
           v >> (grid.bits[0] + grid.bits[1]) };
}

/** Number of a place in a tile among the voxels of the tile with its halo. */
inline __device__ int
GetLocalNumber(const CudaTileGrid & grid, const CudaPlace & place)
{
  return ((place.z + grid.halo[2]) * grid.GetLocalSize(1) + place.y + grid.halo[1]) * grid.GetLocalSize(0) + place.x +
         grid.halo[0];
}

inline __device__ bool
IsInTile(const CudaTileGrid & grid, int x, int y, int z)
{
  // A negative int becomes a huge unsigned, so one comparison checks both bounds.
  return ((static_cast<unsigned int>(x) >> grid.bits[0]) | (static_cast<unsigned int>(y) >> grid.bits[1]) |
          (static_cast<unsigned int>(z) >> grid.bits[2])) == 0;
}

inline __device__ bool
IsInImage(const CudaConnectednessScene & scene, int x, int y, int z)
{
  // A negative int becomes a huge unsigned, so one comparison checks both bounds.
  return static_cast<unsigned int>(x) < static_cast<unsigned int>(scene.size[0]) &&
         static_cast<unsigned int>(y) < static_cast<unsigned int>(scene.size[1]) &&
         static_cast<unsigned int>(z) < static_cast<unsigned int>(scene.size[2]);
}

inline __device__ std::int64_t
                  GetVoxel(const CudaConnectednessScene & scene, int x, int y, int z)
{
  return (std::int64_t{ z } * scene.size[1] + y) * scene.size[0] + x;
}

inline __device__ int
Divide(int number, unsigned int reciprocal)
{
  return reciprocal == 0 ? number : static_cast<int>(__umulhi(static_cast<unsigned int>(number), reciprocal));
}

/** The voxel of this number in a tile with its halo; -1 beyond the image or the tile. */
inline __device__ std::int64_t
GetLocalVoxel(const CudaConnectednessScene & scene, const CudaTileGrid & grid, const CudaPlace & origin, int local)
{
  const int row = Divide(local, grid.reciprocal[0]);
  const int plane = Divide(row, grid.reciprocal[1]);
  const int x = origin.x + local - row * grid.GetLocalSize(0) - grid.halo[0];
  const int y = origin.y + row - plane * grid.GetLocalSize(1) - grid.halo[1];
  const int z = origin.z + plane - grid.halo[2];
  return plane < grid.GetLocalSize(2) && IsInImage(scene, x, y, z) ? GetVoxel(scene, x, y, z) : -1;
}

/** Call f(number in the tile with its halo, voxel number, -1 if it is not in the image) for a tile and its halo. */
template <typename TFunction>
inline __device__ void
ForEachLocalVoxel(const CudaConnectednessScene & scene, const CudaTileGrid & grid, const CudaPlace & origin,
                  const TFunction & f)
{
  const int count = grid.GetNumberOfLocalVoxels();
  for (int local = static_cast<int>(threadIdx.x); local < count; local += static_cast<int>(blockDim.x))
  {
    f(local, GetLocalVoxel(scene, grid, origin, local));
  }
}
} // namespace voxelmaps

#endif // CudaConnectednessScene_cuh
