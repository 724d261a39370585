// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef voxelmaps_ImageFile_h
#define voxelmaps_ImageFile_h

// Which image files may be read, checked before a library reads them: readers replace what is missing in some files by
// zeros or uninitialized memory without a message, or abort. A file may be longer than its header promises, but not
// shorter.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace voxelmaps
{
/** The formats whose files can be checked. */
enum class ImageFileFormat
{
  Nifti,
  MetaImage,
  Nrrd,
  Png,
  Dicom
};

/** A compressed part of a file, which decompression checks. */
struct CompressedPart
{
  std::string file;
  /** Where it begins, and how many bytes it has at most. */
  std::uint64_t offset{ 0 };
  std::uint64_t size{ std::numeric_limits<std::uint64_t>::max() };
  /** How many bytes the header promises after decompression. */
  std::uint64_t promised{ 0 };
};

/** An image file whose header has been checked. */
struct ImageFile
{
  std::string     name;
  ImageFileFormat format{ ImageFileFormat::Nifti };
  /** The files that an image is read from: the header, then the file of the voxels if that is another one. */
  std::vector<std::string> files;
  /** What VerifyCompressedVoxels decompresses. */
  std::vector<CompressedPart> compressedParts;
  /** ITK's reader of NIfTI would read the voxels of a file beside this one, such as head.nii beside head.nii.gz. Have
   * it read a link to the file in an empty folder instead. */
  bool needsLink{ false };
};

/** Check the header of an image file, and that the file is as long as the header promises. Throws std::runtime_error,
 * with one line that names the file and the rule, if the file is not there, is no regular file, has another format,
 * has no voxels, is cut, or has what ITK's readers ignore, such as intensity scaling in MetaImage. */
ImageFile
InspectImageFile(const std::string & name);

/** Decompress the compressed voxels of an image file, and throw std::runtime_error if they are damaged or too few. This
 * takes about as long as reading them. */
void
VerifyCompressedVoxels(const ImageFile & file);

/** All files that reading an image would open: header and voxels, or what a folder has in it. Names that cannot be read
 * are returned alone. */
std::vector<std::string>
GetFilesOfImage(const std::string & name);

/** What the system says of an error number, beginning in lower case. */
std::string
GetSystemMessage(int error);
} // namespace voxelmaps

#endif // voxelmaps_ImageFile_h
