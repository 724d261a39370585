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

/** Set a field of a struct, and get a value. NaN is the same value as NaN. */
#define VoxelMapsSetGetValueMacro(name, type, field, value)                                                            \
  virtual void Set##name(const type & newValue)                                                                        \
  {                                                                                                                    \
    itkDebugMacro("setting " #name);                                                                                   \
    if (field != newValue && !(field != field && newValue != newValue))                                                \
    {                                                                                                                  \
      field = newValue;                                                                                                \
      this->Modified();                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  virtual type Get##name() const                                                                                       \
  {                                                                                                                    \
    return value;                                                                                                      \
  }                                                                                                                    \
  ITK_MACROEND_NOOP_STATEMENT

/** Set and get a parameter that is a field of a struct. */
#define VoxelMapsSetGetMacro(name, type, field) VoxelMapsSetGetValueMacro(name, type, field, field)

#endif // itkVoxelMapsCompatibility_h
