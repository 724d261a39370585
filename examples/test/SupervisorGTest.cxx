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
#include "TemporaryFolder.h"
#include "io/Supervisor.h"
#include "io/Text.h"

#include "itkObject.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{
using ExampleIO::CallReader;
using ExampleIO::RunSupervised;

/** What RunSupervised returns and prints. */
struct Outcome
{
  int         code;
  std::string error;
};

Outcome
Supervise(const std::function<int()> & run)
{
  testing::internal::CaptureStderr();
  const int code = RunSupervised("Program", run);
  return { code, testing::internal::GetCapturedStderr() };
}

/** The message of the exception that a function throws; empty if it throws none. */
std::string
GetMessage(const std::function<void()> & call)
{
  try
  {
    call();
  }
  catch (const std::runtime_error & error)
  {
    return error.what();
  }
  return {};
}

/** Call a function in a process of its own, which it never leaves. */
pid_t
Fork(const std::function<void()> & run)
{
  const pid_t process = fork();
  if (process == 0)
  {
    run();
    _exit(0);
  }
  return process;
}

class SupervisorTest : public testing::Test
{
protected:
  void
  SetUp() override
  {
    unsetenv("VOXELMAPS_SUPERVISE");
  }
  void
  TearDown() override
  {
    ExampleIO::SetReadersVerbose(false);
  }
};
} // namespace

TEST_F(SupervisorTest, ReturnsTheExitCode)
{
  for (const int code : { 0, 1, 7 })
  {
    const auto outcome = Supervise([code] { return code; });
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.error, "");
  }
}

TEST_F(SupervisorTest, RunsInAChildUnlessTurnedOff)
{
  const pid_t here = getpid();
  EXPECT_EQ(Supervise([here] { return getpid() == here ? 3 : 4; }).code, 4);
  setenv("VOXELMAPS_SUPERVISE", "0", 1);
  EXPECT_EQ(Supervise([here] { return getpid() == here ? 3 : 4; }).code, 3);
}

TEST_F(SupervisorTest, ExplainsTheSignalThatEndedTheChild)
{
  auto outcome = Supervise([]() -> int { std::abort(); });
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.error, "Program: the program failed (Aborted)\n");
  outcome = Supervise([] { return raise(SIGKILL); });
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.error, "Program: the program failed (Killed); perhaps there was not enough memory\n");
}

TEST_F(SupervisorTest, NamesTheFileWhoseReaderEndsTheProgram)
{
  auto outcome = Supervise([] {
    CallReader("x.png", [] {
      std::cerr << "words\n";
      std::abort();
    });
    return 0;
  });
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.error, "Program: cannot read 'x.png': ITK's reader failed (Aborted)\n");
  outcome = Supervise([] {
    ExampleIO::CallWriter("x.png", [] { std::exit(0); });
    return 0;
  });
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.error, "Program: cannot write 'x.png': ITK's writer ended the program\n");
}

TEST_F(SupervisorTest, LimitsTheTimeOfReadersOnly)
{
  auto outcome = Supervise([] {
    CallReader("x.mha", [] {}, 0.1);
    const auto end = std::clock() + CLOCKS_PER_SEC / 4;
    while (std::clock() < end)
    {
    }
    return 5;
  });
  EXPECT_EQ(outcome.code, 5);
  // What it prints for ever fills no memory.
  outcome = Supervise([] {
    CallReader(
      "x.mha",
      [] {
        while (true)
        {
          std::fputs("again\n", stderr);
        }
      },
      0.25);
    return 0;
  });
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.error, "Program: cannot read 'x.mha': ITK's reader took too much time\n");
}

TEST_F(SupervisorTest, WhatAReaderPrintsIsAnErrorUnlessItIsAWarning)
{
  EXPECT_EQ(GetMessage([] { CallReader("x", [] { std::cerr << "\n  no data\nmore\n"; }); }),
            "cannot read 'x': no data");
  EXPECT_EQ(GetMessage([] { CallReader("x", [] { std::puts("on standard output"); }); }),
            "cannot read 'x': on standard output");
  EXPECT_EQ(GetMessage([] { CallReader("x", [] { std::fputs("** WARNING: odd\n\n", stderr); }); }), "");
  EXPECT_EQ(GetMessage([] { CallReader("x", [] {}); }), "");
}

TEST_F(SupervisorTest, WarningsOfITKAreWarnings)
{
  ExampleIO::SetReadersVerbose(true);
  testing::internal::CaptureStderr();
  EXPECT_EQ(GetMessage([] { CallReader("x", [] { itkGenericOutputMacro("a remark"); }); }), "");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("a remark"), std::string::npos);
  EXPECT_EQ(ExampleIO::FindReaderError("WARNING: In a.cxx, line 3\nX (0x1): odd\n\nno data\n"), "no data");
}

TEST_F(SupervisorTest, ExceptionsOfReadersNameTheFile)
{
  EXPECT_EQ(GetMessage([] {
              CallReader("x", [] {
                std::cerr << "printed\n";
                itkGenericExceptionMacro("wrong  magic");
              });
            }),
            "cannot read 'x': wrong magic");
  EXPECT_EQ(GetMessage([] { CallReader("x", [] { throw std::length_error("vector"); }); }), "cannot read 'x': vector");
}

TEST_F(SupervisorTest, PrintsWhatReadersPrintIfAsked)
{
  const auto read = [] { CallReader("x", [] { std::cerr << "warning: odd\n"; }); };
  testing::internal::CaptureStderr();
  read();
  std::cerr << "between\n";
  ExampleIO::SetReadersVerbose(true);
  read();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "between\nwarning: odd\n");

  const auto outcome = Supervise([] {
    ExampleIO::SetReadersVerbose(true);
    CallReader("x", [] {
      std::cerr << "one\ntwo\n";
      std::abort();
    });
    return 0;
  });
  EXPECT_EQ(outcome.error, "one\ntwo\nProgram: cannot read 'x': ITK's reader failed (Aborted)\n");
}

TEST_F(SupervisorTest, ClosedStandardStreamsStayFree)
{
  const pid_t process = Fork([] {
    close(0);
    close(1);
    close(2);
    _exit(RunSupervised("Program", [] {
      CallReader("x", [] { std::cerr << "warning\n"; });
      return open("/dev/null", O_RDWR) > 2 ? 9 : 8;
    }));
  });
  int         status = 0;
  waitpid(process, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 9);
}

TEST_F(SupervisorTest, RemovesFoldersOfAKilledChild)
{
  const TemporaryFolder folder;
  const auto            removed = folder.Get("removed");
  const auto            kept = folder.Get("kept");
  for (const auto & name : { removed, kept })
  {
    std::filesystem::create_directories(name / "inside");
    std::ofstream(name / "inside" / "file") << "text";
  }
  Supervise([&] {
    ExampleIO::RemoveFolderIfKilled(kept);
    ExampleIO::RemoveFolderIfKilled(removed);
    ExampleIO::KeepFolderIfKilled(kept);
    return raise(SIGKILL);
  });
  EXPECT_FALSE(std::filesystem::exists(removed));
  EXPECT_TRUE(std::filesystem::exists(kept / "inside" / "file"));
}

/** Run a program in a process of its own that works in a folder until it is ended, and end it. Returns how it ended. */
int
EndWhileItWorks(int number, const std::filesystem::path & work)
{
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t process = Fork([&] {
    // The tests may run under nohup.
    std::signal(number, SIG_DFL);
    RunSupervised("Program", [&] {
      ExampleIO::RemoveFolderIfKilled(work);
      std::filesystem::create_directories(work);
      close(ready[0]);
      return write(ready[1], "x", 1) == 1 ? pause() : 1;
    });
  });
  close(ready[1]);
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  kill(process, number);
  int status = 0;
  waitpid(process, &status, 0);
  // The child, which held the other end of the pipe, ends too.
  EXPECT_EQ(read(ready[0], &byte, 1), 0);
  close(ready[0]);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_F(SupervisorTest, RequestsToEndReachTheChild)
{
  for (const int number : { SIGTERM, SIGINT, SIGHUP, SIGXCPU })
  {
    const TemporaryFolder folder;
    EXPECT_EQ(EndWhileItWorks(number, folder.Get("work")), number);
    EXPECT_FALSE(std::filesystem::exists(folder.Get("work")));
  }
}

#ifdef __linux__
TEST_F(SupervisorTest, TheChildEndsWithItsParent)
{
  const TemporaryFolder folder;
  EXPECT_EQ(EndWhileItWorks(SIGKILL, folder.Get("work")), SIGKILL);
}
#endif

TEST_F(SupervisorTest, IgnoredRequestsStayIgnored)
{
  const pid_t process = Fork([] {
    std::signal(SIGHUP, SIG_IGN);
    const pid_t parent = getpid();
    _exit(RunSupervised("Program", [parent] {
      kill(parent, SIGHUP);
      raise(SIGHUP);
      return 6;
    }));
  });
  int         status = 0;
  waitpid(process, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 6);
}

TEST(TextTest, LongMessagesLoseTheirMiddle)
{
  const auto getMessage = [](const std::string & text) {
    return ExampleIO::GetOneLineMessage(std::runtime_error(text));
  };
  EXPECT_EQ(getMessage(std::string(300, 'x')), std::string(300, 'x'));
  const std::string cut = getMessage("begin" + std::string(5000, 'x') + "end");
  EXPECT_EQ(cut, "begin" + std::string(195, 'x') + " ... " + std::string(92, 'x') + "end");

  // No character of UTF-8 is cut.
  std::string umlauts = "x";
  for (int i = 0; i < 400; ++i)
  {
    umlauts += "\xC3\xA4";
  }
  const std::string text = getMessage(umlauts);
  EXPECT_LE(text.size(), 300U);
  EXPECT_EQ(text.find(" ... "), 199U);
  EXPECT_EQ(text[199 + 5], '\xC3');
}

TEST(TextTest, ControlCharactersAreReplaced)
{
  EXPECT_EQ(ExampleIO::GetOneLineMessage(std::runtime_error("a\x1B[31mb\x7F\n c")), "a?[31mb? c");
}
