// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "DicomSeries.h"

#include "Process.h"
#include "itkGDCMImageIO.h"

#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace ProgramIO
{
std::string
ListDicomSeries(const std::string & folder)
{
  std::string unreadable;
  const auto  list = voxelmaps::ListDicomSeries(folder, unreadable);
  if (list.empty() && unreadable.empty())
  {
    throw std::runtime_error("the directory '" + folder + "' holds no DICOM series with images");
  }
  std::ostringstream text;
  for (const auto & series : list)
  {
    text << DescribeDicomSeries(series);
    if (!series.problem.empty())
    {
      text << "; no volume: " << series.problem << '\n';
      continue;
    }
    const auto & size = series.size;
    const auto & spacing = series.spacing;
    text << ", " << size[0] << 'x' << size[1] << 'x' << size[2] << " voxels";
    if (series.hasGeometry && spacing[0] > 0.0)
    {
      text << " of " << spacing[0] << 'x' << spacing[1] << 'x' << spacing[2] << " mm";
    }
    text << '\n';
  }
  if (!unreadable.empty())
  {
    text << "cannot be read: " << unreadable << '\n';
  }
  return text.str();
}

itk::IOComponentEnum
FindComponentType(const std::string & folder, const DicomVolume & volume)
{
  auto         componentType = itk::IOComponentEnum::UNKNOWNCOMPONENTTYPE;
  unsigned int components = 0;
  const auto   refuse = [&folder](const std::string & why) {
    throw std::runtime_error("the DICOM folder '" + folder + "' is refused: " + why);
  };
  for (const auto & name : volume.fileNames)
  {
    const std::string baseName = std::filesystem::path(name).filename().string();
    auto              imageIO = itk::GDCMImageIO::New();
    imageIO->SetFileName(name);
    try
    {
      CallReader(baseName, [&imageIO] { imageIO->ReadImageInformation(); });
    }
    catch (const std::runtime_error & error)
    {
      refuse(error.what());
    }
    if (imageIO->GetDimensions(0) != volume.size[0] || imageIO->GetDimensions(1) != volume.size[1])
    {
      refuse("ITK reads " + std::to_string(imageIO->GetDimensions(0)) + 'x' +
             std::to_string(imageIO->GetDimensions(1)) + " pixels of '" + baseName + "', whose header tells " +
             std::to_string(volume.size[0]) + 'x' + std::to_string(volume.size[1]));
    }
    const bool isFirst = &name == &volume.fileNames.front();
    components = isFirst ? imageIO->GetNumberOfComponents() : components;
    if (imageIO->GetNumberOfComponents() != components)
    {
      refuse("its first file has " + std::to_string(components) + " components per pixel, but '" + baseName + "' has " +
             std::to_string(imageIO->GetNumberOfComponents()));
    }
    // Rescaling can differ: a double holds the values of all types of DICOM.
    componentType = isFirst || componentType == imageIO->GetComponentType() ? imageIO->GetComponentType()
                                                                            : itk::IOComponentEnum::DOUBLE;
  }
  return componentType;
}

void
SetDicomGeometry(itk::ImageBase<3> * image, const DicomVolume & volume)
{
  if (!volume.hasGeometry)
  {
    return;
  }
  auto       spacing = image->GetSpacing();
  const auto size = image->GetLargestPossibleRegion().GetSize();
  for (unsigned int d = 0; d < 3; ++d)
  {
    if (size[d] != volume.size[d])
    {
      throw std::runtime_error("ITK reads " + std::to_string(size[d]) + " voxels along axis " + std::to_string(d) +
                               ", but the headers tell " + std::to_string(volume.size[d]));
    }
    spacing[d] = volume.spacing[d] > 0.0 ? volume.spacing[d] : spacing[d];
  }
  // Rounding in ITK's sums is no difference.
  const double tolerance = 1e-6 * spacing[2];
  if ((image->GetSpacing() - spacing).GetNorm() > tolerance)
  {
    image->SetSpacing(spacing);
  }
  const itk::Point<double, 3> origin(volume.origin.data());
  if ((image->GetOrigin() - origin).GetNorm() > tolerance)
  {
    image->SetOrigin(origin);
  }
  // Unit vectors may be rounded this much, and masks that other programs made have ITK's direction.
  itk::Matrix<double, 3, 3> direction;
  for (unsigned int i = 0; i < 9; ++i)
  {
    direction[i / 3][i % 3] = volume.direction[i];
  }
  if ((image->GetDirection() - direction).GetVnlMatrix().absolute_value_max() > 2e-3)
  {
    image->SetDirection(direction);
  }
}
} // namespace ProgramIO
