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
#ifndef ExampleProgress_h
#define ExampleProgress_h

// A progress bar for the example programs.

#include "itkCommand.h"
#include "itkProcessObject.h"

#include <iomanip>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>

#ifdef _WIN32
#  include <io.h>
#else
#  include <unistd.h>
#endif

namespace ExampleIO
{
inline bool
IsErrorOutputTerminal()
{
#ifdef _WIN32
  return _isatty(2) != 0;
#else
  return isatty(2) != 0;
#endif
}

/** A bar on standard error that shows the progress of one filter. */
class ProgressBar
{
public:
  explicit ProgressBar(itk::ProcessObject * process)
    : m_Process(process)
  {
    m_Tag = process->AddObserver(itk::ProgressEvent(), [this](const itk::EventObject &) { this->Show(); });
  }

  ProgressBar(const ProgressBar &) = delete;
  ProgressBar &
  operator=(const ProgressBar &) = delete;

  ~ProgressBar()
  {
    m_Process->RemoveObserver(m_Tag);
    std::cerr << '\r' << std::string(m_Width + 8, ' ') << '\r' << std::flush;
  }

private:
  void
  Show()
  {
    // Progress may be reported by any thread of the filter.
    const std::lock_guard<std::mutex> lock(m_Mutex);
    const int                         percent = static_cast<int>(100.0F * m_Process->GetProgress());
    if (percent != m_Percent)
    {
      m_Percent = percent;
      const auto done = static_cast<std::size_t>(percent) * m_Width / 100;
      std::cerr << "\r[" << std::string(done, '#') << std::string(m_Width - done, '.') << "] " << std::setw(3)
                << percent << " %" << std::flush;
    }
  }

  static constexpr std::size_t m_Width{ 50 };
  itk::ProcessObject *         m_Process;
  unsigned long                m_Tag{ 0 };
  std::mutex                   m_Mutex;
  int                          m_Percent{ -1 };
};

/** Run a filter, with a progress bar if standard error is a terminal. */
inline void
UpdateWithProgress(itk::ProcessObject * process, bool isQuiet)
{
  std::unique_ptr<ProgressBar> bar;
  if (!isQuiet && IsErrorOutputTerminal())
  {
    bar = std::make_unique<ProgressBar>(process);
  }
  process->Update();
}
} // namespace ExampleIO

#endif // ExampleProgress_h
