// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef Methods_h
#define Methods_h

#include "voxelmaps/Job.h"

#include <algorithm>
#include <string>
#include <vector>

// The choice among the methods of an engine, by their names. A method has the members name and support; a list of
// methods has the faster ones first.
namespace voxelmaps
{
/** Whether a method supports a job. */
enum class MethodSupport
{
  None,
  /** Only if the job names the method. */
  ByName,
  Full
};

constexpr MethodSupport
FullSupportIf(bool isSupported)
{
  return isSupported ? MethodSupport::Full : MethodSupport::None;
}

/** The names of the methods that support the job, the automatic choice first. */
template <typename TMethod>
std::vector<std::string>
GetNames(const std::vector<TMethod> & methods)
{
  std::vector<std::string> names;
  for (const MethodSupport support : { MethodSupport::Full, MethodSupport::ByName })
  {
    for (const TMethod & method : methods)
    {
      if (method.support == support)
      {
        names.push_back(method.name);
      }
    }
  }
  return names;
}

/** The method of a name, or the automatic choice if it is empty; null if there is none for the job. Throws
 * UnsupportedMethodError if a name does not exist or its method does not support the job, which the text describes. */
template <typename TMethod>
const TMethod *
FindMethod(const std::vector<TMethod> & methods, const std::string & name, const std::string & job)
{
  const auto found = std::find_if(methods.begin(), methods.end(), [&name](const TMethod & method) {
    return name.empty() ? method.support == MethodSupport::Full : name == method.name;
  });
  if (name.empty() || (found != methods.end() && found->support != MethodSupport::None))
  {
    return found == methods.end() ? nullptr : &*found;
  }
  std::string message = "The method \"" + name + '"';
  message += found == methods.end() ? " does not exist: for " + job + ", use " : " does not support " + job + ": use ";
  for (const std::string & fitting : GetNames(methods))
  {
    message += fitting + ", ";
  }
  throw UnsupportedMethodError(message + "or no name, for the fastest.");
}
} // namespace voxelmaps

#endif // Methods_h
