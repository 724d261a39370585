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
#ifndef ImageWriting_h
#define ImageWriting_h

// The images that a run writes: checked before a long computation, verified, and put into place together.

#include "Geometry.h"
#include "StagedFiles.h"
#include "itkImageIOBase.h"
#include "itkVectorImage.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace ExampleIO
{
/** What a file stores of an image, apart from its voxels. */
struct ImageProperties
{
  itk::IOPixelEnum     pixelType{ itk::IOPixelEnum::SCALAR };
  itk::IOComponentEnum componentType{ itk::IOComponentEnum::UNKNOWNCOMPONENTTYPE };
  unsigned int         numberOfComponents{ 1 };
  Geometry             geometry;
};

/** The properties of an image of a type with scalars or vectors, and with the geometry of an image. */
template <typename TImage, typename TGeometry>
ImageProperties
GetProperties(const TGeometry * image, unsigned int numberOfComponents = 1)
{
  using Component = typename TImage::InternalPixelType;
  constexpr bool isVector = std::is_same<TImage, itk::VectorImage<Component, TImage::ImageDimension>>::value;
  return { isVector ? itk::IOPixelEnum::VARIABLELENGTHVECTOR : itk::IOPixelEnum::SCALAR,
           itk::ImageIOBase::MapPixelType<Component>::CType,
           numberOfComponents,
           GetGeometry(image) };
}

/** Call a function that writes or reads this number of bytes in a file under a temporary name, alone in its folder;
 * tell the user what is wrong under the final name, first of all that the disk is full, which most writers do not
 * notice. */
void
CallWriter(const std::string & name, const std::filesystem::path & temporary, const std::function<void()> & function,
           std::uint64_t numberOfBytes = 0);

/** All files that a run writes. Before the computation, Add() checks each; after it, each is written under a temporary
 * name and verified; at last, Commit() moves all of them to their places. */
class OutputFiles
{
public:
  /** With the names of the files and folders that the run reads, none of which may be an output; empty names are
   * ignored. */
  explicit OutputFiles(std::vector<std::string> inputs)
    : m_Inputs(std::move(inputs))
  {}

  /** Add an image. A small one with the same type of pixels is written under a temporary name, and read again.
   * Throws if that fails, or if the file is an input, another output, or no regular file. */
  void
  AddImage(const std::string & name, const ImageProperties & properties);

  /** Add a file that is no image of ITK. */
  void
  AddFile(const std::string & name);

  /** The name to write an output under. */
  std::string
  GetTemporaryName(const std::string & name) const;

  /** Check an image that was written under its temporary name, and have Commit() move it. Throws if the file is not
   * complete, or if its header does not have these properties. Formats of pictures are also compared with the voxels,
   * unless they are null. */
  void
  FinishImage(const std::string & name, const ImageProperties & properties, const void * voxels = nullptr);

  /** Have Commit() move a file that is no image of ITK. */
  void
  FinishFile(const std::string & name);

  /** Write an image whose voxels are all in memory, and finish it. */
  template <typename TImage>
  void
  WriteImage(const TImage * image, const std::string & name)
  {
    if (image->GetBufferedRegion() != image->GetLargestPossibleRegion())
    {
      throw std::logic_error("the voxels of '" + name + "' are not all in memory");
    }
    const auto properties = GetProperties<TImage>(image, image->GetNumberOfComponentsPerPixel());
    this->WriteVoxels(name, properties, image->GetBufferPointer(), image->GetMetaDataDictionary());
    this->FinishImage(name, properties, image->GetBufferPointer());
  }

  /** Move all finished files to their places, together. */
  void
  Commit();

private:
  struct Output
  {
    std::string           name;
    std::filesystem::path target;
    std::filesystem::path temporary;
    /** The names of all files that its writer makes, such as a header and a file of voxels. */
    std::vector<std::filesystem::path> fileNames;
    bool                               isFinished{ false };
  };

  std::vector<std::string> m_Inputs;
  std::vector<Output>      m_Outputs;
  StagedFiles              m_Files;

  const Output &
  Find(const std::string & name) const;

  Output
  MakeOutput(const std::string & name);

  void
  CheckFiles(const Output & output) const;

  void
  WriteVoxels(const std::string & name, const ImageProperties & properties, const void * voxels,
              const itk::MetaDataDictionary & dictionary) const;
};
} // namespace ExampleIO

#endif // ImageWriting_h
