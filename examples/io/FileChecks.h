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
#ifndef FileChecks_h
#define FileChecks_h

// Checks of image files before a library reads them. Several readers of ITK take files that are cut or damaged without
// a word, as zeros or uninitialized memory, or abort. A file may be longer than its header promises, but not shorter.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ExampleIO
{
/** A compressed part of a file. */
struct CompressedPart
{
  std::string file;
  /** Where it begins, and how many bytes it has at most. */
  std::uint64_t offset{ 0 };
  std::uint64_t size{ std::numeric_limits<std::uint64_t>::max() };
  /** How many bytes the header promises after decompression. */
  std::uint64_t promised{ 0 };
};

/** Throw std::runtime_error, "cannot read 'name': ..." or "'name' has no voxels", if the header of an image file is
 * absurd, or if the file is shorter than the header promises. Returns the compressed parts, of which this checks no
 * more than the size. Files of formats that it does not know pass. */
std::vector<CompressedPart>
CheckImageHeader(const std::string & name);

/** Throw std::runtime_error, "cannot read 'name': ...", if the compressed parts of an image file cannot be
 * decompressed, have another checksum than they tell, or are shorter than the header promises. */
void
CheckCompressedParts(const std::string & name, const std::vector<CompressedPart> & parts);

/** Both: check all that can be checked without a reader. */
void
CheckImageFile(const std::string & name);

/** Throw std::runtime_error, "cannot read 'name': ...", if a DICOM file has no pixel data, or ends before them or
 * within them. Files without the prefix "DICM" pass. */
void
CheckDicomFile(const std::string & name);
} // namespace ExampleIO

#endif // FileChecks_h
