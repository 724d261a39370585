// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef TemporaryFolder_h
#define TemporaryFolder_h

// A folder for the files of a test.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

/** A new folder, which is removed with what it contains. */
class TemporaryFolder
{
public:
  TemporaryFolder()
  {
    const auto * test = testing::UnitTest::GetInstance()->current_test_info();
    m_Path = std::filesystem::absolute(std::string("files-of-") + test->test_suite_name() + "." + test->name());
    std::filesystem::remove_all(m_Path);
    std::filesystem::create_directories(m_Path);
  }

  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &
  operator=(const TemporaryFolder &) = delete;

  ~TemporaryFolder()
  {
    std::error_code error;
    std::filesystem::remove_all(m_Path, error);
  }

  std::filesystem::path
  Get(const std::string & name) const
  {
    return m_Path / name;
  }

  /** Write a file and return its name. */
  std::string
  Write(const std::string & name, const std::string & contents) const
  {
    std::ofstream(this->Get(name), std::ios::binary) << contents;
    return this->Get(name).string();
  }

private:
  std::filesystem::path m_Path;
};

#endif // TemporaryFolder_h
