// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaNodeLinks_cuh
#define CudaNodeLinks_cuh

#include "CudaNodeGraph.cuh"

namespace voxelmaps
{
/** What a round leaves. */
struct NodeRound
{
  std::uint32_t numberOfLinks; // between different components before the round
  unsigned int  merged;        // whether the round has merged any
};

/** Called by all threads of a block: reserve places at the end of a list for the threads with a true condition. Returns
 * the place of this thread. */
inline __device__ std::uint32_t
                  Append(std::uint32_t * size, bool condition)
{
  __shared__ std::uint32_t count;
  __shared__ std::uint32_t first;
  if (threadIdx.x == 0)
  {
    count = 0;
  }
  __syncthreads();
  const std::uint32_t at = CountUp(&count, condition);
  __syncthreads();
  if (threadIdx.x == 0)
  {
    first = count != 0 ? atomicAdd(size, count) : 0;
  }
  __syncthreads();
  return first + at;
}

/** Call f(i, whether i is less than count) for the items of this thread, with all threads of a block at a time. */
template <typename TFunction>
inline __device__ void
ForEachInBlocks(std::uint32_t count, const TFunction & f)
{
  const std::uint64_t step = std::uint64_t{ gridDim.x } * blockDim.x;
  for (std::uint64_t first = std::uint64_t{ blockIdx.x } * blockDim.x; first < count; first += step)
  {
    const std::uint64_t i = first + threadIdx.x;
    f(static_cast<std::uint32_t>(i), i < count);
  }
}

/** Offer links to the components at both ends, and keep those between different components, seeds or not. */
static __global__ void
OfferListedLinksKernel(NodeGraph graph, const ComponentLink * links, const NodeRound * before, ComponentLink * kept,
                       NodeRound * after)
{
  ForEachInBlocks(before->numberOfLinks, [&](std::uint32_t i, bool isLink) {
    ComponentLink link{ 0, 0, noKey };
    if (isLink)
    {
      link = links[i];
      link.a = graph.roots[link.a];
      link.b = graph.roots[link.b];
    }
    const bool isOpen = link.a != link.b;
    if (isOpen)
    {
      OfferTo(graph, link.a, link.b, link.key);
      OfferTo(graph, link.b, link.a, link.key);
    }
    const std::uint32_t at = Append(&after->numberOfLinks, isOpen);
    if (isOpen)
    {
      kept[at] = link;
    }
  });
}

/** After PointKernel: list the links along which roots point. Between roots, paths of these links are as strong as
 * those of all links, as keys do not get weaker on the way from the end of a link to the root of its component. */
static __global__ void
ListPointersKernel(NodeGraph graph, ComponentLink * pointers, std::uint32_t * numberOfPointers)
{
  ForEachInBlocks(graph.numberOfNodes, [&](std::uint32_t n, bool isNode) {
    const bool          points = isNode && graph.roots[n] == n && graph.parents[n] != n;
    const std::uint32_t at = Append(numberOfPointers, points);
    if (points)
    {
      pointers[at] = { n, graph.parents[n], graph.keys[n] };
    }
  });
}
} // namespace voxelmaps

#endif // CudaNodeLinks_cuh
