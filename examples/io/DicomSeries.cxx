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
#include "DicomSeries.h"

#include "Supervisor.h"
#include "Text.h"
#include "itkGDCMImageIO.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

namespace ExampleIO
{
namespace
{
std::string
GetBaseName(const DicomFile & file)
{
  return MakePrintable(std::filesystem::path(file.name).filename().string());
}

/** "'a.dcm', 'b.dcm' and 7 more". */
template <typename TTexts>
std::string
JoinSome(const TTexts & texts, std::size_t count, const char * separator = ", ")
{
  std::string joined;
  std::size_t i = 0;
  for (const auto & text : texts)
  {
    if (i == count)
    {
      return joined + " and " + std::to_string(texts.size() - count) + " more";
    }
    joined += (i++ == 0 ? "" : separator) + text;
  }
  return joined;
}

std::string
Quote(const std::string & text)
{
  return '\'' + text + '\'';
}

/** "'a.dcm', 'b.dcm' and 7 more". */
std::string
NameFiles(const std::vector<const DicomFile *> & files)
{
  std::vector<std::string> names;
  for (const auto * file : files)
  {
    names.push_back(Quote(GetBaseName(*file)));
  }
  return JoinSome(names, 5);
}

std::string
FormatNumber(double value)
{
  std::ostringstream text;
  text << value;
  return text.str();
}

[[noreturn]] void
Refuse(const std::string & folder, const std::string & why)
{
  throw std::runtime_error("the DICOM folder '" + folder + "' is refused: " + why);
}

std::string
DescribeProblems(const std::vector<const DicomFile *> & files)
{
  std::vector<std::string> texts;
  for (const auto * file : files)
  {
    texts.push_back(Quote(GetBaseName(*file)) + " (" + file->problem + ')');
  }
  return JoinSome(texts, 3);
}

/** Refuse files whose descriptions differ, and name those that differ from most. */
template <typename TFunction>
void
RequireSame(const std::string & folder, const std::vector<const DicomFile *> & files, const std::string & what,
            TFunction && describe)
{
  std::map<std::string, std::vector<const DicomFile *>> groups;
  for (const auto * file : files)
  {
    groups[describe(*file)].push_back(file);
  }
  if (groups.size() < 2)
  {
    return;
  }
  const auto largest = std::max_element(
    groups.begin(), groups.end(), [](const auto & a, const auto & b) { return a.second.size() < b.second.size(); });
  const auto other = largest == groups.begin() ? std::next(groups.begin()) : groups.begin();
  Refuse(folder,
         "the slices of a volume must have the same " + what + ", but " + NameFiles(other->second) + " " +
           (other->second.size() == 1 ? "has " : "have ") + other->first + ", and " + NameFiles(largest->second) + " " +
           (largest->second.size() == 1 ? "has " : "have ") + largest->first);
}

template <typename TVector>
bool
AreClose(const TVector & a, const TVector & b, double tolerance)
{
  for (unsigned int i = 0; i < TVector::Dimension; ++i)
  {
    if (!(std::abs(a[i] - b[i]) <= tolerance))
    {
      return false;
    }
  }
  return true;
}

template <typename TVector>
std::string
Describe(const std::optional<TVector> & vector)
{
  std::vector<double> values;
  if (vector)
  {
    values.assign(vector->GetDataPointer(), vector->GetDataPointer() + TVector::Dimension);
  }
  return vector ? '[' + Join(values, ", ") + ']' : "none";
}

/** Check what the header of a file tells about its plane. */
void
CheckPlane(const std::string & folder, const DicomFile & file)
{
  if (file.orientation)
  {
    const auto & o = *file.orientation;
    const double row = std::sqrt(o[0] * o[0] + o[1] * o[1] + o[2] * o[2]);
    const double column = std::sqrt(o[3] * o[3] + o[4] * o[4] + o[5] * o[5]);
    const double dot = o[0] * o[3] + o[1] * o[4] + o[2] * o[5];
    if (!(std::abs(row - 1.0) < 1e-3 && std::abs(column - 1.0) < 1e-3 && std::abs(dot) < 1e-3))
    {
      Refuse(folder,
             "ImageOrientationPatient must be two perpendicular unit vectors, but is " + Describe(file.orientation) +
               " in " + Quote(GetBaseName(file)));
    }
  }
  if (file.pixelSpacing && !((*file.pixelSpacing)[0] > 0.0 && (*file.pixelSpacing)[1] > 0.0))
  {
    Refuse(folder,
           "PixelSpacing must be positive, but is " + Describe(file.pixelSpacing) + " in " + Quote(GetBaseName(file)));
  }
}

/** Check what all slices must share. */
void
CheckSlices(const std::string & folder, const std::vector<const DicomFile *> & files)
{
  std::map<std::string, const DicomFile *> instances;
  for (const auto * file : files)
  {
    const auto [found, isNew] = instances.emplace(file->instanceUID, file);
    if (!isNew && !file->instanceUID.empty())
    {
      Refuse(folder,
             NameFiles({ found->second, file }) + " are the same image, SOPInstanceUID " +
               MakePrintable(file->instanceUID) + "; each slice must be there once");
    }
  }

  std::vector<const DicomFile *> multiframe;
  std::vector<const DicomFile *> without;
  for (const auto * file : files)
  {
    if (file->frames > 1)
    {
      multiframe.push_back(file);
    }
    if (!file->position || !file->orientation)
    {
      without.push_back(file);
    }
  }
  if (!multiframe.empty())
  {
    Refuse(folder,
           "the series has " + std::to_string(files.size()) + " files, and " + NameFiles(multiframe) +
             (multiframe.size() == 1 ? " has" : " have") +
             " more than one frame; a volume must be one such file, or files of one slice each");
  }
  if (!without.empty())
  {
    Refuse(folder,
           NameFiles(without) + (without.size() == 1 ? " has" : " have") +
             " no valid ImagePositionPatient and ImageOrientationPatient, which tell the place of a slice");
  }

  RequireSame(folder, files, "size", [](const DicomFile & file) {
    return std::to_string(file.columns) + 'x' + std::to_string(file.rows) + " pixels";
  });
  RequireSame(
    folder, files, "SamplesPerPixel", [](const DicomFile & file) { return std::to_string(file.samplesPerPixel); });
  RequireSame(folder, files, "PhotometricInterpretation", [](const DicomFile & file) {
    return file.photometricInterpretation.empty() ? std::string("none") : MakePrintable(file.photometricInterpretation);
  });
  RequireSame(
    folder, files, "BitsAllocated", [](const DicomFile & file) { return std::to_string(file.bitsAllocated); });
  RequireSame(folder, files, "FrameOfReferenceUID", [](const DicomFile & file) {
    return file.frameOfReferenceUID.empty() ? std::string("none") : MakePrintable(file.frameOfReferenceUID);
  });
  const DicomFile & first = *files.front();
  RequireSame(folder, files, "PixelSpacing", [&first](const DicomFile & file) {
    const bool isSame = first.pixelSpacing && file.pixelSpacing &&
                        AreClose(*first.pixelSpacing, *file.pixelSpacing, 1e-4 * first.pixelSpacing->GetNorm());
    return Describe(isSame ? first.pixelSpacing : file.pixelSpacing);
  });
  RequireSame(folder, files, "ImageOrientationPatient", [&first](const DicomFile & file) {
    return Describe(AreClose(*first.orientation, *file.orientation, 1e-4) ? first.orientation : file.orientation);
  });
}

/** Order the slices along their normal, and check the steps between them. Returns a warning. */
std::string
OrderSlices(const std::string & folder, std::vector<const DicomFile *> & files, const DicomOptions & options,
            DicomVolume & volume)
{
  const auto &                 o = *files.front()->orientation;
  const itk::Vector<double, 3> row(o.GetDataPointer());
  const itk::Vector<double, 3> column(o.GetDataPointer() + 3);
  itk::Vector<double, 3>       normal = itk::CrossProduct(row, column);
  normal.Normalize();

  const auto project = [&normal](const DicomFile * file) { return file->position->GetVectorFromOrigin() * normal; };
  // Names decide between equal positions, so that messages are always the same.
  std::sort(files.begin(), files.end(), [&project](const DicomFile * a, const DicomFile * b) {
    const double positionA = project(a);
    const double positionB = project(b);
    return positionA != positionB ? positionA < positionB : a->name < b->name;
  });

  std::vector<itk::Vector<double, 3>> steps;
  std::vector<double>                 lengths;
  for (std::size_t i = 1; i < files.size(); ++i)
  {
    steps.push_back(*files[i]->position - *files[i - 1]->position);
    if (steps.back() * normal > 1e-5)
    {
      lengths.push_back(steps.back() * normal);
    }
  }
  double median = 0.0;
  if (!lengths.empty())
  {
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    median = *middle;
  }

  for (std::size_t i = 0; i < steps.size(); ++i)
  {
    if (!(steps[i] * normal > std::max(1e-5, 0.01 * median)))
    {
      Refuse(folder,
             NameFiles({ files[i], files[i + 1] }) +
               " are at the same place along the normal of the slices, ImagePositionPatient " +
               Describe(files[i]->position) + " and " + Describe(files[i + 1]->position) +
               "; each slice must be there once");
    }
  }

  const double             tolerance = std::max(0.01 * median, std::min(0.01, 0.1 * median));
  std::vector<std::string> uneven;
  for (std::size_t i = 0; i < steps.size(); ++i)
  {
    const double                 length = steps[i] * normal;
    const itk::Vector<double, 3> sideways = steps[i] - normal * length;
    if (!(sideways.GetNorm() <= tolerance))
    {
      Refuse(folder,
             "the step from " + Quote(GetBaseName(*files[i])) + " to " + Quote(GetBaseName(*files[i + 1])) + " is " +
               FormatNumber(sideways.GetNorm()) + " mm in the plane of the slices, as of a tilted gantry; at most " +
               FormatNumber(tolerance) + " mm (1 % of the step) is allowed");
    }
    if (!(std::abs(length - median) <= tolerance))
    {
      uneven.push_back(FormatNumber(length) + " mm from " + Quote(GetBaseName(*files[i])) + " to " +
                       Quote(GetBaseName(*files[i + 1])));
    }
  }

  // Small differences of all steps must not add up.
  const std::size_t last = files.size() - 1;
  const double      meanLength = (project(files[last]) - project(files[0])) / static_cast<double>(last);
  for (std::size_t i = 1; i <= last; ++i)
  {
    const auto   fromFirst = *files[i]->position - *files[0]->position;
    const double length = fromFirst * normal;
    const double drift = (fromFirst - normal * length).GetNorm();
    if (!(drift <= 0.1 * median))
    {
      Refuse(folder,
             Quote(GetBaseName(*files[i])) + " is " + FormatNumber(drift) +
               " mm off the normal of the slices through " + Quote(GetBaseName(*files[0])) +
               ", as of a tilted gantry; at most 10 % of the step of " + FormatNumber(median) + " mm is allowed");
    }
    const double offset = std::abs(length - meanLength * static_cast<double>(i));
    if (uneven.empty() && !(offset <= 0.1 * median))
    {
      uneven.push_back(Quote(GetBaseName(*files[i])) + ", which is " + FormatNumber(offset) +
                       " mm off its even position,");
    }
  }

  const auto   whole = *files[last]->position - *files[0]->position;
  const double spacing = whole.GetNorm() / static_cast<double>(last);
  volume.hasGeometry = true;
  volume.origin = *files[0]->position;
  volume.spacing[2] = spacing;
  for (unsigned int d = 0; d < 3; ++d)
  {
    volume.direction[d][0] = row[d];
    volume.direction[d][1] = column[d];
    volume.direction[d][2] = normal[d];
  }

  if (uneven.empty())
  {
    return "";
  }
  const std::string what = "the steps between slices must agree within " + FormatNumber(tolerance) +
                           " mm (1 %), but the median is " + FormatNumber(median) + " mm, and " + JoinSome(uneven, 3) +
                           (uneven.size() == 1 ? " differs" : " differ") + ": slices are missing, or uneven";
  if (!options.allowUnevenSlices)
  {
    Refuse(folder,
           what + (options.areCommandLineOptions ? "; --allow-uneven-slices reads them as if they were even" : ""));
  }
  return "warning: in '" + folder + "', " + what + "; they are read as if each step were " + FormatNumber(spacing) +
         " mm";
}

/** Read the headers with ITK, and find the type of the values and the geometry. */
void
SetImageInformation(const std::string & folder, const std::vector<const DicomFile *> & files, DicomVolume & volume)
{
  unsigned int components = 0;
  for (const auto * file : files)
  {
    auto imageIO = itk::GDCMImageIO::New();
    imageIO->SetFileName(file->name);
    try
    {
      CallReader(GetBaseName(*file), [&imageIO] { imageIO->ReadImageInformation(); });
    }
    catch (const std::runtime_error & error)
    {
      Refuse(folder, error.what());
    }
    if (imageIO->GetDimensions(0) != file->columns || imageIO->GetDimensions(1) != file->rows)
    {
      Refuse(folder,
             "ITK reads " + std::to_string(imageIO->GetDimensions(0)) + 'x' +
               std::to_string(imageIO->GetDimensions(1)) + " pixels of " + Quote(GetBaseName(*file)) +
               ", whose header tells " + std::to_string(file->columns) + 'x' + std::to_string(file->rows));
    }

    const auto type = imageIO->GetComponentType();
    if (file == files.front())
    {
      volume.componentType = type;
      components = imageIO->GetNumberOfComponents();
      if (volume.hasGeometry)
      {
        volume.size = { { file->columns, file->rows, files.size() } };
        volume.spacing[0] = file->pixelSpacing ? (*file->pixelSpacing)[1] : imageIO->GetSpacing(0);
        volume.spacing[1] = file->pixelSpacing ? (*file->pixelSpacing)[0] : imageIO->GetSpacing(1);
      }
    }
    else if (type != volume.componentType)
    {
      // Rescaling can differ: a double holds the values of all types of DICOM.
      volume.componentType = itk::IOComponentEnum::DOUBLE;
    }
    if (imageIO->GetNumberOfComponents() != components)
    {
      Refuse(folder,
             Quote(GetBaseName(*files.front())) + " has " + std::to_string(components) + " components per pixel, but " +
               Quote(GetBaseName(*file)) + " has " + std::to_string(imageIO->GetNumberOfComponents()));
    }
  }
}

std::string
DescribeSeries(const DicomSeries & series)
{
  const auto & first = series.files.front();
  std::string  text = series.uid.empty() ? "(no SeriesInstanceUID)" : MakePrintable(series.uid);
  text += ": " + std::to_string(series.files.size()) + (series.files.size() == 1 ? " file" : " files");
  for (const auto & detail : { first.modality, first.description })
  {
    if (const auto printable = MakePrintable(detail); !printable.empty())
    {
      text += ", " + printable;
    }
  }
  return text;
}

/** The series that the user wants. */
const DicomSeries &
ChooseSeries(const std::string & name, const DicomFolder & folder, const DicomOptions & options)
{
  if (folder.series.empty())
  {
    throw std::runtime_error("the directory '" + name + "' holds no DICOM series with images");
  }
  std::vector<std::string> descriptions;
  for (const auto & series : folder.series)
  {
    if (!options.series.empty() && series.uid == options.series)
    {
      return series;
    }
    descriptions.push_back(DescribeSeries(series));
  }
  const std::string holds = "'" + name + "' holds " + std::to_string(folder.series.size()) + " series (" +
                            JoinSome(descriptions, 4, "; ") + ")";
  if (!options.series.empty())
  {
    throw std::runtime_error("there is no series '" + MakePrintable(options.series) + "' in the folder: " + holds);
  }
  if (folder.series.size() > 1)
  {
    throw std::runtime_error(
      "the folder " + holds + ", but one is needed" +
      (options.areCommandLineOptions ? ": --series UID chooses one, and --list-series lists them" : ""));
  }
  return folder.series.front();
}

/** The files of a series, in the order of the slices, with all checks of their headers. */
std::vector<const DicomFile *>
CheckSeries(const std::string & folder, const DicomSeries & series, const DicomOptions & options, DicomVolume & volume)
{
  std::vector<const DicomFile *> files;
  std::vector<const DicomFile *> broken;
  for (const auto & file : series.files)
  {
    (file.problem.empty() ? files : broken).push_back(&file);
  }
  if (!broken.empty())
  {
    Refuse(folder, "all files of a series must be readable, but not " + DescribeProblems(broken));
  }
  CheckPlane(folder, *files.front());
  if (files.size() > 1)
  {
    CheckSlices(folder, files);
    volume.remark = OrderSlices(folder, files, options, volume);
  }
  return files;
}
} // namespace

std::string
DescribeDicomSeries(const std::string & name)
{
  const auto folder = ScanDicomFolder(name);
  if (folder.series.empty() && folder.unreadable.empty())
  {
    throw std::runtime_error("the directory '" + name + "' holds no DICOM series with images");
  }
  std::ostringstream text;
  for (const auto & series : folder.series)
  {
    text << DescribeSeries(series);
    try
    {
      DicomVolume  volume;
      const auto   files = CheckSeries(name, series, {}, volume);
      const auto & first = *files.front();
      text << ", " << first.columns << 'x' << first.rows << 'x'
           << (files.size() > 1 ? files.size() : std::size_t{ first.frames }) << " voxels";
      if (volume.hasGeometry && first.pixelSpacing)
      {
        text << " of " << (*first.pixelSpacing)[1] << 'x' << (*first.pixelSpacing)[0] << 'x' << volume.spacing[2]
             << " mm";
      }
      text << '\n';
    }
    catch (const std::exception & error)
    {
      text << "; no volume: " << error.what() << '\n';
    }
  }
  for (const auto & file : folder.unreadable)
  {
    text << "cannot be read: " << GetBaseName(file) << " (" << file.problem << ")\n";
  }
  return text.str();
}

DicomVolume
FindDicomVolume(const std::string & name, const DicomOptions & options)
{
  const auto folder = ScanDicomFolder(name);
  if (!folder.unreadable.empty())
  {
    std::vector<const DicomFile *> unreadable;
    for (const auto & file : folder.unreadable)
    {
      unreadable.push_back(&file);
    }
    Refuse(name, "files that look like DICOM files must be readable, but not " + DescribeProblems(unreadable));
  }

  DicomVolume volume;
  const auto  files = CheckSeries(name, ChooseSeries(name, folder, options), options, volume);
  SetImageInformation(name, files, volume);
  for (const auto * file : files)
  {
    volume.fileNames.push_back(file->name);
  }
  return volume;
}
} // namespace ExampleIO
