// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "ImageReading.h"

#include "itkGDCMImageIO.h"
#include "itkMetaImageIO.h"
#include "itkNiftiImageIO.h"
#include "itkNrrdImageIO.h"
#include "itkPNGImageIO.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace ProgramIO
{
namespace
{
/** The reader of a format: another one could take a file that the check did not see as this one does. */
itk::ImageIOBase::Pointer
MakeImageIO(voxelmaps::ImageFileFormat format)
{
  using voxelmaps::ImageFileFormat;
  switch (format)
  {
    case ImageFileFormat::Nifti:
      return itk::NiftiImageIO::New().GetPointer();
    case ImageFileFormat::MetaImage:
      return itk::MetaImageIO::New().GetPointer();
    case ImageFileFormat::Nrrd:
      return itk::NrrdImageIO::New().GetPointer();
    case ImageFileFormat::Png:
      return itk::PNGImageIO::New().GetPointer();
    case ImageFileFormat::Dicom:
      break;
  }
  return itk::GDCMImageIO::New().GetPointer();
}

[[noreturn]] void
ThrowNotEnoughMemory(const Input & input, std::size_t bytesPerComponent)
{
  std::vector<itk::SizeValueType> sizes;
  double bytes = static_cast<double>(bytesPerComponent) * input.imageIO->GetNumberOfComponents();
  for (unsigned int d = 0; d < input.dimension; ++d)
  {
    sizes.push_back(input.isSeries && d == 2 ? input.fileNames.size() : input.imageIO->GetDimensions(d));
    bytes *= static_cast<double>(sizes.back());
  }
  std::ostringstream text;
  text << "there is not enough memory for its " << Join(sizes, "x") << " voxels, " << bytes / 1e9 << " GB";
  throw std::runtime_error(text.str());
}
} // namespace

Input
FindInput(const std::string & name, const DicomOptions & options)
{
  Input input;
  input.name = name;
  std::error_code error;
  if (std::filesystem::is_directory(name, error))
  {
    input.isSeries = true;
    input.volume = FindDicomSeries(name, options);
    input.fileNames = input.volume.fileNames;
    input.remark = input.volume.remark.empty() ? "" : "warning: " + input.volume.remark;
    input.imageIO = itk::GDCMImageIO::New();
  }
  else
  {
    if (!options.series.empty() || options.allowUnevenSlices)
    {
      throw std::runtime_error(std::string(options.series.empty() ? "--allow-uneven-slices" : "--series") +
                               " is for a folder with DICOM files, but '" + name + "' is a file");
    }
    input.file = voxelmaps::InspectImageFile(name);
    input.fileNames = { name };
    if (input.file.needsLink)
    {
      try
      {
        input.folder = std::make_shared<TemporaryFolder>(std::filesystem::temp_directory_path() / "voxelmaps-");
        input.fileNames = { (input.folder->GetPath() / "image.nii.gz").string() };
        std::filesystem::create_symlink(std::filesystem::absolute(name), input.fileNames.front());
      }
      catch (const std::runtime_error &)
      {
        throw std::runtime_error("cannot read '" + name +
                                 "': a file of the same name without .gz is beside it, and no link to it can be made "
                                 "in the folder for temporary files (TMPDIR)");
      }
    }
    input.imageIO = MakeImageIO(input.file.format);
  }
  CallReader(name, [&input] {
    input.imageIO->SetFileName(input.fileNames.front());
    input.imageIO->ReadImageInformation();
  });

  // Some programs store a single volume with a fourth axis of size 1.
  input.dimension = input.imageIO->GetNumberOfDimensions();
  for (unsigned int d = 0; d < input.dimension; ++d)
  {
    if (input.imageIO->GetDimensions(d) == 0)
    {
      throw std::runtime_error("'" + name + "' has no voxels");
    }
  }
  while (input.dimension > 3 && input.imageIO->GetDimensions(input.dimension - 1) == 1)
  {
    --input.dimension;
  }
  if (input.isSeries)
  {
    input.dimension = 3;
  }
  if (input.dimension != 2 && input.dimension != 3)
  {
    throw std::runtime_error("'" + name + "' has " + std::to_string(input.dimension) +
                             " dimensions, but must have 2 or 3");
  }
  input.componentType = input.isSeries ? FindComponentType(name, input.volume) : input.imageIO->GetComponentType();
  return input;
}

Input
FindScalarInput(const std::string & name, const DicomOptions & options)
{
  Input      input = FindInput(name, options);
  const auto components = input.imageIO->GetNumberOfComponents();
  const bool hasBytes =
    input.componentType == itk::IOComponentEnum::UCHAR || input.componentType == itk::IOComponentEnum::USHORT;

  input.isColor = input.imageIO->GetPixelType() == itk::IOPixelEnum::RGB && components == 3 && hasBytes;
  if (components != 1 && !input.isColor)
  {
    throw std::runtime_error("'" + name + "' has " + std::to_string(components) +
                             " components per voxel; an image of one is needed");
  }
  return input;
}

void
ReadVoxels(const Input & input, std::size_t bytesPerComponent, const std::function<void()> & read)
{
  // At the same time, so that a user does not wait twice.
  auto check = std::async(input.file.compressedParts.empty() ? std::launch::deferred : std::launch::async,
                          [&input] { VerifyCompressedVoxels(input.file); });
  try
  {
    CallReader(input.name, [&] {
      try
      {
        read();
      }
      catch (const std::bad_alloc &)
      {
        ThrowNotEnoughMemory(input, bytesPerComponent);
      }
      catch (const itk::MemoryAllocationError &)
      {
        ThrowNotEnoughMemory(input, bytesPerComponent);
      }
    });
  }
  catch (const std::runtime_error &)
  {
    // Prefer the check's message, which is more specific.
    check.get();
    throw;
  }
  check.get();
}

ProgramIO_READERS(, 2);
ProgramIO_READERS(, 3);
} // namespace ProgramIO
