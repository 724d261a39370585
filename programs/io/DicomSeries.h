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
#ifndef DicomSeries_h
#define DicomSeries_h

// Reading the volumes that voxelmaps/DicomVolume.h finds in folders of DICOM files.

#include "itkImageIOBase.h"
#include "itkMatrix.h"
#include "itkPoint.h"
#include "itkVector.h"
#include "voxelmaps/DicomVolume.h"

#include <stdexcept>
#include <string>

namespace ProgramIO
{
using voxelmaps::DicomOptions;
using voxelmaps::DicomVolume;

/** One line for each series with images: UID, number of files, modality, description, size and spacing. Files that
 * cannot be read, and series that are no volume, are named. */
std::string
ListDicomSeries(const std::string & folder);

/** The type that can hold the values of all files of a volume; the headers are read with ITK. Throws std::runtime_error
 * if ITK reads other sizes than the headers tell, or files with different numbers of components. */
itk::IOComponentEnum
FindComponentType(const std::string & folder, const DicomVolume & volume);

/** Compare the geometry of the image that ITK has read with that of the headers, and set what differs: GDCM ignores the
 * position of secondary captures, for example. */
template <typename TImage>
void
SetDicomGeometry(TImage * image, const DicomVolume & volume)
{
  static_assert(TImage::ImageDimension == 3, "A series is a volume.");
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

#endif // DicomSeries_h
