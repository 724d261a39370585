// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "FuzzerUtilities.h"
#include "voxelmaps/ImageFile.h"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

// Image files of all kinds for the checks before a reader sees them: bytes as they are, compressed, cut, or as a header
// beside a file of data. The checks must pass a file, or refuse it with one line that names it.
namespace
{
/** A folder for the files of this process, in memory where there is such a place, removed at the end. */
class Folder
{
public:
  Folder()
  {
    const std::filesystem::path memory = "/dev/shm";
    std::string                 path =
      (std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path()) / "VoxelMapsImageFileXXXXXX";
    VoxelMapsFuzz::Require(mkdtemp(path.data()) != nullptr, "no folder can be made for the files");
    m_Path = path;
  }
  ~Folder()
  {
    std::error_code ignored;
    std::filesystem::remove_all(m_Path, ignored);
  }

  std::string
  Write(const std::string & name, const std::string & content) const
  {
    const std::filesystem::path path = m_Path / name;
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }

private:
  std::filesystem::path m_Path;
};

std::string
Compress(const std::string & content)
{
  z_stream stream{};
  // 16 asks for a header of gzip.
  VoxelMapsFuzz::Require(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "no zlib");
  std::string result(deflateBound(&stream, static_cast<uLong>(content.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef *>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

template <typename TCheck>
void
Check(const std::string & name, const TCheck & check)
{
  try
  {
    check(name);
  }
  catch (const std::runtime_error & error)
  {
    const std::string message = error.what();
    const auto        isControl = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (message.find("VoxelMapsImageFile") == std::string::npos)
    {
      VoxelMapsFuzz::Fail("the message does not name the file: " + message);
    }
    if (std::any_of(message.begin(), message.end(), isControl))
    {
      VoxelMapsFuzz::Fail("the message is not one line of text: " + message);
    }
    if (message.size() > 1000)
    {
      VoxelMapsFuzz::Fail("the message is long: " + message);
    }
  }
}
} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const std::uint8_t * bytes, std::size_t numberOfBytes)
{
  static const Folder       folder;
  static const char * const extensions[] = { "nii",  "nii.gz", "hdr", "hdr.gz", "img",     "img.gz",
                                             "mha",  "mhd",    "mhd", "nrrd",   "nhdr",    "nhdr",
                                             "gipl", "vtk",    "png", "dcm",    "gipl.gz", "" };
  if (numberOfBytes < 2)
  {
    return 0;
  }
  // The first two bytes, so that the rest of an input is the file itself.
  const std::string extension = extensions[bytes[0] % std::size(extensions)];
  const bool        isCompressed = (bytes[1] & 1) != 0;
  const std::size_t cut = bytes[1] >> 1 & 7;
  const std::size_t dataSize = static_cast<std::size_t>(bytes[1] >> 4) * 16;
  std::string       content(reinterpret_cast<const char *>(bytes) + 2, numberOfBytes - 2);
  if (isCompressed)
  {
    content = Compress(content);
  }
  content.resize(content.size() - std::min(content.size(), cut));

  const std::string name = folder.Write("file" + (extension.empty() ? "" : "." + extension), content);
  // What headers of data in another file name.
  const std::string data(dataSize, '\1');
  const std::string dataName = extension == "hdr" ? "file.img" : extension == "img" ? "file.hdr" : "file.raw";
  if (extension != "raw")
  {
    folder.Write(dataName, extension == "img" ? content : data);
  }
  Check(name, [](const std::string & file) { VerifyCompressedVoxels(voxelmaps::InspectImageFile(file)); });
  return 0;
}
