// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef HeadData_h
#define HeadData_h

// The images that texture maps are computed of: BrainWeb, or a synthetic head.

#include "Benchmark.h"

#include "itkImageAlgorithm.h"
#include "itkImageFileReader.h"
#include "itkImageFileWriter.h"
#include "itkMetaImageIO.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace VoxelMapsBenchmarks
{
using Triple = voxelmaps::Triple;
using Pixel = unsigned char;

inline std::size_t
CountVoxels(const Triple & size)
{
  return static_cast<std::size_t>(size[0] * size[1] * size[2]);
}

inline std::string
ToString(const Triple & triple, unsigned int dimension)
{
  std::ostringstream text;
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    text << (axis == 0 ? "" : "x") << triple[axis];
  }
  return text.str();
}

inline itk::ImageRegion<3>
MakeRegion(const Triple & index, const Triple & size)
{
  itk::ImageRegion<3> region;
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    region.SetIndex(axis, index[axis]);
    region.SetSize(axis, static_cast<itk::SizeValueType>(size[axis]));
  }
  return region;
}

using HeadImage = itk::Image<Pixel, 3>;

/** Uniform in [0, 1), the same everywhere for the same position (splitmix64). */
inline double
Noise(std::uint64_t position)
{
  std::uint64_t z = (position + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

/** Nested ellipsoids with folds, a bias field and Rician noise, with the size and about the intensities of BrainWeb. */
inline HeadImage::Pointer
MakePhantom(const Triple & size)
{
  struct Shell
  {
    double radius;
    double intensity;
  };
  // From the outside: scalp, skull, fluid, gray matter, white matter, ventricles; radii relative to the head.
  constexpr Shell shells[] = { { 1.0, 170 }, { 0.93, 25 }, { 0.86, 55 }, { 0.83, 120 }, { 0.75, 165 }, { 0.18, 50 } };
  const auto      image = HeadImage::New();
  image->SetRegions(MakeRegion({ { 0, 0, 0 } }, size));
  image->Allocate();
  Pixel * const voxels = image->GetBufferPointer();
  const auto    makeSlice = [&](unsigned int z) {
    auto i = static_cast<std::size_t>(size[0] * size[1] * z);
    for (std::int64_t y = 0; y < size[1]; ++y)
    {
      for (std::int64_t x = 0; x < size[0]; ++x, ++i)
      {
        const double u = (2.0 * static_cast<double>(x) / static_cast<double>(size[0]) - 1.0) / 0.85;
        const double v = (2.0 * static_cast<double>(y) / static_cast<double>(size[1]) - 1.0) / 0.9;
        const double w = (2.0 * static_cast<double>(z) / static_cast<double>(size[2]) - 1.0) / 0.95;
        const double radius = std::sqrt(u * u + v * v + w * w);
        const double folds = 0.04 * std::sin(22.0 * u) * std::sin(25.0 * v) * std::sin(24.0 * w);
        double       intensity = 0.0;
        for (const Shell & shell : shells)
        {
          const bool folded = shell.radius < 0.8 && shell.radius > 0.5;
          intensity = radius + (folded ? folds : 0.0) < shell.radius ? shell.intensity : intensity;
        }
        intensity *= 1.0 + 0.1 * u + 0.05 * v;
        const std::uint64_t position = 8 * static_cast<std::uint64_t>(i);
        double              parts[2] = { 0.0, 0.0 };
        for (unsigned int k = 0; k < 8; ++k)
        {
          // The sum of four uniform values is nearly normal, and the same on every platform.
          parts[k / 4] += (Noise(position + k) - 0.5) * 5.0 * std::sqrt(3.0);
        }
        const double magnitude = std::hypot(intensity + parts[0], parts[1]);
        voxels[i] = static_cast<Pixel>(std::min(255.0, std::round(magnitude)));
      }
    }
  };
  const auto numberOfSlices = static_cast<unsigned int>(size[2]);
  MakeExecution(allThreads).parallelFor(numberOfSlices, makeSlice);
  return image;
}

inline HeadImage::Pointer
ExtractBox(const HeadImage * image, const Triple & index, const Triple & size)
{
  const auto box = HeadImage::New();
  box->SetRegions(MakeRegion({ { 0, 0, 0 } }, size));
  box->Allocate();
  itk::ImageAlgorithm::Copy(image, box.GetPointer(), MakeRegion(index, size), box->GetLargestPossibleRegion());
  return box;
}

constexpr Triple       headSize{ { 181, 217, 180 } };
constexpr Triple       sliceSize{ { 181, 217, 1 } };
constexpr std::int64_t sliceNumber = 90;

/** Directory of BrainWeb's volumes or slices; where a file is not there, a synthetic head takes its place. */
inline std::string dataDirectory;

/** The file of a modality of BrainWeb, "t1", "t2" or "pd". */
inline std::string
GetHeadFileName(const std::string & modality)
{
  return dataDirectory + "/brainweb_" + modality + ".mha";
}

inline std::string
GetSliceFileName(const std::string & directory, const std::string & modality)
{
  return directory + "/brainweb_" + modality + "_slice" + std::to_string(sliceNumber) + ".mha";
}

inline bool
IsFile(const std::string & fileName)
{
  return !dataDirectory.empty() && std::ifstream(fileName).good();
}

inline HeadImage::Pointer
ReadHead(const std::string & fileName, const Triple & size)
{
  const auto reader = itk::ImageFileReader<HeadImage>::New();
  reader->SetImageIO(itk::MetaImageIO::New());
  reader->SetFileName(fileName);
  reader->Update();
  Verify(reader->GetOutput()->GetLargestPossibleRegion() == MakeRegion({ { 0, 0, 0 } }, size),
         fileName + " does not have the size " + ToString(size, 3));
  return reader->GetOutput();
}

inline HeadImage::Pointer
LoadHead(const std::string & modality)
{
  const std::string fileName = GetHeadFileName(modality);
  return IsFile(fileName) ? ReadHead(fileName, headSize) : MakePhantom(headSize);
}

/** The slice that the paper took from BrainWeb. */
inline HeadImage::Pointer
LoadSlice(const std::string & modality)
{
  const std::string fileName = GetSliceFileName(dataDirectory, modality);
  return IsFile(fileName) ? ReadHead(fileName, sliceSize)
                          : ExtractBox(LoadHead(modality), { { 0, 0, sliceNumber } }, sliceSize);
}

/** What LoadHead and LoadSlice give. */
inline std::string
DescribeData()
{
  return IsFile(GetHeadFileName("t1"))                   ? "BrainWeb"
         : IsFile(GetSliceFileName(dataDirectory, "t1")) ? "BrainWeb (slices), synthetic head (volumes)"
                                                         : "synthetic head";
}

/** Write the slices to files of their own, for a machine to which the volumes need not go. */
inline void
WriteSlices(const std::string & directory)
{
  for (const std::string modality : { "t1", "t2", "pd" })
  {
    const std::string fileName = GetSliceFileName(directory, modality);
    const auto        writer = itk::ImageFileWriter<HeadImage>::New();
    writer->SetImageIO(itk::MetaImageIO::New());
    writer->SetFileName(fileName);
    writer->SetInput(LoadSlice(modality));
    writer->Update();
    std::cerr << fileName << ": " << DescribeData() << std::endl;
  }
}
} // namespace VoxelMapsBenchmarks

#endif // HeadData_h
