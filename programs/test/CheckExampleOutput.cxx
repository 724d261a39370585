// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0

// Checks the output of the example programs; the exit code is 0 if the check passes.
//   geometry IMAGE MAPS N      MAPS has N components and the geometry of IMAGE
//   component MAPS I IMAGE     component I of MAPS is IMAGE
//   equal MAPS MAPS            the same size and components
//   part CROPPED MAPS X,Y,Z    CROPPED is the part of MAPS from this voxel on, at the same physical points
//   background MASK MAPS       0 where MASK is 0, and not 0 in the first component elsewhere
//   digest IMAGE HEX           the values, as 16 bit integers, have this FNV-1a digest
//   value IMAGE X,Y,Z LO HI    the voxel's value is from LO to HI
//   threshold STRENGTH OBJECT T  OBJECT is 1 where STRENGTH is at least T, and 0 elsewhere
//   inside OBJECT IMAGE LO HI SHARE  at least this fraction of the voxels of OBJECT has LO to HI in IMAGE
// An image can be a folder with a DICOM series.

#include "io/ImageReading.h"
#include "itkImageFileReader.h"
#include "itkImageRegionConstIterator.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkVectorImage.h"

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{
using MapsType = itk::VectorImage<double, 3>;

MapsType::Pointer
Read(const std::string & name)
{
  if (std::filesystem::is_directory(name))
  {
    return ProgramIO::ReadFiles<MapsType>(ProgramIO::FindInput(name));
  }
  return itk::ReadImage<MapsType>(name);
}

void
Require(bool condition, const std::string & what)
{
  if (!condition)
  {
    throw std::runtime_error("does not hold: " + what);
  }
}

void
RequireSameSize(const MapsType * a, const MapsType * b)
{
  Require(a->GetLargestPossibleRegion() == b->GetLargestPossibleRegion(), "same size");
}

void
CheckGeometry(const MapsType * image, const MapsType * maps, unsigned int components)
{
  RequireSameSize(image, maps);
  Require(maps->GetNumberOfComponentsPerPixel() == components,
          std::to_string(maps->GetNumberOfComponentsPerPixel()) + " components are " + std::to_string(components));
  // NIfTI keeps the geometry in single precision.
  Require(image->GetSpacing().GetVnlVector().is_equal(maps->GetSpacing().GetVnlVector(), 1e-5), "same spacing");
  Require(image->GetOrigin().GetVnlVector().is_equal(maps->GetOrigin().GetVnlVector(), 1e-5), "same origin");
  Require((image->GetDirection().GetVnlMatrix() - maps->GetDirection().GetVnlMatrix()).array_inf_norm() < 1e-5,
          "same direction");
}

/** Compare components first ... first + count - 1 of a with all of b. */
void
CheckEqual(const MapsType * a, unsigned int first, const MapsType * b)
{
  RequireSameSize(a, b);
  Require(first + b->GetNumberOfComponentsPerPixel() <= a->GetNumberOfComponentsPerPixel(), "enough components");
  itk::ImageRegionConstIterator<MapsType> itA(a, a->GetLargestPossibleRegion());
  itk::ImageRegionConstIterator<MapsType> itB(b, b->GetLargestPossibleRegion());
  for (; !itA.IsAtEnd(); ++itA, ++itB)
  {
    const auto pixelA = itA.Get();
    const auto pixelB = itB.Get();
    for (unsigned int c = 0; c < pixelB.Size(); ++c)
    {
      Require(pixelA[first + c] == pixelB[c], "same values");
    }
  }
}

/** "1,2,3" as an index. */
MapsType::IndexType
GetIndex(const std::string & text)
{
  MapsType::IndexType index;
  char                comma = ' ';
  std::istringstream  stream(text);
  stream >> index[0] >> comma >> index[1] >> comma >> index[2];
  Require(!stream.fail(), text + " is an index");
  return index;
}

void
CheckPart(const MapsType * part, const MapsType * maps, const std::string & first)
{
  const auto offset = GetIndex(first) - part->GetLargestPossibleRegion().GetIndex();
  Require(part->GetNumberOfComponentsPerPixel() == maps->GetNumberOfComponentsPerPixel(), "same components");
  Require(part->GetLargestPossibleRegion().GetNumberOfPixels() < maps->GetLargestPossibleRegion().GetNumberOfPixels(),
          "the part is smaller");
  for (itk::ImageRegionConstIteratorWithIndex<MapsType> it(part, part->GetLargestPossibleRegion()); !it.IsAtEnd(); ++it)
  {
    const auto index = it.GetIndex() + offset;
    Require(maps->GetLargestPossibleRegion().IsInside(index), "the part is in the image");
    Require(it.Get() == maps->GetPixel(index), "same values");
    MapsType::PointType inPart;
    MapsType::PointType inMaps;
    part->TransformIndexToPhysicalPoint(it.GetIndex(), inPart);
    maps->TransformIndexToPhysicalPoint(index, inMaps);
    Require(inPart.EuclideanDistanceTo(inMaps) < 1e-4, "same physical points");
  }
}

void
CheckBackground(const MapsType * mask, const MapsType * maps)
{
  RequireSameSize(mask, maps);
  itk::ImageRegionConstIterator<MapsType> itMask(mask, mask->GetLargestPossibleRegion());
  itk::ImageRegionConstIterator<MapsType> itMaps(maps, maps->GetLargestPossibleRegion());
  for (; !itMask.IsAtEnd(); ++itMask, ++itMaps)
  {
    const auto pixel = itMaps.Get();
    if (itMask.Get()[0] != 0.0)
    {
      Require(pixel[0] != 0.0, "a feature inside the mask");
      continue;
    }
    for (unsigned int c = 0; c < pixel.Size(); ++c)
    {
      Require(pixel[c] == 0.0, "0 outside the mask");
    }
  }
}

void
CheckDigest(const MapsType * image, const std::string & expected)
{
  std::uint64_t                           digest = 0xCBF29CE484222325U;
  itk::ImageRegionConstIterator<MapsType> it(image, image->GetLargestPossibleRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    const std::uint64_t value = static_cast<std::uint16_t>(static_cast<std::int16_t>(it.Get()[0]));
    digest = (digest ^ (value & 0xFFU)) * 0x100000001B3U;
    digest = (digest ^ (value >> 8U)) * 0x100000001B3U;
  }
  std::ostringstream text;
  text << std::hex << digest;
  Require(text.str() == expected, text.str() + " is " + expected);
}

void
CheckValue(const MapsType * image, const std::string & where, double low, double high)
{
  const auto index = GetIndex(where);
  Require(image->GetLargestPossibleRegion().IsInside(index), where + " is in the image");
  const double value = image->GetPixel(index)[0];
  Require(value >= low && value <= high, std::to_string(value) + " is in the range");
}

void
CheckThreshold(const MapsType * strength, const MapsType * object, double threshold)
{
  RequireSameSize(strength, object);
  bool                                    isInsideFound = false;
  itk::ImageRegionConstIterator<MapsType> itStrength(strength, strength->GetLargestPossibleRegion());
  itk::ImageRegionConstIterator<MapsType> itObject(object, object->GetLargestPossibleRegion());
  for (; !itStrength.IsAtEnd(); ++itStrength, ++itObject)
  {
    const bool isInside = itStrength.Get()[0] >= threshold;
    Require(itObject.Get()[0] == (isInside ? 1.0 : 0.0), "1 where the strength is enough, 0 elsewhere");
    isInsideFound = isInsideFound || isInside;
  }
  Require(isInsideFound, "there is an object");
}

void
CheckInside(const MapsType * object, const MapsType * image, double low, double high, double share)
{
  RequireSameSize(object, image);
  double                                  inside = 0.0;
  double                                  all = 0.0;
  itk::ImageRegionConstIterator<MapsType> itObject(object, object->GetLargestPossibleRegion());
  itk::ImageRegionConstIterator<MapsType> itImage(image, image->GetLargestPossibleRegion());
  for (; !itObject.IsAtEnd(); ++itObject, ++itImage)
  {
    if (itObject.Get()[0] != 0.0)
    {
      const double value = itImage.Get()[0];
      all += 1.0;
      inside += value >= low && value <= high ? 1.0 : 0.0;
    }
  }
  Require(all > 0.0 && inside >= share * all, std::to_string(inside / all) + " of the object is enough");
}
} // namespace

int
main(int argc, char * argv[])
{
  const std::vector<std::string> words(argv + 1, argv + argc);
  try
  {
    const std::string check = words.empty() ? "" : words[0];
    if (check == "geometry" && words.size() == 4)
    {
      CheckGeometry(Read(words[1]), Read(words[2]), static_cast<unsigned int>(std::stoul(words[3])));
    }
    else if (check == "component" && words.size() == 4)
    {
      const auto image = Read(words[3]);
      Require(image->GetNumberOfComponentsPerPixel() == 1, "one component");
      CheckEqual(Read(words[1]), static_cast<unsigned int>(std::stoul(words[2])), image);
    }
    else if (check == "equal" && words.size() == 3)
    {
      const auto a = Read(words[1]);
      const auto b = Read(words[2]);
      Require(a->GetNumberOfComponentsPerPixel() == b->GetNumberOfComponentsPerPixel(), "same number of components");
      CheckEqual(a, 0, b);
    }
    else if (check == "part" && words.size() == 4)
    {
      CheckPart(Read(words[1]), Read(words[2]), words[3]);
    }
    else if (check == "background" && words.size() == 3)
    {
      CheckBackground(Read(words[1]), Read(words[2]));
    }
    else if (check == "digest" && words.size() == 3)
    {
      CheckDigest(Read(words[1]), words[2]);
    }
    else if (check == "value" && words.size() == 5)
    {
      CheckValue(Read(words[1]), words[2], std::stod(words[3]), std::stod(words[4]));
    }
    else if (check == "threshold" && words.size() == 4)
    {
      CheckThreshold(Read(words[1]), Read(words[2]), std::stod(words[3]));
    }
    else if (check == "inside" && words.size() == 6)
    {
      CheckInside(Read(words[1]), Read(words[2]), std::stod(words[3]), std::stod(words[4]), std::stod(words[5]));
    }
    else
    {
      throw std::runtime_error("no such check");
    }
  }
  catch (const std::exception & error)
  {
    std::cerr << error.what() << '\n';
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
