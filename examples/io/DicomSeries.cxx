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
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <type_traits>

namespace ExampleIO
{
namespace
{
using Tag = std::uint32_t;

constexpr Tag           itemTag = 0xfffee000;
constexpr Tag           itemEndTag = 0xfffee00d;
constexpr Tag           sequenceEndTag = 0xfffee0dd;
constexpr std::uint32_t undefinedLength = 0xffffffff;

constexpr const char * implicitLittleEndian = "1.2.840.10008.1.2";
constexpr const char * explicitBigEndian = "1.2.840.10008.1.2.2";
constexpr const char * deflatedLittleEndian = "1.2.840.10008.1.2.1.99";

bool
IsPixelData(Tag tag)
{
  return tag == 0x7fe00010 || tag == 0x7fe00008 || tag == 0x7fe00009;
}

/** The text without padding. */
std::string
Trim(const std::string & text)
{
  const auto first = text.find_first_not_of(' ');
  const auto last = text.find_last_not_of(std::string(" \0", 2));
  return first == std::string::npos || last == std::string::npos || last < first ? ""
                                                                                 : text.substr(first, last + 1 - first);
}

/** The text in printable ASCII characters: headers can have any bytes, which terminals could execute. */
std::string
MakePrintable(const std::string & text)
{
  std::string printable;
  for (const char c : text)
  {
    if (c >= ' ' && c <= '~')
    {
      printable += c;
    }
    else if (static_cast<unsigned char>(c) >= 0x80)
    {
      printable += '?';
    }
  }
  return printable;
}

/** The numbers of a decimal string, such as 1.5\-2\3; nothing if there are not VCount, or one is no number up to 10^9.
 */
template <unsigned int VCount>
std::optional<std::array<double, VCount>>
ParseNumbers(const std::string & text)
{
  std::array<double, VCount> numbers{};
  std::istringstream         stream(text + '\\');
  std::string                part;
  unsigned int               count = 0;
  for (; std::getline(stream, part, '\\'); ++count)
  {
    part = Trim(part);
    const char * first = part.data() + (!part.empty() && part.front() == '+' ? 1 : 0);
    const char * last = part.data() + part.size();
    double       value = 0.0;
    const auto   result = std::from_chars(first, last, value);
    if (count == VCount || result.ec != std::errc{} || result.ptr != last || !(std::abs(value) <= 1e9))
    {
      return {};
    }
    numbers[count] = value;
  }
  if (count != VCount)
  {
    return {};
  }
  return numbers;
}

/** Whether the class of an object, as its SOPClassUID tells, should have pixel data. */
bool
IsImageClass(const std::string & uid)
{
  const std::string storage = "1.2.840.10008.5.1.4.1.1.";
  if (uid.compare(0, storage.size(), storage) != 0)
  {
    // DICOMDIR, private classes.
    return uid.empty();
  }
  const std::string kind = uid.substr(storage.size()) + '.';
  if (kind == "66.4." || kind == "481.1." || kind == "481.2.")
  {
    // Segmentation, RT Image, RT Dose.
    return true;
  }
  // Waveforms, presentation states, raw data, surfaces, measurements, reports, documents, plans, protocols.
  for (const char * other : { "9.",
                              "11.",
                              "34.",
                              "66.",
                              "67.",
                              "68.",
                              "69.",
                              "78.",
                              "79.",
                              "80.",
                              "81.",
                              "82.",
                              "88.",
                              "90.",
                              "104.",
                              "131.",
                              "200.",
                              "481." })
  {
    if (kind.compare(0, std::char_traits<char>::length(other), other) == 0)
    {
      return false;
    }
  }
  return true;
}

/** Reads the data elements of a DICOM file up to its pixel data. */
class HeaderReader
{
public:
  explicit HeaderReader(const std::string & fileName)
    : m_Stream(fileName, std::ios::binary)
    , m_Size(std::filesystem::file_size(fileName))
  {
    if (!m_Stream)
    {
      throw std::runtime_error("it cannot be opened");
    }
  }

  /** Go to the first element; returns whether there can be one. */
  bool
  FindStart()
  {
    std::array<unsigned char, 132> bytes{};
    m_Stream.read(reinterpret_cast<char *>(bytes.data()), bytes.size());
    const auto count = static_cast<std::size_t>(m_Stream.gcount());
    m_Stream.clear();
    if (count == bytes.size() && std::equal(bytes.begin() + 128, bytes.end(), "DICM"))
    {
      this->SetPosition(128 + 4);
      return true;
    }
    this->SetPosition(0);
    // Old files begin with the first element, of group 2 or 8.
    return count > 8 && (bytes[0] == 2 || bytes[0] == 8) && bytes[1] == 0 && bytes[3] == 0;
  }

  void
  Read(DicomFile & file)
  {
    std::map<Tag, std::string> values;
    std::string                transferSyntax;
    m_IsExplicit = true;
    while (m_Position < m_Size && this->GetInteger(this->Peek().data(), 2) == 2)
    {
      const Element element = this->ReadElement();
      if (element.tag == 0x00020010)
      {
        transferSyntax = Trim(this->ReadValue(element));
      }
      else if (element.tag == 0x00020002)
      {
        file.classUID = Trim(this->ReadValue(element));
      }
      else
      {
        this->SkipValue(element, 0);
      }
    }
    if (transferSyntax == deflatedLittleEndian)
    {
      throw std::runtime_error("it has the deflated transfer syntax, which is not supported");
    }
    m_IsExplicit = transferSyntax.empty() ? this->IsNextExplicit() : transferSyntax != implicitLittleEndian;
    m_IsBigEndian = transferSyntax == explicitBigEndian;
    const bool isNative = transferSyntax.compare(0, 19, "1.2.840.10008.1.2.4") != 0 &&
                          transferSyntax.compare(0, 19, "1.2.840.10008.1.2.5") != 0;

    while (m_Position < m_Size)
    {
      const Element element = this->ReadElement();
      if (IsPixelData(element.tag))
      {
        file.hasPixelData = true;
        this->SetFields(file, values);
        this->CheckPixelData(element, file, isNative);
        return;
      }
      if (IsNeeded(element.tag) && element.length <= 1024)
      {
        values[element.tag] = this->ReadValue(element);
        // Known even if the file is cut further on.
        this->SetFields(file, values);
      }
      else
      {
        this->SkipValue(element, 0);
      }
    }
    const bool isStandardClass = file.classUID.compare(0, 14, "1.2.840.10008.") == 0;
    if (IsImageClass(file.classUID) || (file.rows > 0 && !isStandardClass))
    {
      throw std::runtime_error("it has no pixel data");
    }
  }

private:
  struct Element
  {
    Tag           tag;
    std::uint32_t length;
    /** UN has implicit elements inside. */
    bool isUnknown;
  };

  static bool
  IsLetter(unsigned char c)
  {
    return c >= 'A' && c <= 'Z';
  }

  static bool
  IsNeeded(Tag tag)
  {
    static const std::set<Tag> needed{ 0x00080016, 0x00080018, 0x00080060, 0x0008103e, 0x00180050,
                                       0x00180088, 0x0020000e, 0x00200032, 0x00200037, 0x00200052,
                                       0x00280002, 0x00280004, 0x00280008, 0x00280010, 0x00280011,
                                       0x00280030, 0x00280100, 0x00281052, 0x00281053 };
    return needed.count(tag) > 0;
  }

  void
  SetFields(DicomFile & file, const std::map<Tag, std::string> & values) const
  {
    const auto text = [&values](Tag tag) {
      const auto found = values.find(tag);
      return found == values.end() ? std::string() : Trim(found->second);
    };
    const auto number = [this, &values](Tag tag, unsigned int otherwise) {
      const auto found = values.find(tag);
      if (found == values.end() || found->second.size() < 2)
      {
        return otherwise;
      }
      const auto first = static_cast<unsigned char>(found->second[0]);
      const auto second = static_cast<unsigned char>(found->second[1]);
      return m_IsBigEndian ? first * 256U + second : second * 256U + first;
    };
    if (const auto classUID = text(0x00080016); !classUID.empty())
    {
      file.classUID = classUID;
    }
    file.instanceUID = text(0x00080018);
    file.modality = text(0x00080060);
    file.description = text(0x0008103e);
    file.seriesUID = text(0x0020000e);
    file.frameOfReferenceUID = text(0x00200052);
    file.photometricInterpretation = text(0x00280004);
    file.samplesPerPixel = number(0x00280002, 1);
    file.rows = number(0x00280010, 0);
    file.columns = number(0x00280011, 0);
    file.bitsAllocated = number(0x00280100, 0);
    const auto numbers = [&text, &file](Tag tag, const char * name, auto & target, auto count) {
      const std::string value = text(tag);
      if (value.empty())
      {
        return;
      }
      const auto parsed = ParseNumbers<decltype(count)::value>(value);
      if (!parsed)
      {
        file.problem = "its " + std::string(name) + " is '" + MakePrintable(value.substr(0, 80)) + "', not " +
                       std::to_string(count) + (count == 1 ? " number" : " numbers") + " up to 10^9";
        return;
      }
      target.emplace(parsed->data());
    };
    using One = itk::Vector<double, 1>;
    std::optional<One> frames;
    std::optional<One> other;
    std::optional<One> slope;
    numbers(0x00200032, "ImagePositionPatient", file.position, std::integral_constant<unsigned int, 3>{});
    numbers(0x00200037, "ImageOrientationPatient", file.orientation, std::integral_constant<unsigned int, 6>{});
    numbers(0x00280030, "PixelSpacing", file.pixelSpacing, std::integral_constant<unsigned int, 2>{});
    numbers(0x00280008, "NumberOfFrames", frames, std::integral_constant<unsigned int, 1>{});
    numbers(0x00180050, "SliceThickness", other, std::integral_constant<unsigned int, 1>{});
    numbers(0x00180088, "SpacingBetweenSlices", other, std::integral_constant<unsigned int, 1>{});
    numbers(0x00281052, "RescaleIntercept", other, std::integral_constant<unsigned int, 1>{});
    numbers(0x00281053, "RescaleSlope", slope, std::integral_constant<unsigned int, 1>{});
    if (frames)
    {
      file.frames = static_cast<unsigned int>(std::max((*frames)[0], 1.0));
    }
    if (slope && (*slope)[0] == 0.0)
    {
      file.problem = "its RescaleSlope is 0";
    }
  }

  void
  CheckPixelData(const Element & element, const DicomFile & file, bool isNative)
  {
    if (file.rows == 0 || file.columns == 0 || file.bitsAllocated == 0)
    {
      throw std::runtime_error("it has pixel data, but no Rows, Columns or BitsAllocated");
    }
    static const std::set<unsigned int> sizes{ 1, 8, 12, 16, 32, 64 };
    if (sizes.count(file.bitsAllocated) == 0)
    {
      throw std::runtime_error("its BitsAllocated is " + std::to_string(file.bitsAllocated) +
                               ", not 1, 8, 12, 16, 32 or 64");
    }
    if (element.length == undefinedLength)
    {
      this->SkipItems(element, 0);
      return;
    }
    this->RequireBytes(element.length, element.tag);
    if (!isNative)
    {
      return;
    }
    // Two pixels share their colors in YBR_FULL_422.
    const bool   isHalved = file.photometricInterpretation == "YBR_FULL_422";
    const double samples = isHalved ? 2.0 : file.samplesPerPixel;
    const double needed =
      std::ceil(samples * file.rows * file.columns * file.frames * static_cast<double>(file.bitsAllocated) / 8.0);
    // One more byte makes the length even.
    if (static_cast<double>(element.length) < needed || static_cast<double>(element.length) > needed + 1.0)
    {
      std::ostringstream message;
      message.precision(17);
      message << "its pixel data has " << element.length << " bytes, but the header needs " << needed;
      throw std::runtime_error(message.str());
    }
  }

  void
  SetPosition(std::uintmax_t position)
  {
    m_Position = position;
    m_Stream.seekg(static_cast<std::streamoff>(position));
  }

  void
  RequireBytes(std::uintmax_t count, Tag tag) const
  {
    if (count > m_Size - m_Position)
    {
      std::ostringstream message;
      message << "it is cut: it has " << m_Size << " bytes, but its element (" << std::hex;
      message.fill('0');
      message.width(4);
      message << (tag >> 16) << ',';
      message.width(4);
      message << (tag & 0xffff) << std::dec << ") ends at " << m_Position + count;
      throw std::runtime_error(message.str());
    }
  }

  void
  ReadBytes(unsigned char * bytes, std::size_t count, Tag tag)
  {
    this->RequireBytes(count, tag);
    m_Stream.read(reinterpret_cast<char *>(bytes), static_cast<std::streamsize>(count));
    if (!m_Stream)
    {
      throw std::runtime_error("it cannot be read");
    }
    m_Position += count;
  }

  std::uint32_t
  GetInteger(const unsigned char * bytes, unsigned int count) const
  {
    std::uint32_t value = 0;
    for (unsigned int i = 0; i < count; ++i)
    {
      value = value << 8 | bytes[m_IsBigEndian ? i : count - 1 - i];
    }
    return value;
  }

  /** The start of the next element, which is not read yet. */
  std::array<unsigned char, 8>
  Peek()
  {
    const auto                   position = m_Position;
    std::array<unsigned char, 8> bytes{};
    this->ReadBytes(bytes.data(), bytes.size(), 0);
    this->SetPosition(position);
    return bytes;
  }

  bool
  IsNextExplicit()
  {
    const auto bytes = this->Peek();
    return IsLetter(bytes[4]) && IsLetter(bytes[5]);
  }

  Element
  ReadElement()
  {
    std::array<unsigned char, 8> bytes{};
    this->ReadBytes(bytes.data(), bytes.size(), 0);
    Element element{ this->GetInteger(bytes.data(), 2) << 16 | this->GetInteger(bytes.data() + 2, 2),
                     this->GetInteger(bytes.data() + 4, 4),
                     false };
    // Some writers mix implicit elements into explicit files.
    if (!m_IsExplicit || element.tag >> 16 == 0xfffe || !IsLetter(bytes[4]) || !IsLetter(bytes[5]))
    {
      return element;
    }
    const std::string                  representation(bytes.begin() + 4, bytes.begin() + 6);
    static const std::set<std::string> withLongLength{ "OB", "OD", "OF", "OL", "OV", "OW", "SQ",
                                                       "SV", "UC", "UN", "UR", "UT", "UV" };
    if (withLongLength.count(representation) == 0)
    {
      element.length = this->GetInteger(bytes.data() + 6, 2);
      return element;
    }
    this->ReadBytes(bytes.data(), 4, element.tag);
    element.length = this->GetInteger(bytes.data(), 4);
    element.isUnknown = representation == "UN";
    return element;
  }

  std::string
  ReadValue(const Element & element)
  {
    this->RequireBytes(element.length, element.tag);
    std::string value(element.length, '\0');
    this->ReadBytes(reinterpret_cast<unsigned char *>(value.data()), value.size(), element.tag);
    return value;
  }

  void
  SkipValue(const Element & element, unsigned int depth)
  {
    if (element.length == undefinedLength)
    {
      this->SkipItems(element, depth);
      return;
    }
    this->RequireBytes(element.length, element.tag);
    m_Position += element.length;
    // Seeking drops the buffer of the stream.
    if (element.length < 4096)
    {
      m_Stream.ignore(static_cast<std::streamsize>(element.length));
    }
    else
    {
      m_Stream.seekg(static_cast<std::streamoff>(m_Position));
    }
  }

  /** Skip the items of a sequence, or the fragments of compressed pixel data, of undefined length. */
  void
  SkipItems(const Element & sequence, unsigned int depth)
  {
    if (depth > 32)
    {
      throw std::runtime_error("its sequences are nested more than 32 times");
    }
    const bool wasExplicit = m_IsExplicit;
    m_IsExplicit = m_IsExplicit && !sequence.isUnknown;
    for (;;)
    {
      const Element item = this->ReadElement();
      if (item.tag == sequenceEndTag)
      {
        break;
      }
      if (item.tag != itemTag)
      {
        throw std::runtime_error("its sequences have elements outside of items");
      }
      if (item.length != undefinedLength)
      {
        this->SkipValue(item, depth + 1);
        continue;
      }
      for (Element element = this->ReadElement(); element.tag != itemEndTag; element = this->ReadElement())
      {
        this->SkipValue(element, depth + 1);
      }
    }
    m_IsExplicit = wasExplicit;
  }

  std::ifstream  m_Stream;
  std::uintmax_t m_Size;
  std::uintmax_t m_Position{ 0 };
  bool           m_IsExplicit{ true };
  bool           m_IsBigEndian{ false };
};

/** What a file without the start of a DICOM file is. */
std::string
DescribeOther(const std::string & fileName)
{
  std::ifstream         stream(fileName, std::ios::binary);
  std::array<char, 132> bytes{};
  stream.read(bytes.data(), bytes.size());
  if (stream.gcount() == 0)
  {
    return "it is empty";
  }
  const auto end = bytes.begin() + stream.gcount();
  return std::count(bytes.begin(), end, 0) == stream.gcount() ? "it begins with zeros" : "it is no DICOM file";
}

/** The extension in lower case; none if it is a number, as in names that are UIDs. */
std::string
GetExtension(const std::string & name)
{
  std::string extension = std::filesystem::path(name).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  });
  const bool isNumber =
    std::all_of(extension.begin(), extension.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
  return isNumber ? "" : extension;
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
               ", as of a tilted gantry; at most 10 % of the step of " + FormatNumber(median) + " mm are allowed");
    }
    const double offset = std::abs(length - meanLength * static_cast<double>(i));
    if (uneven.empty() && !(offset <= 0.1 * median))
    {
      uneven.push_back(Quote(GetBaseName(*files[i])) + ", which is " + FormatNumber(offset) + " mm beside its place,");
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

std::optional<DicomFile>
ReadDicomHeader(const std::string & fileName)
{
  DicomFile file;
  file.name = fileName;
  try
  {
    HeaderReader reader(fileName);
    if (!reader.FindStart())
    {
      return {};
    }
    reader.Read(file);
  }
  catch (const std::exception & error)
  {
    file.problem = error.what();
  }
  return file;
}

DicomFolder
ScanDicomFolder(const std::string & folder)
{
  namespace fs = std::filesystem;
  std::vector<DicomFile>   files;
  std::vector<DicomFile>   suspects;
  std::set<std::string>    extensions{ ".dcm", ".dicom", ".ima" };
  std::vector<std::string> names;
  for (const auto & entry : fs::directory_iterator(folder))
  {
    names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());

  for (const auto & name : names)
  {
    std::error_code error;
    const auto      status = fs::status(name, error);
    if (fs::is_directory(status))
    {
      continue;
    }
    DicomFile suspect;
    suspect.name = name;
    if (status.type() == fs::file_type::not_found)
    {
      suspect.problem = "it is a link to a file that is not there";
    }
    else if (!fs::is_regular_file(status))
    {
      suspect.problem = "it is no regular file";
    }
    else if (auto file = ReadDicomHeader(name))
    {
      if (file->hasPixelData || file->problem.empty())
      {
        extensions.insert(GetExtension(name));
      }
      files.push_back(std::move(*file));
      continue;
    }
    else
    {
      suspect.problem = DescribeOther(name);
    }
    suspects.push_back(suspect);
  }

  DicomFolder                                   result;
  std::map<std::string, std::vector<DicomFile>> groups;
  for (auto & file : files)
  {
    if (!file.seriesUID.empty() || file.hasPixelData)
    {
      groups[file.seriesUID].push_back(std::move(file));
    }
    else if (!file.problem.empty())
    {
      result.unreadable.push_back(std::move(file));
    }
  }
  for (auto & [uid, group] : groups)
  {
    const auto isUsed = [](const DicomFile & file) { return file.hasPixelData || !file.problem.empty(); };
    group.erase(std::remove_if(group.begin(), group.end(), [&](const DicomFile & file) { return !isUsed(file); }),
                group.end());
    if (std::any_of(group.begin(), group.end(), [](const DicomFile & file) { return file.hasPixelData; }))
    {
      result.series.push_back({ uid, std::move(group) });
    }
  }
  for (auto & suspect : suspects)
  {
    const std::string extension = GetExtension(suspect.name);
    const bool        hasImageName = extension == ".dcm" || extension == ".dicom" || extension == ".ima";
    // Another file, such as a README, can have no extension, as images often have.
    if (hasImageName || (extensions.count(extension) > 0 && suspect.problem != "it is no DICOM file"))
    {
      result.unreadable.push_back(std::move(suspect));
    }
  }
  return result;
}

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
