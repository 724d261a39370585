// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkVoxelMapsCompatibility_h
#define itkVoxelMapsCompatibility_h

#include "itkMacro.h"

// ITK 5.2.1 (Debian 12) lacks this macro of ITK 5.4 and 6.
#ifndef itkOverrideGetNameOfClassMacro
#  define itkOverrideGetNameOfClassMacro(thisClass)                                                                    \
    const char * GetNameOfClass() const override                                                                       \
    {                                                                                                                  \
      return #thisClass;                                                                                               \
    }                                                                                                                  \
    ITK_MACROEND_NOOP_STATEMENT
#endif

#ifndef ITK_MACROEND_NOOP_STATEMENT
#  define ITK_MACROEND_NOOP_STATEMENT static_assert(true, "")
#endif

#endif // itkVoxelMapsCompatibility_h
