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
#include "cuda/CudaStaging.h"

#include "common/ParallelFor.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <vector>

namespace itk
{
namespace voxelmaps
{
struct CudaStaging::Chunk
{
  PinnedBuffer memory{ chunkBytes };
};

namespace
{
// Page-locking 16 MB takes longer than copying them.
constexpr std::size_t maxKeptChunks = 4;

std::mutex &
KeptMutex()
{
  static std::mutex mutex;
  return mutex;
}

// Never destroyed: the driver may be gone by the end of the program, and takes the memory with it.
template <typename TChunk>
std::vector<std::unique_ptr<TChunk>> &
KeptChunks()
{
  static auto * chunks = new std::vector<std::unique_ptr<TChunk>>();
  return *chunks;
}
} // namespace

std::unique_ptr<CudaStaging::Chunk>
CudaStaging::TakeChunk()
{
  {
    const std::lock_guard<std::mutex> lock(KeptMutex());
    auto &                            kept = KeptChunks<Chunk>();
    if (!kept.empty())
    {
      auto chunk = std::move(kept.back());
      kept.pop_back();
      return chunk;
    }
  }
  return std::make_unique<Chunk>();
}

CudaStaging::CudaStaging(const JobExecution & execution)
  : m_Execution(execution)
{
  for (auto & chunk : m_Chunks)
  {
    chunk = TakeChunk();
  }
}

CudaStaging::~CudaStaging()
{
  const std::lock_guard<std::mutex> lock(KeptMutex());
  auto &                            kept = KeptChunks<Chunk>();
  for (auto & chunk : m_Chunks)
  {
    if (chunk && kept.size() < maxKeptChunks)
    {
      kept.push_back(std::move(chunk));
    }
  }
}

void
CudaStaging::CopyByWorkers(void * to, const void * from, std::size_t bytes) const
{
  // Below this, waking threads takes longer than copying.
  constexpr std::int64_t minBytesPerWorker = std::int64_t{ 128 } << 10;
  ForEachRange(
    static_cast<std::int64_t>(bytes), minBytesPerWorker, m_Execution, [=](std::int64_t begin, std::int64_t end) {
      std::memcpy(static_cast<char *>(to) + begin,
                  static_cast<const char *>(from) + begin,
                  static_cast<std::size_t>(end - begin));
    });
}

void
CudaStaging::ToHost(void * host, const void * device, std::size_t bytes, cudaStream_t stream,
                    const std::function<void(std::size_t)> & afterChunk)
{
  // Small copies in chunks too, so that both kinds of copying overlap.
  const std::size_t step = std::min(chunkBytes, std::max<std::size_t>((bytes + 2) / 3, std::size_t{ 1 } << 20));
  const CudaEvent   arrived[2];
  const auto        request = [&](std::size_t first, int which) {
    const std::size_t size = std::min(step, bytes - first);
    CheckCuda(cudaMemcpyAsync(m_Chunks[which]->memory.data(),
                              static_cast<const char *>(device) + first,
                              size,
                              cudaMemcpyDeviceToHost,
                              stream),
              "copying to the host");
    arrived[which].Record(stream);
  };
  try
  {
    int which = 0;
    if (bytes > 0)
    {
      request(0, which);
    }
    for (std::size_t first = 0; first < bytes; first += step, which = 1 - which)
    {
      if (first + step < bytes)
      {
        request(first + step, 1 - which);
      }
      arrived[which].Synchronize();
      const std::size_t size = std::min(step, bytes - first);
      this->CopyByWorkers(static_cast<char *>(host) + first, m_Chunks[which]->memory.data(), size);
      afterChunk(size);
    }
  }
  catch (...)
  {
    // The device may still be writing to the chunks, which go back to the next user.
    cudaStreamSynchronize(stream);
    throw;
  }
}
} // namespace voxelmaps
} // namespace itk
