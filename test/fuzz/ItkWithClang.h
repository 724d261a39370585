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
