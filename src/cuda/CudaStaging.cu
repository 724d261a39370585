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
#include "CudaStaging.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <vector>

namespace itk
{
namespace voxelmaps
{
struct CudaStaging::Piece
{
  PinnedBuffer memory{ pieceBytes };
};

namespace
{
// Page-locking 16 MB takes longer than copying them.
constexpr std::size_t mostKeptPieces = 4;

std::mutex &
KeptMutex()
{
  static std::mutex mutex;
  return mutex;
}

// Never destroyed: the driver may be gone by the end of the program, and takes the memory with it.
template <typename TPiece>
std::vector<std::unique_ptr<TPiece>> &
KeptPieces()
{
  static auto * pieces = new std::vector<std::unique_ptr<TPiece>>();
  return *pieces;
}
} // namespace

std::unique_ptr<CudaStaging::Piece>
CudaStaging::TakePiece()
{
  {
    const std::lock_guard<std::mutex> lock(KeptMutex());
    auto &                            kept = KeptPieces<Piece>();
    if (!kept.empty())
    {
      auto piece = std::move(kept.back());
      kept.pop_back();
      return piece;
    }
  }
  return std::make_unique<Piece>();
}

CudaStaging::CudaStaging(unsigned int numberOfWorkers, RunWorkers runWorkers)
  : m_NumberOfWorkers(numberOfWorkers)
  , m_RunWorkers(std::move(runWorkers))
{
  for (auto & piece : m_Pieces)
  {
    piece = TakePiece();
  }
}

CudaStaging::~CudaStaging()
{
  const std::lock_guard<std::mutex> lock(KeptMutex());
  auto &                            kept = KeptPieces<Piece>();
  for (auto & piece : m_Pieces)
  {
    if (piece && kept.size() < mostKeptPieces)
    {
      kept.push_back(std::move(piece));
    }
  }
}

void
CudaStaging::CopyByWorkers(void * to, const void * from, std::size_t bytes) const
{
  // Below this, waking threads takes longer than copying.
  constexpr std::size_t leastBytesPerWorker = std::size_t{ 128 } << 10;
  const auto workers = static_cast<unsigned int>(std::min<std::size_t>(m_NumberOfWorkers, bytes / leastBytesPerWorker));
  if (!m_RunWorkers || workers < 2)
  {
    std::memcpy(to, from, bytes);
    return;
  }
  m_RunWorkers(workers, [=](unsigned int worker) {
    const std::size_t first = bytes / workers * worker;
    const std::size_t last = worker + 1 == workers ? bytes : first + bytes / workers;
    std::memcpy(static_cast<char *>(to) + first, static_cast<const char *>(from) + first, last - first);
  });
}

void
CudaStaging::ToHost(void * host, const void * device, std::size_t bytes, cudaStream_t stream,
                    const std::function<void(std::size_t)> & afterPiece)
{
  // Small copies in pieces too, so that both kinds of copying overlap.
  const std::size_t step = std::min(pieceBytes, std::max<std::size_t>((bytes + 2) / 3, std::size_t{ 1 } << 20));
  const CudaEvent   arrived[2];
  const auto        request = [&](std::size_t first, int which) {
    const std::size_t size = std::min(step, bytes - first);
    CheckCuda(cudaMemcpyAsync(m_Pieces[which]->memory.data(),
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
      this->CopyByWorkers(static_cast<char *>(host) + first, m_Pieces[which]->memory.data(), size);
      afterPiece(size);
    }
  }
  catch (...)
  {
    // The device may still be writing to the pieces, which go back to the next user.
    cudaStreamSynchronize(stream);
    throw;
  }
}
} // namespace voxelmaps
} // namespace itk
