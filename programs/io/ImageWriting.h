// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef ImageWriting_h
#define ImageWriting_h

// The files that a run writes: checked before a long computation, verified, and put into place together.

#include "Geometry.h"
#include "Process.h"
#include "itkImageIOBase.h"
#include "itkVectorImage.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ProgramIO
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

/** Write an image with its ImageIO, as itk::ImageFileWriter does. */
void
WriteVoxels(const std::string & file, const ImageProperties & properties, const void * voxels,
            const itk::MetaDataDictionary & dictionary);

/** A file that is written under a temporary name. */
struct OutputFile
{
  std::filesystem::path temporary;
  std::filesystem::path target;
};

/** All files that a run writes.
 *
 * Nothing that the run reads is ever replaced: an output, or the file with its voxels, that is a file of an input under
 * any name is refused. Two outputs have no file in common.
 *
 * Each file is written into a hidden folder .voxelmaps-... beside its place. When all are complete, Commit() moves
 * them. What a run has written that fails before never appears under the final names, and what was there stays. */
class OutputFiles
{
public:
  /** With the names of the files and folders that the run reads; empty names are ignored. */
  explicit OutputFiles(const std::vector<std::string> & inputs);
  /** Add an image. A small one with the same type of pixels is written into the hidden folder, and its header read
   * again. Throws if that fails, or if no file can be written under this name. */
  void
  AddImage(const std::string & name, const ImageProperties & properties);

  /** The name to write an output under. */
  std::string
  GetTemporaryName(const std::string & name) const;

  /** Call a function that writes an output under its temporary name. Throws if it fails, with the name of the output
   * and what is wrong: first of all that the disk is full, which most writers do not notice. */
  void
  Write(const std::string & name, const std::function<void()> & write) const;

  /** Check an image that was written under its temporary name, wait until it is on the disk, and have Commit() move it.
   * Throws if the file is not complete, or if its header does not have these properties. */
  void
  FinishImage(const std::string & name, const ImageProperties & properties);

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
    this->Write(name, [&] {
      WriteVoxels(this->GetTemporaryName(name), properties, image->GetBufferPointer(), image->GetMetaDataDictionary());
    });
    this->FinishImage(name, properties);
  }

  /** Move all files to their places. Throws if one cannot be moved; those before it are in their places then. The modes
   * of former files are kept. */
  void
  Commit();

private:
  struct Output
  {
    /** Its writer may make a second file, for the header or the voxels. */
    std::vector<OutputFile> files;
    bool                    isFinished{ false };
  };

  void
  Add(const std::string & name, const std::string & secondExtension);
  std::filesystem::path
  MakeFolder(const std::filesystem::path & place, const std::string & name);

  /** The files of the inputs, and their names. */
  std::vector<std::pair<std::filesystem::path, std::string>> m_Inputs;
  std::map<std::string, Output>                              m_Outputs;
  /** The hidden folders, with all files that are not moved, by the folders that they are in. */
  std::map<std::filesystem::path, std::unique_ptr<TemporaryFolder>> m_Folders;
};
} // namespace ProgramIO

#endif // ImageWriting_h
