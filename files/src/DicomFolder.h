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
#ifndef DicomFolder_h
#define DicomFolder_h

// Finds the series of DICOM files in a folder.

#include "DicomHeader.h"

#include <string>
#include <vector>

namespace voxelmaps
{
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

#endif // DicomFolder_h
