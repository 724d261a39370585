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
#ifndef RunLengthBenchmarkData_h
#define RunLengthBenchmarkData_h

// The images that the run length benchmarks compute maps of.

#include "itkImageFileReader.h"
#include "itkMetaImageIO.h"
#include "itkRunLengthJob.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace VoxelMapsBenchmarks
{
using Triple = itk::RunLengthJob::Triple;
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

template <unsigned int VDimension>
typename itk::ImageRegion<VDimension>
MakeRegion(const Triple & index, const Triple & size)
{
  itk::ImageRegion<VDimension> region;
  for (unsigned int axis = 0; axis < VDimension; ++axis)
  {
    region.SetIndex(axis, index[axis]);
    region.SetSize(axis, static_cast<itk::SizeValueType>(size[axis]));
  }
  return region;
}

/** The head, as 8-bit voxels. */
struct Volume
{
  static constexpr Triple size{ { 181, 217, 180 } };
  std::vector<Pixel>      voxels;
  std::string             source;
};

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
inline std::vector<Pixel>
MakePhantom(const Triple & size)
{
  struct Shell
  {
    double radius;
    double intensity;
  };
  // From the outside: scalp, skull, fluid, gray matter, white matter, ventricles; radii relative to the head.
  constexpr Shell shells[] = { { 1.0, 170 }, { 0.93, 25 }, { 0.86, 55 }, { 0.83, 120 }, { 0.75, 165 }, { 0.18, 50 } };
  std::vector<Pixel> voxels(CountVoxels(size));
  const auto         makeSlice = [&](std::int64_t z) {
    std::size_t i = static_cast<std::size_t>(size[0] * size[1] * z);
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
  std::vector<std::thread> workers;
  const std::int64_t       number = std::max(1u, std::thread::hardware_concurrency());
  for (std::int64_t worker = 0; worker < number; ++worker)
  {
    workers.emplace_back([&, worker] {
      for (std::int64_t z = worker; z < size[2]; z += number)
      {
        makeSlice(z);
      }
    });
  }
  for (std::thread & worker : workers)
  {
    worker.join();
  }
  return voxels;
}

/** BrainWeb from the directory if it is there, else the phantom. */
inline Volume
LoadVolume(const std::string & directory)
{
  Volume            volume;
  const std::string path = directory + "/brainweb_t1.mha";
  if (!directory.empty() && std::ifstream(path).good())
  {
    using ImageType = itk::Image<Pixel, 3>;
    const auto reader = itk::ImageFileReader<ImageType>::New();
    reader->SetImageIO(itk::MetaImageIO::New());
    reader->SetFileName(path);
    reader->Update();
    const ImageType * const image = reader->GetOutput();
    if (image->GetLargestPossibleRegion() != MakeRegion<3>({ { 0, 0, 0 } }, Volume::size))
    {
      throw std::runtime_error(path + " has not the size " + ToString(Volume::size, 3));
    }
    volume.voxels.assign(image->GetBufferPointer(), image->GetBufferPointer() + CountVoxels(Volume::size));
    volume.source = "BrainWeb T1, " + path;
  }
  else
  {
    volume.voxels = MakePhantom(Volume::size);
    volume.source = "synthetic phantom";
  }
  return volume;
}

/** A slice of the head, as the paper took it from BrainWeb. */
struct Slice
{
  static constexpr Triple       size{ { 181, 217, 1 } };
  static constexpr std::int64_t number = 90;
  std::vector<Pixel>            voxels;
  std::string                   source;
};

inline std::string
GetSliceFileName(const std::string & directory, const std::string & modality)
{
  return directory + "/brainweb_" + modality + "_slice" + std::to_string(Slice::number) + ".mha";
}

/** The slice of a modality (t1, t2, pd) of BrainWeb: from a file of its own or its volume, else from the phantom. */
inline Slice
LoadSlice(const std::string & directory, const std::string & modality)
{
  const std::size_t first = CountVoxels(Slice::size) * static_cast<std::size_t>(Slice::number);
  const auto        read = [](const std::string & path, std::size_t start) {
    using ImageType = itk::Image<Pixel, 3>;
    const auto reader = itk::ImageFileReader<ImageType>::New();
    reader->SetImageIO(itk::MetaImageIO::New());
    reader->SetFileName(path);
    reader->Update();
    const ImageType * const image = reader->GetOutput();
    if (image->GetBufferedRegion().GetNumberOfPixels() < start + CountVoxels(Slice::size))
    {
      throw std::runtime_error(path + " is too small");
    }
    const Pixel * const pixels = image->GetBufferPointer() + start;
    return Slice{ { pixels, pixels + CountVoxels(Slice::size) }, path };
  };
  const std::string ofSlice = GetSliceFileName(directory, modality);
  const std::string ofVolume = directory + "/brainweb_" + modality + ".mha";
  if (std::ifstream(ofSlice).good())
  {
    return read(ofSlice, 0);
  }
  if (std::ifstream(ofVolume).good())
  {
    return read(ofVolume, first);
  }
  const std::vector<Pixel> head = MakePhantom(Volume::size);
  const auto               begin = head.begin() + static_cast<std::ptrdiff_t>(first);
  return { { begin, begin + static_cast<std::ptrdiff_t>(CountVoxels(Slice::size)) }, "synthetic phantom" };
}
} // namespace VoxelMapsBenchmarks

#endif // RunLengthBenchmarkData_h
