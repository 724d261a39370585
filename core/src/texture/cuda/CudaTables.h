// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef CudaTables_h
#define CudaTables_h

#include "cuda/CudaContext.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace voxelmaps
{
/** Tables of a task in device memory, one after the other. */
class CudaTables
{
public:
  /** Add a table; Upload lets the pointer point to it. */
  template <typename T>
  void
  Add(const std::vector<T> & values, const T *& onDevice)
  {
    // Also for loads of vectors.
    constexpr std::size_t alignment = 16;
    static_assert(alignment % alignof(T) == 0, "all tables are aligned alike");
    const std::size_t begin = m_Bytes.size();
    const std::size_t bytes = values.size() * sizeof(T);
    const auto *      from = reinterpret_cast<const char *>(values.data());
    m_Bytes.insert(m_Bytes.end(), from, from + bytes);
    m_Bytes.resize((m_Bytes.size() + alignment - 1) / alignment * alignment);
    m_Pointers.push_back(
      [begin, &onDevice](const char * table) { onDevice = reinterpret_cast<const T *>(table + begin); });
  }

  std::uint64_t
  GetBytes() const
  {
    return m_Bytes.size();
  }

  /** Copy the tables to the current device, where they stay as long as this object. */
  void
  Upload()
  {
    if (m_Bytes.empty())
    {
      return;
    }
    m_Table = CudaContext::Current().GetTable(m_Bytes);
    for (const auto & point : m_Pointers)
    {
      point(static_cast<const char *>(m_Table.get()));
    }
  }

  /** To be called after the kernels if the job does not wait for them. */
  void
  KeepUntilDone(cudaStream_t stream)
  {
    if (m_Table != nullptr)
    {
      CudaContext::Current().KeepTable(m_Table, stream);
    }
  }

private:
  std::vector<char>                              m_Bytes;
  std::vector<std::function<void(const char *)>> m_Pointers;
  std::shared_ptr<const void>                    m_Table;
};
} // namespace voxelmaps

#endif // CudaTables_h
