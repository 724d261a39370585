// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ItkWithClang_h
#define ItkWithClang_h

// Included before all other headers. CMake writes itk_compiler_detection.h of ITK 5.2 for the compiler that builds ITK;
// that of Debian's package stops at any compiler but GCC, although ITK itself compiles with Clang.
#if __has_include("itk_compiler_detection.h")
#  pragma push_macro("__clang__")
#  pragma push_macro("__GNUC__")
#  undef __clang__
#  undef __GNUC__
#  define __GNUC__ 12
#  include "itk_compiler_detection.h"
#  pragma pop_macro("__GNUC__")
#  pragma pop_macro("__clang__")
#endif

#endif // ItkWithClang_h
