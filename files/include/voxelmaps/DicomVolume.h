// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_DicomVolume_h
#define voxelmaps_DicomVolume_h

// Finds the volume in a folder of DICOM files, and refuses what would be a wrong one.
//
// A DICOM reader that only sorts files makes a volume of any set of slices. If one is missing, present twice, or cannot
// be read, the volume has the wrong spacing, and nobody notices. Here, the images of a series make a volume only if
//
// - all files that are DICOM files, or look like it, can be read (complete headers and pixel data),
// - Rows, Columns, SamplesPerPixel, BitsAllocated, PhotometricInterpretation, PixelSpacing, ImageOrientationPatient
//   (within 0.0001) and FrameOfReferenceUID agree,
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
// and so are subfolders. Deflated DICOM files and values mapped by a ModalityLUTSequence are refused. Values of
// MONOCHROME1 are as they are stored: they only look inverted.

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace voxelmaps
{
/** What the user wants from a folder of DICOM files. */
struct DicomOptions
{
  /** SeriesInstanceUID; empty for the only one. */
  std::string series;
  /** Go on with a warning if the steps between slices differ. */
  bool allowUnevenSlices{ false };
  /** Ends of messages that tell how the program that reads can be told either. */
  std::string seriesAdvice;
  std::string unevenAdvice;
};

/** The images of a series. */
struct DicomVolume
{
  /** SeriesInstanceUID, and what the first file has of Modality and SeriesDescription; the latter are printable. */
  std::string uid;
  std::string modality;
  std::string description;
  /** Ordered along the normal of the slices, if the series is a volume. */
  std::vector<std::string> fileNames;
  /** Why the series is no volume; empty if it is one. */
  std::string problem;
  /** A warning for the user; may be empty. */
  std::string remark;

  /** Columns, rows, slices or frames. */
  std::array<std::size_t, 3> size{};
  /** PixelSpacing along x and y, in mm; 0 if the header has none. Along z of slices only. */
  std::array<double, 3> spacing{};
  /** Whether there is more than one slice, so that the headers tell the rest of the geometry. */
  bool                  hasGeometry{ false };
  std::array<double, 3> origin{};
  /** Row by row: the axes of the image are columns. */
  std::array<double, 9> direction{};
};

/** All series with images in a folder. The second text names files that look like DICOM files but cannot be read, so
 * that no series can be; it is empty if there are none. Throws std::runtime_error if there is no such folder. */
std::vector<DicomVolume>
ListDicomSeries(const std::string & folder, std::string & unreadable);

/** Find the files of a series, and check that they make a volume. Throws std::runtime_error, with one line that names
 * the folder, the files and the rule, if not. */
DicomVolume
FindDicomSeries(const std::string & folder, const DicomOptions & options);

/** One line about a series: UID, number of files, Modality and SeriesDescription. */
std::string
DescribeDicomSeries(const DicomVolume & series);
} // namespace voxelmaps

#endif // voxelmaps_DicomVolume_h
