// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef itkTextureOffsets_h
#define itkTextureOffsets_h

#include "itkObject.h"
#include "itkOffset.h"
#include "voxelmaps/Job.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

/** Offsets one by one, such as for Python. SetOffset() replaces all, AddOffset() adds one to those that are set. */
#define VoxelMapsSingleOffsetsMacro()                                                                                  \
  void SetOffset(const OffsetType & offset)                                                                            \
  {                                                                                                                    \
    this->SetOffsets({ offset });                                                                                      \
  }                                                                                                                    \
  void AddOffset(const OffsetType & offset)                                                                            \
  {                                                                                                                    \
    OffsetsType offsets = this->GetOffsets();                                                                          \
    offsets.push_back(offset);                                                                                         \
    this->SetOffsets(offsets);                                                                                         \
  }                                                                                                                    \
  void ClearOffsets()                                                                                                  \
  {                                                                                                                    \
    this->SetOffsets({});                                                                                              \
  }                                                                                                                    \
  ITK_MACROEND_NOOP_STATEMENT

namespace itk
{
/** \class TextureOffsets
 * \brief Directions of the texture filters that have directions: defaults, validation and names.
 *
 * \ingroup VoxelMaps
 */
template <unsigned int VDimension>
class TextureOffsets
{
public:
  using OffsetType = Offset<VDimension>;
  using OffsetsType = std::vector<OffsetType>;

  /** Windows have at most 255 voxels along an axis. */
  static constexpr OffsetValueType MaximumOffsetComponent = 254;
  static constexpr std::size_t     MaximumNumberOfOffsets = 4096;

  /** The 4 directions in the xy plane, for 2.5D features of 3D images. */
  static OffsetsType
  GetInPlane()
  {
    constexpr int inPlane[4][2] = { { 1, 0 }, { 1, -1 }, { 0, 1 }, { 1, 1 } };
    OffsetsType   offsets;
    for (const auto & direction : inPlane)
    {
      OffsetType offset{};
      offset[0] = direction[0];
      offset[1] = direction[1];
      offsets.push_back(offset);
    }
    return offsets;
  }

  /** All directions, 4 in 2D and 13 in 3D: one of each opposite pair, starting with the x axis. */
  static OffsetsType
  GetAll()
  {
    OffsetsType offsets = GetInPlane();
    if constexpr (VDimension == 3)
    {
      for (int y = -1; y <= 1; ++y)
      {
        for (int x = -1; x <= 1; ++x)
        {
          offsets.push_back(OffsetType{ { x, y, 1 } });
        }
      }
    }
    return offsets;
  }

  /** All offsets whose greatest component, without its sign, is one of the distances: one of each opposite pair, that
   * whose last component other than 0 is positive, ordered by distance, then by the components from last to first. With
   * isInPlane, those in the xy plane. Throws an itk::ExceptionObject if there is no distance, if a distance is 0, too
   * large or given twice, or if there are too many offsets. */
  static OffsetsType
  GetOfDistances(const std::vector<unsigned int> & distances, bool isInPlane)
  {
    if (distances.empty())
    {
      itkGenericExceptionMacro(<< "There are 0 distances, but at least one is needed.");
    }
    OffsetsType offsets;
    for (auto it = distances.begin(); it != distances.end(); ++it)
    {
      if (*it < 1 || *it > static_cast<unsigned int>(MaximumOffsetComponent))
      {
        itkGenericExceptionMacro(<< "The distance " << *it << " is not possible: it must be 1 to "
                                 << MaximumOffsetComponent << '.');
      }
      if (std::find(distances.begin(), it, *it) != it)
      {
        itkGenericExceptionMacro(<< "The distance " << *it << " is given twice.");
      }
      const auto      distance = static_cast<OffsetValueType>(*it);
      constexpr bool  hasZ = VDimension == 3;
      const auto      depth = hasZ && !isInPlane ? distance : 0;
      OffsetValueType offset[3];
      for (offset[2] = 0; offset[2] <= depth; ++offset[2])
      {
        for (offset[1] = -distance; offset[1] <= distance; ++offset[1])
        {
          for (offset[0] = -distance; offset[0] <= distance; ++offset[0])
          {
            const OffsetValueType last = offset[2] != 0 ? offset[2] : offset[1] != 0 ? offset[1] : offset[0];
            const OffsetValueType greatest = std::max({ std::abs(offset[0]), std::abs(offset[1]), offset[2] });
            if (last > 0 && greatest == distance)
            {
              offsets.emplace_back();
              std::copy_n(offset, VDimension, offsets.back().begin());
            }
          }
        }
        if (offsets.size() > MaximumNumberOfOffsets)
        {
          itkGenericExceptionMacro(<< "The distance " << *it << " makes more than " << MaximumNumberOfOffsets
                                   << " offsets, which is the maximum.");
        }
      }
    }
    return offsets;
  }

  /** Throw an itk::ExceptionObject, on behalf of a filter, if there is no offset or too many, if an offset is zero or
   * larger than any window, or if an offset is given twice; its opposite counts as the same unless pairs have an order.
   */
  static void
  VerifyOfPairs(const Object & filter, const OffsetsType & offsets, bool pairsHaveOrder)
  {
    if (offsets.empty() || offsets.size() > MaximumNumberOfOffsets)
    {
      itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": There are " << offsets.size()
                               << " offsets, but there must be 1 to " << MaximumNumberOfOffsets << '.');
    }
    for (auto it = offsets.begin(); it != offsets.end(); ++it)
    {
      OffsetType opposite;
      bool       isZero = true;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        opposite[d] = -(*it)[d];
        isZero = isZero && (*it)[d] == 0;
        if ((*it)[d] < -MaximumOffsetComponent || (*it)[d] > MaximumOffsetComponent)
        {
          itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": The offset " << *it
                                   << " is larger than any window: its components must be -" << MaximumOffsetComponent
                                   << " to " << MaximumOffsetComponent << '.');
        }
      }
      if (isZero)
      {
        itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": The offset " << *it
                                 << " is zero, so that it makes no pairs.");
      }
      if (std::find(offsets.begin(), it, *it) != it)
      {
        itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": The offset " << *it << " is given twice.");
      }
      if (!pairsHaveOrder && std::find(offsets.begin(), it, opposite) != it)
      {
        itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": The offset " << *it
                                 << " is the opposite of another one, which makes the same pairs.");
      }
    }
  }

  /** Throw an itk::ExceptionObject, on behalf of a filter, if there is no offset, or if an offset is not a direction or
   * is given twice. */
  static void
  Verify(const Object & filter, const OffsetsType & offsets)
  {
    if (offsets.empty())
    {
      itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": There are 0 offsets, but at least one is needed.");
    }
    for (auto it = offsets.begin(); it != offsets.end(); ++it)
    {
      OffsetType opposite;
      bool       isZero = true;
      for (unsigned int d = 0; d < VDimension; ++d)
      {
        opposite[d] = -(*it)[d];
        isZero = isZero && (*it)[d] == 0;
        if ((*it)[d] < -1 || (*it)[d] > 1)
        {
          itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": The offset " << *it
                                   << " is not a valid direction: its components must be -1, 0 or 1.");
        }
      }
      if (isZero)
      {
        itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": The offset " << *it
                                 << " is zero, which is not a valid direction.");
      }
      if (std::find(offsets.begin(), it, *it) != it || std::find(offsets.begin(), it, opposite) != it)
      {
        itkGenericExceptionMacro(<< filter.GetNameOfClass() << ": The offset " << *it
                                 << " or its opposite is given twice; each direction may be given once.");
      }
    }
  }

  /** Convert the offsets to those of a job. */
  static std::vector<voxelmaps::Triple>
  GetTriples(const OffsetsType & offsets)
  {
    std::vector<voxelmaps::Triple> triples;
    for (const OffsetType & offset : offsets)
    {
      voxelmaps::Triple triple{ { 0, 0, 0 } };
      std::copy(offset.begin(), offset.end(), triple.begin());
      triples.push_back(triple);
    }
    return triples;
  }

  /** Names of features for every offset, one offset after another: "SRE_1_-1_0" for the offset [1, -1, 0]. */
  static std::vector<std::string>
  GetNamesPerOffset(const std::vector<std::string> & names, const OffsetsType & offsets)
  {
    std::vector<std::string> namesPerOffset;
    for (const OffsetType & offset : offsets)
    {
      std::string suffix;
      for (const OffsetValueType component : offset)
      {
        suffix += '_' + std::to_string(component);
      }
      for (const std::string & name : names)
      {
        namesPerOffset.push_back(name + suffix);
      }
    }
    return namesPerOffset;
  }
};
} // namespace itk

#endif // itkTextureOffsets_h
