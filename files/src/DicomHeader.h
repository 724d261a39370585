// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef DicomHeader_h
#define DicomHeader_h

// Reads the header of a DICOM file up to its pixel data. GDCM, which ITK reads with, aborts at some damaged files and
// reads missing pixels as zeros.

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace voxelmaps
{
/** The header of a DICOM file, as far as it is needed here. */
struct DicomFile
{
  std::string name;
  /** Why the file cannot be used; empty if it can. */
  std::string problem;

  std::string  seriesUID;
  std::string  instanceUID;
  std::string  classUID;
  std::string  frameOfReferenceUID;
  std::string  modality;
  std::string  description;
  std::string  photometricInterpretation;
  unsigned int rows{ 0 };
  unsigned int columns{ 0 };
  unsigned int frames{ 1 };
  unsigned int samplesPerPixel{ 1 };
  unsigned int bitsAllocated{ 0 };
  bool         hasPixelData{ false };

  std::optional<std::array<double, 3>> position;
  std::optional<std::array<double, 6>> orientation;
  /** Between rows, between columns. */
  std::optional<std::array<double, 2>> pixelSpacing;
};

/** Read the header of a file, and check that the file is not cut. Returns nothing if it is no DICOM file. */
std::optional<DicomFile>
ReadDicomHeader(const std::string & fileName);

/** The files with images of one SeriesInstanceUID. */
struct DicomSeries
{
  std::string            uid;
  std::vector<DicomFile> files;
};

/** What a folder holds. */
struct DicomFolder
{
  std::vector<DicomSeries> series;
  /** Files that look like DICOM files, but cannot be read so far that their series is known. */
  std::vector<DicomFile> unreadable;
};

/** Read the headers of all files in a folder. */
DicomFolder
ScanDicomFolder(const std::string & folder);
} // namespace voxelmaps

#endif // DicomHeader_h
