// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaNearestLabels_cuh
#define CudaNearestLabels_cuh

#include "CudaNodeGraph.cuh"
#include "CudaTieTiles.cuh"
#include "connectedness/TieDistances.h"

namespace voxelmaps
{
/** Keys of TieDistances, in 64 bits, which the keys of all paths fit into. */
struct CudaNearestLabels
{
  using Key = unsigned long long;

  // A key of the zone that no path has reached, above all others; outside of the zone, without a label.
  static constexpr Key unreached = ~Key{ 0 } / 2;
  static constexpr Key outside = ~Key{ 0 };

  Key *                 keys;
  const std::uint32_t * passing; // of voxels of the zone, bits of the links that pass labels on to it; 0 elsewhere
  const std::uint16_t * rankLabels;
  const std::uint16_t * labelRanks;
  const std::uint8_t *  hasRank; // whether labels of this rank take part; null for all
  Key                   rankMask;
  Key                   stepKeys[CudaConnectednessScene::maxLinks]; // of the links of the scene
};

/** The bit of the link to the neighbor in direction sign of link l. */
inline __device__ std::uint32_t
                  GetLinkBit(int l, int sign)
{
  return 1u << (sign > 0 ? 2 * l : 2 * l + 1);
}

/** Whether a voxel is in the zone of ties; the key is that of the voxel. */
template <typename TView>
inline __device__ bool
IsTie(const TView & view, std::int64_t voxel, std::uint32_t minKey, std::uint32_t & key)
{
  std::uint32_t otherKey = noKey;
  key = view.GetKeys(voxel, otherKey);
  return key >= minKey && key <= otherKey;
}

/** Find the links that pass labels on. If all labels have the affinity of the scene, a neighbor is never weaker than
 * the voxel that it has such a link to. */
template <bool HasOneAffinity, typename TKeys, typename TView>
__global__ void
FindPassingLinksKernel(CudaConnectednessScene scene, TView view, std::uint32_t minKey, std::uint32_t * passing)
{
  ForEachInGrid(scene.numberOfVoxels, [&](std::int64_t voxel) {
    std::uint32_t bits = 0;
    std::uint32_t key = noKey;
    if (IsTie(view, voxel, minKey, key))
    {
      const auto pixel = TKeys::Load(scene, voxel);
      const int  x = static_cast<int>(voxel % scene.size[0]);
      const int  y = static_cast<int>(voxel / scene.size[0] % scene.size[1]);
      const int  z = static_cast<int>(voxel / scene.size[0] / scene.size[1]);
      for (int l = 0; l < scene.numberOfLinks; ++l)
      {
        const CudaLink & link = scene.links[l];
        for (int sign = -1; sign <= 1; sign += 2)
        {
          if (!IsInImage(scene, x + sign * link.x, y + sign * link.y, z + sign * link.z))
          {
            continue;
          }
          const std::int64_t neighbor = voxel + sign * link.stride;
          bool               passes = TKeys::Key(scene, pixel, TKeys::Load(scene, neighbor), link.weight) >= key;
          if constexpr (!HasOneAffinity)
          {
            std::uint32_t otherKey = noKey;
            passes = passes && view.GetKeys(neighbor, otherKey) >= key;
          }
          bits |= passes ? GetLinkBit(l, sign) : 0u;
        }
      }
    }
    passing[voxel] = bits;
  });
}

/** The keys of voxels with labels, and of those in the zone of ties. */
template <typename TView, typename TLabel>
__global__ void
StartNearestLabelsKernel(std::int64_t numberOfVoxels, TView view, std::uint32_t minKey, const TLabel * labels,
                         CudaNearestLabels nearest)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    std::uint32_t       key = noKey;
    const std::uint16_t rank = nearest.labelRanks[labels[voxel]];
    const bool          takesPart = labels[voxel] != 0 && (nearest.hasRank == nullptr || nearest.hasRank[rank] != 0);
    nearest.keys[voxel] = IsTie(view, voxel, minKey, key) ? CudaNearestLabels::unreached
                          : takesPart                     ? rank
                                                          : CudaNearestLabels::outside;
  });
}

/** Voxels that have a label keep it. */
template <typename TLabel>
__global__ void
WriteNearestLabelsKernel(std::int64_t numberOfVoxels, CudaNearestLabels nearest, TLabel * labels)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    const CudaNearestLabels::Key key = nearest.keys[voxel];
    if (key < CudaNearestLabels::unreached)
    {
      labels[voxel] = static_cast<TLabel>(nearest.rankLabels[key & nearest.rankMask]);
    }
  });
}

/** The keys of the zone of paths that begin with a link to a voxel of another label. */
static __global__ void
StartLeadsKernel(CudaConnectednessScene scene, CudaNearestLabels nearest, CudaNearestLabels::Key * across)
{
  using Key = CudaNearestLabels::Key;
  ForEachInGrid(scene.numberOfVoxels, [&](std::int64_t voxel) {
    const Key           mine = nearest.keys[voxel];
    const std::uint32_t passing = nearest.passing[voxel];
    Key                 key = CudaNearestLabels::unreached;
    for (int l = 0; l < scene.numberOfLinks; ++l)
    {
      for (int sign = -1; sign <= 1; sign += 2)
      {
        // Only links in the image pass labels on.
        const Key neighbor = (passing & GetLinkBit(l, sign)) != 0 ? nearest.keys[voxel + sign * scene.links[l].stride]
                                                                  : CudaNearestLabels::outside;
        if (neighbor != CudaNearestLabels::outside && ((neighbor ^ mine) & nearest.rankMask) != 0)
        {
          const Key offer = (neighbor & ~nearest.rankMask) + nearest.stepKeys[l];
          key = offer < key ? offer : key;
        }
      }
    }
    across[voxel] = key;
  });
}

/** Add the keys of a group of labels to those of others. */
static __global__ void
AddGroupKernel(std::int64_t numberOfVoxels, const CudaNearestLabels::Key * groupKeys,
               const CudaNearestLabels::Key * groupOthers, CudaNearestLabels::Key * keys,
               CudaNearestLabels::Key * others)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    const auto getKey = [&](const CudaNearestLabels::Key * from) {
      return from != nullptr ? from[voxel] : CudaNearestLabels::outside;
    };
    const TieLead lead = TieLead{ keys[voxel], getKey(others) }.With({ groupKeys[voxel], getKey(groupOthers) });
    keys[voxel] = lead.first;
    if (others != nullptr)
    {
      others[voxel] = lead.second;
    }
  });
}

/** Turn the keys of other labels into leads. */
static __global__ void
WriteLeadsKernel(std::int64_t numberOfVoxels, CudaNearestLabels nearest, int rankBits, CudaNearestLabels::Key * others)
{
  ForEachInGrid(numberOfVoxels, [&](std::int64_t voxel) {
    const CudaNearestLabels::Key key = others[voxel];
    const CudaNearestLabels::Key mine = nearest.keys[voxel];
    others[voxel] = mine >= CudaNearestLabels::unreached ? 0
                    : key < CudaNearestLabels::unreached ? (key >> rankBits) - (mine >> rankBits)
                                                         : noLead;
  });
}

/** Pass keys on in one tile until nothing in it changes. Keys only become smaller, so it does not matter that neighbor
 * tiles change at the same time, as long as every tile is woken that a change may reach. */
static __global__ void
__launch_bounds__(contractThreads)
  NearestLabelsKernel(CudaConnectednessScene scene, CudaTileGrid grid, CudaNearestLabels nearest, CudaTieTiles tieTiles)
{
  using Key = CudaNearestLabels::Key;
  extern __shared__ Key keysHere[];
  const CudaPlace       origin = GetTileOrigin(grid, tieTiles.GetTile());
  bool                  isReached = false;
  ForEachLocalVoxel(scene, grid, origin, [&](int local, std::int64_t voxel) {
    const Key key = voxel >= 0 ? nearest.keys[voxel] : CudaNearestLabels::outside;
    keysHere[local] = key < CudaNearestLabels::unreached ? key : CudaNearestLabels::unreached;
    isReached = isReached || key < CudaNearestLabels::unreached;
  });
  const auto getPlace = [&](int i) {
    return GetPlaceInTile(grid, i * contractThreads + static_cast<int>(threadIdx.x));
  };
  const auto getVoxel = [&](const CudaPlace & place) {
    return GetVoxel(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z);
  };
  std::uint32_t passing[contractVoxelsPerThread];
  std::uint32_t anyPassing = 0;
#pragma unroll
  for (int i = 0; i < contractVoxelsPerThread; ++i)
  {
    const CudaPlace place = getPlace(i);
    const bool      inside = IsInImage(scene, origin.x + place.x, origin.y + place.y, origin.z + place.z);
    passing[i] = inside ? nearest.passing[getVoxel(place)] : 0;
    anyPassing |= passing[i];
  }
  // Also waits for the keys in shared memory.
  const bool anyIsReached = __syncthreads_or(static_cast<int>(isReached)) != 0;
  if (__syncthreads_or(static_cast<int>(anyPassing)) == 0 || !anyIsReached)
  {
    return;
  }

  const unsigned int changed = SettleTile(grid, keysHere, [&](int i, int local) {
    Key key = keysHere[local];
    for (int l = 0; passing[i] != 0 && l < scene.numberOfLinks; ++l)
    {
      const auto getNeighbor = [&](int sign) {
        return (passing[i] & GetLinkBit(l, sign)) != 0 ? keysHere[local + sign * grid.localStrides[l]]
                                                       : CudaNearestLabels::unreached;
      };
      const Key before = getNeighbor(-1);
      const Key behind = getNeighbor(1);
      const Key offer = (before < behind ? before : behind) + nearest.stepKeys[l];
      key = offer < key ? offer : key;
    }
    return key;
  });

  for (int i = 0; i < contractVoxelsPerThread; ++i)
  {
    if ((changed >> i & 1u) == 0)
    {
      continue;
    }
    const CudaPlace place = getPlace(i);
    const int       local = GetLocalNumber(grid, place);
    const Key       key = keysHere[local];
    nearest.keys[getVoxel(place)] = key;
    for (int l = 0; l < scene.numberOfLinks; ++l)
    {
      const CudaLink & link = scene.links[l];
      for (int sign = -1; sign <= 1; sign += 2)
      {
        const CudaPlace to{ place.x + sign * link.x, place.y + sign * link.y, place.z + sign * link.z };
        if (!IsInTile(grid, to.x, to.y, to.z) && IsInImage(scene, origin.x + to.x, origin.y + to.y, origin.z + to.z) &&
            keysHere[local + sign * grid.localStrides[l]] > key + nearest.stepKeys[l] &&
            (nearest.passing[getVoxel(to)] & GetLinkBit(l, -sign)) != 0)
        {
          tieTiles.Wake(grid, origin.x + to.x, origin.y + to.y, origin.z + to.z);
        }
      }
    }
  }
}

/** Gives voxels in the zone of ties the nearest label. */
class CudaTieSettler
{
public:
  using Key = CudaNearestLabels::Key;

  CudaTieSettler(const CudaRelativeOutputs & outputs, CudaRelativeFuzzyConnectednessReport & report)
    : m_Outputs(outputs)
    , m_Report(report)
    , m_Distances(outputs.job)
  {
    const CudaStream & stream = outputs.stream;
    const auto         voxels = static_cast<std::size_t>(outputs.job.GetNumberOfVoxels());
    // Only ranks of labels that occur are copied.
    const auto & labels = m_Distances.rankLabels;
    const auto   last = std::max_element(labels.begin(), labels.end());
    const auto   count = last == labels.end() ? 1 : *last + std::ptrdiff_t{ 1 };
    m_RankLabels = CopyToDevice(labels, stream);
    m_LabelRanks = CopyToDevice(
      std::vector<std::uint16_t>(m_Distances.labelRanks.begin(), m_Distances.labelRanks.begin() + count), stream);
    m_Keys.Allocate(voxels, stream);
    m_Passing.Allocate(voxels, stream);
  }

  const TieDistances &
  GetDistances() const
  {
    return m_Distances;
  }

  /** Find the keys of labels that have the affinity of the scene; the ranks are null if all have. */
  template <bool HasOneAffinity, typename TKeys, typename TView, typename TLabel>
  void
  FindKeys(const CudaConnectednessScene & scene, const TView & view, const std::uint8_t * hasRank,
           const TLabel * labels)
  {
    m_Nearest = { m_Keys.data(),
                  m_Passing.data(),
                  m_RankLabels.data(),
                  m_LabelRanks.data(),
                  hasRank,
                  (Key{ 1 } << m_Distances.rankBits) - 1,
                  {} };
    for (int l = 0; l < scene.numberOfLinks; ++l)
    {
      for (std::size_t i = 0; i < m_Distances.links.size(); ++i)
      {
        const Link & link = m_Distances.links[i];
        if (link.x == scene.links[l].x && link.y == scene.links[l].y && link.z == scene.links[l].z)
        {
          m_Nearest.stepKeys[l] = m_Distances.stepKeys[i];
        }
      }
    }
    const std::uint32_t minKey = MinKey(m_Outputs.job);
    this->Launch([&](unsigned int blocks) {
      FindPassingLinksKernel<HasOneAffinity, TKeys>
        <<<blocks, threads, 0, m_Outputs.stream>>>(scene, view, minKey, m_Passing.data());
    });
    this->Launch([&](unsigned int blocks) {
      StartNearestLabelsKernel<<<blocks, threads, 0, m_Outputs.stream>>>(
        scene.numberOfVoxels, view, minKey, labels, m_Nearest);
    });
    this->PassOn(scene, m_Nearest);
  }

  /** After that, find the keys of the nearest voxels of other labels. */
  void
  FindOtherKeys(const CudaConnectednessScene & scene, Key * others)
  {
    CudaNearestLabels across = m_Nearest;
    across.keys = others;
    this->Launch([&](unsigned int blocks) {
      StartLeadsKernel<<<blocks, threads, 0, m_Outputs.stream>>>(scene, m_Nearest, others);
    });
    this->PassOn(scene, across);
  }

  /** Add the keys of a group of labels, and of the nearest others in the group, to those of other groups. If there is
   * no output of margins, there are none of others. */
  void
  AddGroup(const Key * groupOthers, Key * keys, Key * others)
  {
    this->Launch([&](unsigned int blocks) {
      AddGroupKernel<<<blocks, threads, 0, m_Outputs.stream>>>(
        m_Outputs.job.GetNumberOfVoxels(), m_Keys.data(), groupOthers, keys, others);
    });
  }

  /** Write the labels of these keys, and turn the keys of other labels into leads, if there are any. */
  template <typename TLabel>
  void
  Write(Key * keys, TLabel * labels, Key * others)
  {
    m_Nearest.keys = keys;
    const std::int64_t voxels = m_Outputs.job.GetNumberOfVoxels();
    this->Launch([&](unsigned int blocks) {
      WriteNearestLabelsKernel<<<blocks, threads, 0, m_Outputs.stream>>>(voxels, m_Nearest, labels);
    });
    if (others != nullptr)
    {
      this->Launch([&](unsigned int blocks) {
        WriteLeadsKernel<<<blocks, threads, 0, m_Outputs.stream>>>(voxels, m_Nearest, m_Distances.rankBits, others);
      });
    }
  }

  Key *
  GetKeys() const
  {
    return m_Keys.data();
  }

private:
  static constexpr unsigned int threads = CudaRelativeOutputs::threads;

  template <typename TLaunch>
  void
  Launch(const TLaunch & launch) const
  {
    m_Outputs.Launch(launch);
  }

  void
  PassOn(const CudaConnectednessScene & scene, const CudaNearestLabels & nearest)
  {
    // All that a block has without asking for more.
    constexpr std::size_t maxBytes = 48 * 1024;
    const CudaTileGrid    grid = MakeTileGrid(scene, contractTileBits, maxBytes / sizeof(Key));
    const std::size_t     bytes = grid.GetNumberOfLocalVoxels() * sizeof(Key);
    PrepareKernel(NearestLabelsKernel, contractThreads, bytes);
    SettleTiles(m_Outputs, grid, m_Report, [&](unsigned int blocks, const CudaTieTiles & tieTiles) {
      NearestLabelsKernel<<<blocks, contractThreads, bytes, m_Outputs.stream>>>(scene, grid, nearest, tieTiles);
    });
  }

  const CudaRelativeOutputs &            m_Outputs;
  CudaRelativeFuzzyConnectednessReport & m_Report;
  const TieDistances                     m_Distances;
  DeviceBuffer<std::uint16_t>            m_RankLabels;
  DeviceBuffer<std::uint16_t>            m_LabelRanks;
  DeviceBuffer<Key>                      m_Keys;
  DeviceBuffer<std::uint32_t>            m_Passing;
  CudaNearestLabels                      m_Nearest{};
};

/** Give voxels in the zone of ties the nearest label. If there is an output of margins, allocate and fill the leads. */
template <typename TKeys, typename TView, typename TLabel>
void
SettleTiesByDistance(const CudaRelativeOutputs & outputs, const CudaConnectednessScene & scene, const TView & view,
                     TLabel * labels, DeviceBuffer<CudaNearestLabels::Key> & leads,
                     CudaRelativeFuzzyConnectednessReport & report)
{
  CudaTieSettler settler(outputs, report);
  settler.FindKeys<true, TKeys>(scene, view, nullptr, labels);
  if (outputs.job.marginOutput != nullptr)
  {
    leads.Allocate(static_cast<std::size_t>(scene.numberOfVoxels), outputs.stream);
    settler.FindOtherKeys(scene, leads.data());
  }
  settler.Write(settler.GetKeys(), labels, leads.data());
}
} // namespace voxelmaps

#endif // CudaNearestLabels_cuh
