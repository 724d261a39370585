// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_EnumeratorNames_h
#define voxelmaps_EnumeratorNames_h

#include <ostream>
#include <type_traits>
#include <vector>

namespace voxelmaps
{
/** \class EnumeratorNames
 * \brief Names of all enumerators of an enumeration that counts from 0, and the text for any other value.
 *
 * VOXELMAPS_ENUMERATOR_NAMES next to an enumeration gives it names. It can be printed then, and GetEnumerators lists
 * its enumerators.
 *
 * \ingroup VoxelMaps
 */
template <unsigned int VNumber>
struct EnumeratorNames
{
  static constexpr unsigned int number = VNumber;

  const char * names[VNumber];
  const char * invalid;

  constexpr const char *
  operator[](unsigned int enumerator) const
  {
    return enumerator < VNumber ? names[enumerator] : invalid;
  }
};

/** The names of enumerators, and the text for values that are not among them. */
template <unsigned int VNumber>
constexpr EnumeratorNames<VNumber>
MakeEnumeratorNames(const char * const (&names)[VNumber], const char * invalid)
{
  EnumeratorNames<VNumber> result{};
  for (unsigned int i = 0; i < VNumber; ++i)
  {
    result.names[i] = names[i];
  }
  result.invalid = invalid;
  return result;
}

/** The enumerators 0 ... number - 1 of an enumeration. */
template <typename TEnum>
std::vector<TEnum>
GetFirstEnumerators(unsigned int number)
{
  std::vector<TEnum> enumerators;
  for (unsigned int i = 0; i < number; ++i)
  {
    enumerators.push_back(static_cast<TEnum>(i));
  }
  return enumerators;
}

/** All enumerators of an enumeration with names, such as the CUDA methods of a class. */
template <typename TEnum>
std::vector<TEnum>
GetEnumerators()
{
  return GetFirstEnumerators<TEnum>(decltype(GetEnumeratorNames(TEnum{}))::number);
}

/** Print the name of an enumerator. */
template <typename TEnum, typename = std::enable_if_t<std::is_enum<TEnum>::value>,
          typename = decltype(GetEnumeratorNames(TEnum{}))>
std::ostream &
operator<<(std::ostream & out, TEnum value)
{
  return out << GetEnumeratorNames(value)[static_cast<unsigned int>(value)];
}
} // namespace voxelmaps

/** Give an enumeration that counts from 0 names, which are printed: its text for other values, and its names. */
#define VOXELMAPS_ENUMERATOR_NAMES(TEnum, invalid, ...)                                                                \
  constexpr auto GetEnumeratorNames(TEnum)                                                                             \
  {                                                                                                                    \
    return MakeEnumeratorNames({ __VA_ARGS__ }, invalid);                                                              \
  }                                                                                                                    \
  static_assert(true, "ends with a semicolon")

#endif // voxelmaps_EnumeratorNames_h
