// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

// libFuzzer calls it once, by this name.
extern "C" int
LLVMFuzzerInitialize(int *, char ***)
{
  // An expectation of GoogleTest that fails ends the run, so that libFuzzer stores the input.
  GTEST_FLAG_SET(break_on_failure, true);
  return 0;
}
