// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "voxelmaps/DicomVolume.h"
#include "DicomHeader.h"
#include "FileContent.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

namespace voxelmaps
{
namespace
{
using Vector = std::array<double, 3>;
using Files = std::vector<const DicomFile *>;

Vector
operator-(const Vector & a, const Vector & b)
{
  return { a[0] - b[0], a[1] - b[1], a[2] - b[2] };
}

Vector
operator*(double factor, const Vector & a)
{
  return { factor * a[0], factor * a[1], factor * a[2] };
}

double
Dot(const Vector & a, const Vector & b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double
GetLength(const Vector & a)
{
  return std::sqrt(Dot(a, a));
}

Vector
Cross(const Vector & a, const Vector & b)
{
  return { a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0] };
}

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
NameFiles(const Files & files)
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
DescribeProblems(const Files & files)
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
RequireSame(const std::string & folder, const Files & files, const std::string & what, TFunction && describe)
{
  std::map<std::string, Files> groups;
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

template <std::size_t VSize>
bool
AreClose(const std::array<double, VSize> & a, const std::array<double, VSize> & b, double tolerance)
{
  return std::equal(
    a.begin(), a.end(), b.begin(), [tolerance](double x, double y) { return std::abs(x - y) <= tolerance; });
}

template <std::size_t VSize>
std::string
Describe(const std::optional<std::array<double, VSize>> & vector)
{
  if (!vector)
  {
    return "none";
  }
  std::string text;
  for (const double value : *vector)
  {
    text += (text.empty() ? "[" : ", ") + FormatNumber(value);
  }
  return text + ']';
}

/** Check what the header of a file tells about its plane. */
void
CheckPlane(const std::string & folder, const DicomFile & file)
{
  if (file.orientation)
  {
    const auto & o = *file.orientation;
    const Vector first{ o[0], o[1], o[2] };
    const Vector second{ o[3], o[4], o[5] };
    const double row = GetLength(first);
    const double column = GetLength(second);
    const double dot = Dot(first, second);
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
CheckSlices(const std::string & folder, const Files & files)
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

  Files multiframe;
  Files without;
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
                        AreClose(*first.pixelSpacing,
                                 *file.pixelSpacing,
                                 1e-4 * GetLength(Vector{ (*first.pixelSpacing)[0], (*first.pixelSpacing)[1], 0.0 }));
    return Describe(isSame ? first.pixelSpacing : file.pixelSpacing);
  });
  RequireSame(folder, files, "ImageOrientationPatient", [&first](const DicomFile & file) {
    return Describe(AreClose(*first.orientation, *file.orientation, 1e-4) ? first.orientation : file.orientation);
  });
}

/** Order the slices along their normal, and check the steps between them. Returns a warning. */
std::string
OrderSlices(const std::string & folder, Files & files, const DicomOptions & options, DicomVolume & volume)
{
  const auto & o = *files.front()->orientation;
  const Vector row{ o[0], o[1], o[2] };
  const Vector column{ o[3], o[4], o[5] };
  const Vector cross = Cross(row, column);
  const Vector normal = 1.0 / GetLength(cross) * cross;
  const auto   project = [&normal](const DicomFile * file) { return Dot(*file->position, normal); };
  // Names decide between equal positions, so that messages are always the same.
  std::sort(files.begin(), files.end(), [&project](const DicomFile * a, const DicomFile * b) {
    const double positionA = project(a);
    const double positionB = project(b);
    return positionA != positionB ? positionA < positionB : a->name < b->name;
  });

  std::vector<Vector> steps;
  std::vector<double> lengths;
  for (std::size_t i = 1; i < files.size(); ++i)
  {
    steps.push_back(*files[i]->position - *files[i - 1]->position);
    if (const double length = Dot(steps.back(), normal); length > 1e-5)
    {
      lengths.push_back(length);
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
    if (!(Dot(steps[i], normal) > std::max(1e-5, 0.01 * median)))
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
    const double length = Dot(steps[i], normal);
    const double sideways = GetLength(steps[i] - length * normal);
    if (!(sideways <= tolerance))
    {
      Refuse(folder,
             "the step from " + Quote(GetBaseName(*files[i])) + " to " + Quote(GetBaseName(*files[i + 1])) + " is " +
               FormatNumber(sideways) + " mm in the plane of the slices, as of a tilted gantry; at most " +
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
    const double length = Dot(fromFirst, normal);
    const double drift = GetLength(fromFirst - length * normal);
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
  const double spacing = GetLength(whole) / static_cast<double>(last);
  volume.hasGeometry = true;
  volume.origin = *files[0]->position;
  volume.spacing[2] = spacing;
  for (std::size_t d = 0; d < 3; ++d)
  {
    volume.direction[3 * d] = row[d];
    volume.direction[3 * d + 1] = column[d];
    volume.direction[3 * d + 2] = normal[d];
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
    Refuse(folder, what + options.unevenAdvice);
  }
  return "in '" + folder + "', " + what + "; they are read as if each step were " + FormatNumber(spacing) + " mm";
}

/** Order the files of a series, with all checks of their headers. */
void
CheckFiles(const std::string & folder, Files & files, const DicomOptions & options, DicomVolume & volume)
{
  Files broken;
  std::copy_if(files.begin(), files.end(), std::back_inserter(broken), [](const DicomFile * file) {
    return !file->problem.empty();
  });
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
}

/** What tells a series from others. */
DicomVolume
GetLabels(const DicomSeries & series)
{
  DicomVolume volume;
  volume.uid = series.uid;
  volume.modality = MakePrintable(series.files.front().modality);
  volume.description = MakePrintable(series.files.front().description);
  for (const auto & file : series.files)
  {
    volume.fileNames.push_back(file.name);
  }
  return volume;
}

DicomVolume
MakeVolume(const std::string & folder, const DicomSeries & series, const DicomOptions & options)
{
  Files files;
  std::transform(
    series.files.begin(), series.files.end(), std::back_inserter(files), [](const DicomFile & file) { return &file; });
  DicomVolume       volume = GetLabels(series);
  const DicomFile & first = series.files.front();
  try
  {
    CheckFiles(folder, files, options, volume);
    volume.size = { first.columns, first.rows, files.size() > 1 ? files.size() : std::size_t{ first.frames } };
    if (first.pixelSpacing)
    {
      volume.spacing[0] = (*first.pixelSpacing)[1];
      volume.spacing[1] = (*first.pixelSpacing)[0];
    }
  }
  catch (const std::runtime_error & error)
  {
    volume.problem = error.what();
  }
  std::transform(
    files.begin(), files.end(), volume.fileNames.begin(), [](const DicomFile * file) { return file->name; });
  return volume;
}

DicomFolder
Scan(const std::string & name)
{
  std::error_code error;
  if (!std::filesystem::is_directory(name, error))
  {
    throw std::runtime_error("there is no folder '" + name + "'");
  }
  return ScanDicomFolder(name);
}

std::string
DescribeUnreadable(const DicomFolder & folder)
{
  Files files;
  std::transform(folder.unreadable.begin(), folder.unreadable.end(), std::back_inserter(files), [](const auto & file) {
    return &file;
  });
  return DescribeProblems(files);
}
} // namespace

std::string
DescribeDicomSeries(const DicomVolume & series)
{
  std::string text = series.uid.empty() ? "(no SeriesInstanceUID)" : MakePrintable(series.uid);
  text += ": " + std::to_string(series.fileNames.size()) + (series.fileNames.size() == 1 ? " file" : " files");
  for (const auto & detail : { series.modality, series.description })
  {
    text += detail.empty() ? "" : ", " + detail;
  }
  return text;
}

std::vector<DicomVolume>
ListDicomSeries(const std::string & name, std::string & unreadable)
{
  const auto folder = Scan(name);
  unreadable = DescribeUnreadable(folder);
  std::vector<DicomVolume> list;
  for (const auto & series : folder.series)
  {
    list.push_back(MakeVolume(name, series, {}));
  }
  return list;
}

DicomVolume
FindDicomSeries(const std::string & name, const DicomOptions & options)
{
  const auto folder = Scan(name);
  if (!folder.unreadable.empty())
  {
    Refuse(name, "files that look like DICOM files must be readable, but not " + DescribeUnreadable(folder));
  }
  if (folder.series.empty())
  {
    throw std::runtime_error("the directory '" + name + "' holds no DICOM series with images");
  }
  std::vector<std::string> descriptions;
  const DicomSeries *      chosen = options.series.empty() ? &folder.series.front() : nullptr;
  for (const auto & series : folder.series)
  {
    chosen = !options.series.empty() && series.uid == options.series ? &series : chosen;
    descriptions.push_back(DescribeDicomSeries(GetLabels(series)));
  }
  const std::string holds = "'" + name + "' holds " + std::to_string(folder.series.size()) + " series (" +
                            JoinSome(descriptions, 4, "; ") + ")";
  if (!chosen)
  {
    throw std::runtime_error("there is no series '" + MakePrintable(options.series) + "' in the folder: " + holds);
  }
  if (options.series.empty() && folder.series.size() > 1)
  {
    throw std::runtime_error("the folder " + holds + ", but one is needed" + options.seriesAdvice);
  }
  auto volume = MakeVolume(name, *chosen, options);
  if (!volume.problem.empty())
  {
    throw std::runtime_error(volume.problem);
  }
  return volume;
}
} // namespace voxelmaps
