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
#include "io/TemporaryFolders.h"
#include "io/Text.h"

#include "itkObject.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
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
  EXPECT_EQ(outcome.error, "Program: ended by signal 6 (Aborted)\n");

  outcome = Supervise([] { return raise(SIGKILL); });
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.error, "Program: ended by signal 9 (Killed); perhaps there was not enough memory\n");
}

TEST_F(SupervisorTest, NamesTheFileWhoseReaderAborts)
{
  auto outcome = Supervise([] {
    CallReader("x.png", [] {
      std::cerr << "first\nlast words\n\n";
      std::abort();
    });
    return 0;
  });
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.error, "Program: cannot read 'x.png': ITK's reader failed (Aborted): last words\n");

  outcome = Supervise([] {
    CallReader("x.png", [] { std::abort(); });
    return 0;
  });
  EXPECT_EQ(outcome.error, "Program: cannot read 'x.png': ITK's reader failed (Aborted)\n");
}

TEST_F(SupervisorTest, NamesTheFileWhoseReaderExits)
{
  const auto outcome = Supervise([] {
    CallReader("x.jpg", [] {
      std::fputs("bad marker\n", stderr);
      std::exit(0);
    });
    return 0;
  });
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.error, "Program: cannot read 'x.jpg': ITK's reader ended the program: bad marker\n");
}

TEST_F(SupervisorTest, EndsAReaderThatLoops)
{
  const auto outcome = Supervise([] {
    CallReader(
      "x.mha",
      [] {
        for (volatile unsigned int i = 0;; i = i + 1)
        {
        }
      },
      0.25);
    return 0;
  });
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.error, "Program: cannot read 'x.mha': the reader did not end within 0.25 s\n");
}

TEST_F(SupervisorTest, LimitsTheTimeOfReadersOnly)
{
  const auto outcome = Supervise([] {
    CallReader("x.mha", [] {}, 0.1);
    const auto end = std::clock() + CLOCKS_PER_SEC / 4;
    while (std::clock() < end)
    {
    }
    return 5;
  });
  EXPECT_EQ(outcome.code, 5);
  EXPECT_EQ(ExampleIO::GetReadingTimeLimit(), 60.0);
  EXPECT_EQ(ExampleIO::GetReadingTimeLimit(3e9), 3060.0);
}

TEST_F(SupervisorTest, AReaderThatPrintsInALoopDoesNotFillTheMemory)
{
  const auto outcome = Supervise([] {
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
  EXPECT_EQ(outcome.error.find("Program: cannot read 'x.mha': the reader did not end within 0.25 s: aga"), 0U)
    << outcome.error;
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
  EXPECT_EQ(outcome.error, "one\ntwo\nProgram: cannot read 'x': ITK's reader failed (Aborted): two\n");
}

TEST_F(SupervisorTest, RestoresTheStandardStreams)
{
  struct stat before[2];
  struct stat after[2];
  fstat(1, &before[0]);
  fstat(2, &before[1]);
  CallReader("x", [&before] {
    struct stat inside;
    fstat(2, &inside);
    EXPECT_NE(inside.st_ino, before[1].st_ino);
  });
  fstat(1, &after[0]);
  fstat(2, &after[1]);
  EXPECT_EQ(before[0].st_ino, after[0].st_ino);
  EXPECT_EQ(before[1].st_ino, after[1].st_ino);
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

TEST_F(SupervisorTest, RefusesTooManyFolders)
{
  const auto outcome = Supervise([] {
    for (int i = 0; i < 64; ++i)
    {
      ExampleIO::RemoveFolderIfKilled("no folder " + std::to_string(i));
    }
    if (GetMessage([] { ExampleIO::RemoveFolderIfKilled("one more"); }) != "there are more than 64 temporary folders")
    {
      return 1;
    }
    ExampleIO::KeepFolderIfKilled("no folder 5");
    ExampleIO::RemoveFolderIfKilled("one more");
    return GetMessage([] { ExampleIO::RemoveFolderIfKilled("/" + std::string(4096, 'x')); }).empty() ? 2 : 0;
  });
  EXPECT_EQ(outcome.code, 0);
}

TEST_F(SupervisorTest, RequestsToEndReachTheChild)
{
  for (const int request : { SIGTERM, SIGINT, SIGHUP })
  {
    const TemporaryFolder folder;
    const auto            work = folder.Get("work");
    int                   ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t process = Fork([&] {
      // The tests may run under nohup.
      std::signal(request, SIG_DFL);
      RunSupervised("Program", [&] {
        std::filesystem::create_directories(work);
        ExampleIO::RemoveFolderIfKilled(work);
        close(ready[0]);
        if (write(ready[1], "x", 1) == 1)
        {
          pause();
        }
        return 0;
      });
    });
    close(ready[1]);
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    EXPECT_TRUE(std::filesystem::exists(work));
    kill(process, request);
    int status = 0;
    waitpid(process, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), request);
    EXPECT_FALSE(std::filesystem::exists(work));
    // The child held the other end of the pipe.
    EXPECT_EQ(read(ready[0], &byte, 1), 0);
    close(ready[0]);
  }
}

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

#ifdef __linux__
TEST_F(SupervisorTest, TheChildEndsWithItsParent)
{
  // A thread that still writes must not make the removal of the folder fail, whenever it happens.
  for (int repetition = 0; repetition < 20; ++repetition)
  {
    const TemporaryFolder folder;
    const auto            work = folder.Get("work");
    int                   ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t process = Fork([&] {
      RunSupervised("Program", [&] {
        std::filesystem::create_directories(work);
        ExampleIO::RemoveFolderIfKilled(work);
        close(ready[0]);
        std::thread([&work] {
          for (int i = 0;; ++i)
          {
            std::ofstream(work / std::to_string(i)) << "text";
          }
        }).detach();
        if (write(ready[1], "x", 1) == 1)
        {
          pause();
        }
        return 0;
      });
    });
    close(ready[1]);
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    EXPECT_TRUE(std::filesystem::exists(work));
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
    // End of file, since the processes that this one started held the other end.
    EXPECT_EQ(read(ready[0], &byte, 1), 0);
    EXPECT_FALSE(std::filesystem::exists(work));
    close(ready[0]);
  }
}

TEST_F(SupervisorTest, ALimitOfFileSizesIsNamed)
{
  const TemporaryFolder folder;
  const auto            outcome = Supervise([&folder] {
    const rlimit limit{ 100, 100 };
    setrlimit(RLIMIT_FSIZE, &limit);
    // The same again, below the limit, as a program would start.
    return RunSupervised("Program", [&folder] {
      CallReader("x", [] {});
      folder.Write("large", std::string(100000, 'x'));
      return 0;
    });
  });
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.error, "Program: ended by signal 25 (File size limit exceeded)\n");
}
#endif

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
