// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Progress_h
#define Progress_h

// The progress of the example programs.

#include "itkCommand.h"
#include "itkProcessObject.h"

#include <chrono>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#ifdef _WIN32
#  include <io.h>
#else
#  include <unistd.h>
#endif

namespace ProgramIO
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

/** Run a filter, and call a function with its progress in percent whenever it changes, from one thread at a time. */
inline void
UpdateWithObserver(itk::ProcessObject * process, const std::function<void(int)> & show)
{
  struct State
  {
    std::mutex mutex;
    int        shown{ -1 };
  };
  process->AddObserver(itk::ProgressEvent(), [=, state = std::make_shared<State>()](const itk::EventObject &) {
    // Progress may be reported by any thread of the filter.
    const std::lock_guard<std::mutex> lock(state->mutex);
    const int                         percent = static_cast<int>(100.0F * process->GetProgress());
    if (std::exchange(state->shown, percent) != percent)
    {
      show(percent);
    }
  });
  process->Update();
}

/** Run a filter with a bar on standard error. */
inline void
UpdateWithProgressBar(itk::ProcessObject * process)
{
  static constexpr std::size_t width = 50;
  const struct Eraser
  {
    ~Eraser() { std::cerr << '\r' << std::string(width + 8, ' ') << '\r' << std::flush; }
  } eraser;
  UpdateWithObserver(process, [](int percent) {
    const auto done = static_cast<std::size_t>(percent) * width / 100;
    std::cerr << "\r[" << std::string(done, '#') << std::string(width - done, '.') << "] " << std::setw(3) << percent
              << " %" << std::flush;
  });
}

/** Run a filter and print its progress on standard output as the Slicer Execution Model has it. */
inline void
UpdateWithProgressXML(itk::ProcessObject * process)
{
  const std::string name = std::string("<filter-name>") + process->GetNameOfClass() + "</filter-name>\n";
  const auto        start = std::chrono::steady_clock::now();
  std::cout << "<filter-start>\n" << name << "</filter-start>" << std::endl;
  UpdateWithObserver(process, [](int percent) {
    std::cout << "<filter-progress>" << percent / 100.0 << "</filter-progress>" << std::endl;
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::cout << "<filter-end>\n"
            << name << "<filter-time>" << seconds.count() << "</filter-time>\n</filter-end>" << std::endl;
}

/** Run a filter, with its progress as XML, or with a bar if standard error is a terminal. */
inline void
UpdateWithProgress(itk::ProcessObject * process, bool isQuiet, bool isXML)
{
  if (isXML)
  {
    UpdateWithProgressXML(process);
  }
  else if (!isQuiet && IsErrorOutputTerminal())
  {
    UpdateWithProgressBar(process);
  }
  else
  {
    process->Update();
  }
}
} // namespace ProgramIO

#endif // Progress_h
