// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "TemporaryFolder.h"
#include "io/Process.h"
#include "io/Text.h"

#include "itkObject.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{
namespace fs = std::filesystem;
using ProgramIO::CallReader;

/** The message of a reader that throws or prints; empty if it succeeds. */
std::string
Read(const std::function<void()> & read)
{
  try
  {
    CallReader("x", read);
  }
  catch (const std::runtime_error & error)
  {
    return error.what();
  }
  return {};
}

/** Call a function in a process of its own, and return how that ends. */
int
RunInProcess(const std::function<void()> & run)
{
  const pid_t process = fork();
  if (process == 0)
  {
    // The tests may run under nohup.
    std::signal(SIGHUP, SIG_DFL);
    run();
    _exit(0);
  }
  int status = 0;
  waitpid(process, &status, 0);
  return status;
}

/** Send a signal to this process, and wait for its end. */
void
Request(int number)
{
  kill(getpid(), number);
  std::this_thread::sleep_for(std::chrono::seconds(20));
}
} // namespace

TEST(ProcessTest, WhatAReaderThrowsOrPrintsIsAnErrorUnlessItIsAWarning)
{
  EXPECT_EQ(Read([] {}), "");
  EXPECT_EQ(Read([] { std::cerr << "\n  no data\nmore\n"; }), "cannot read 'x': no data");
  EXPECT_EQ(Read([] { std::puts("on standard output"); }), "cannot read 'x': on standard output");
  EXPECT_EQ(Read([] { std::fputs("** WARNING: odd\n\n", stderr); }), "");
  EXPECT_EQ(Read([] { std::cerr << std::string(1 << 20, 'x'); }).substr(0, 20), "cannot read 'x': xxx");
  EXPECT_EQ(Read([] {
              std::cerr << "printed\n";
              itkGenericExceptionMacro("wrong  magic");
            }),
            "cannot read 'x': wrong magic");
  EXPECT_EQ(Read([] { throw std::length_error("vector"); }), "cannot read 'x': vector");
  EXPECT_EQ(ProgramIO::FindLibraryError("WARNING: In a.cxx, line 3\nX (0x1): odd\n\nno data\n"), "no data");
  EXPECT_TRUE(std::cout && std::cerr);
}

TEST(ProcessTest, PrintsWhatLibrariesPrintIfAsked)
{
  const auto read = [] { CallReader("x", [] { std::cerr << "warning: odd\n"; }); };
  testing::internal::CaptureStderr();
  read();
  std::cerr << "between\n";
  ProgramIO::SetLibrariesVerbose(true);
  read();
  EXPECT_EQ(Read([] { itkGenericOutputMacro("a remark"); }), "");
  ProgramIO::SetLibrariesVerbose(false);
  const auto printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(printed.find("between\nwarning: odd\n"), 0U);
  EXPECT_NE(printed.find("a remark"), std::string::npos);
}

TEST(ProcessTest, RequestsToEndWait)
{
  const TemporaryFolder folder;
  const int             status = RunInProcess([&] {
    ProgramIO::PrepareProcess();
    {
      const auto lock = ProgramIO::DeferRequestsToEnd();
      kill(getpid(), SIGTERM);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      std::ofstream(folder.Get("done")) << "text";
    }
    Request(SIGTERM);
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  EXPECT_TRUE(fs::exists(folder.Get("done")));
}

TEST(ProcessTest, IgnoredRequestsStayIgnored)
{
  const int status = RunInProcess([] {
    std::signal(SIGHUP, SIG_IGN);
    ProgramIO::PrepareProcess();
    // A closed pipe and a file that becomes too large are errors of a write.
    for (const int number : { SIGHUP, SIGPIPE, SIGXFSZ })
    {
      kill(getpid(), number);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    _exit(6);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 6);
}

TEST(TextTest, LongMessagesLoseTheirMiddle)
{
  const auto getMessage = [](const std::string & text) {
    return ProgramIO::GetOneLineMessage(std::runtime_error(text));
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
  EXPECT_EQ(ProgramIO::GetOneLineMessage(std::runtime_error("a\x1B[31mb\x7F\n c")), "a?[31mb? c");
}
