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
#ifndef CudaStaging_h
#define CudaStaging_h

#include "CudaMemory.h"
#include "CudaStream.h"

#include <cstddef>
#include <functional>
#include <memory>

namespace itk
{
namespace voxelmaps
{
/** Copies between ordinary host memory and the device by way of page-locked memory: while one piece is copied by the
 * device, the former one is copied by host threads. The page-locked memory is kept for the next copy of the program. */
class CudaStaging
{
public:
  using RunWorkers = std::function<void(unsigned int, const std::function<void(unsigned int)> &)>;

  CudaStaging(unsigned int numberOfWorkers, RunWorkers runWorkers);
  ~CudaStaging();

  /** Copy to host memory what lies in device memory after the work so far in the stream; afterPiece is called with the
   * number of bytes that have arrived. Returns as everything has. */
  void
  ToHost(void * host, const void * device, std::size_t bytes, cudaStream_t stream,
         const std::function<void(std::size_t)> & afterPiece);

  /** Bytes of host memory that are page-locked at a time. */
  static constexpr std::size_t pieceBytes = std::size_t{ 16 } << 20;

private:
  struct Piece;
  static std::unique_ptr<Piece>
  TakePiece();

  void
  CopyByWorkers(void * to, const void * from, std::size_t bytes) const;

  unsigned int           m_NumberOfWorkers;
  RunWorkers             m_RunWorkers;
  std::unique_ptr<Piece> m_Pieces[2];
};
} // namespace voxelmaps
} // namespace itk

#endif // CudaStaging_h
