// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef DicomSeries_h
#define DicomSeries_h

// Reading the volumes that voxelmaps/DicomVolume.h finds in folders of DICOM files.

#include "itkImageBase.h"
#include "itkImageIOBase.h"
#include "voxelmaps/DicomVolume.h"

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
void
SetDicomGeometry(itk::ImageBase<3> * image, const DicomVolume & volume);
} // namespace ProgramIO

#endif // DicomSeries_h
