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

// Finds the volume in a folder of DICOM files, and refuses what would be a wrong one.
//
// A DICOM reader that only sorts files makes a volume of any set of slices. If one is missing, present twice, or cannot
// be read, the volume has the wrong spacing, and nobody notices. Here, the images of a series make a volume only if
//
// - all files that are DICOM files, or look like it, can be read (complete headers and pixel data),
// - Rows, Columns, SamplesPerPixel, PixelSpacing, ImageOrientationPatient (within 0.0001) and FrameOfReferenceUID
// agree,
// - no SOPInstanceUID occurs twice,
// - all have an ImagePositionPatient, and no position occurs twice,
// - the steps between neighboring positions, ordered along the normal of the slices, agree with their median and with
//   the normal. The tolerance is 1 % of the median, or 0.01 mm if that is more but at most 10 % of the median. No slice
//   is further than 10 % of the median from its place in an even volume.
//
// Slices are ordered by the projection of their position onto the normal, as gdcm::IPPSorter, gdcm::SerieHelper (used
// by ITK and SimpleITK), and dcm2niix do. Tolerances of others for the steps: 1 % in highdicom (spatial.py), 0.2 mm in
// dcm2niix, 10^-6 mm in gdcm::IPPSorter. ITK itself only stores the deviation in the image's metadata. Series are
// groups of one SeriesInstanceUID. They are not split into slices of one size and orientation, as ITK's
// SetUseSeriesDetails does, because that drops the others.
//
// Files without pixel data (DICOMDIR, structured reports, presentation states and so on) and other files are ignored,
// and so are subfolders. Deflated DICOM files are refused.

#include "DicomFolder.h"
#include "itkImageIOBase.h"
#include "itkMatrix.h"
#include "itkPoint.h"
#include "itkSize.h"
#include "itkVector.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace ExampleIO
{
/** What the user wants from a folder of DICOM files. */
struct DicomOptions
{
  /** SeriesInstanceUID; empty for the only one. */
  std::string series;
  /** Go on with a warning if the steps between slices differ. */
  bool allowUnevenSlices{ false };
  /** Whether errors can name the command line options --series, --list-series, and --allow-uneven-slices. */
  bool areCommandLineOptions{ false };
};

/** The files of a volume, ordered, with its geometry. */
struct DicomVolume
{
  std::vector<std::string> fileNames;
  /** A type that can hold the values of all files. */
  itk::IOComponentEnum componentType{ itk::IOComponentEnum::UNKNOWNCOMPONENTTYPE };
  /** A warning for the user; may be empty. */
  std::string remark;

  /** Whether there is more than one slice, so that the headers tell the geometry. */
  bool                      hasGeometry{ false };
  itk::Point<double, 3>     origin;
  itk::Vector<double, 3>    spacing;
  itk::Matrix<double, 3, 3> direction;
  itk::Size<3>              size{};
};

/** One line for each series with images: UID, number of files, size, spacing, modality and description. Files that
 * cannot be read, and series that are no volume, are named. */
std::string
DescribeDicomSeries(const std::string & folder);

/** Find the files of a series, and check that they make a volume. Throws std::runtime_error, with one line that names
 * the folder, the files and the rule, if not. */
DicomVolume
FindDicomVolume(const std::string & folder, const DicomOptions & options);

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
  const auto size = image->GetLargestPossibleRegion().GetSize();
  for (unsigned int d = 0; d < 3; ++d)
  {
    if (size[d] != volume.size[d])
    {
      throw std::runtime_error("ITK reads " + std::to_string(size[d]) + " voxels along axis " + std::to_string(d) +
                               ", but the headers tell " + std::to_string(volume.size[d]));
    }
  }
  // Rounding in ITK's sums is no difference.
  constexpr double tolerance = 1e-6;
  const double     length = volume.spacing[2];
  if ((image->GetSpacing() - volume.spacing).GetNorm() > tolerance * length)
  {
    image->SetSpacing(volume.spacing);
  }
  if ((image->GetOrigin() - volume.origin).GetNorm() > tolerance * length)
  {
    image->SetOrigin(volume.origin);
  }
  // Unit vectors may be rounded this much, and masks that other programs made have ITK's direction.
  if ((image->GetDirection() - volume.direction).GetVnlMatrix().absolute_value_max() > 2e-3)
  {
    image->SetDirection(volume.direction);
  }
}
} // namespace ExampleIO

#endif // DicomSeries_h
