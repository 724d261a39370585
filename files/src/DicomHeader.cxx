// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#include "DicomHeader.h"

#include "FileContent.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <type_traits>

namespace voxelmaps
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
constexpr const char * generalElectric = "1.2.840.113619.5.2";
constexpr const char * deflatedLittleEndian = "1.2.840.10008.1.2.1.99";

bool
IsPixelData(Tag tag)
{
  return tag == 0x7fe00010 || tag == 0x7fe00008 || tag == 0x7fe00009;
}

/** A tag as the standard writes it. */
std::string
Describe(Tag tag)
{
  constexpr const char * digits = "0123456789abcdef";
  std::string            text = "element (";
  for (int i = 7; i >= 0; --i)
  {
    text += digits[(tag >> (4 * i)) & 15U];
    text += i == 4 ? "," : "";
  }
  return text + ')';
}

/** The text without padding. */
std::string
TrimPadding(const std::string & text)
{
  const auto first = text.find_first_not_of(' ');
  const auto last = text.find_last_not_of(std::string(" \0", 2));
  return first == std::string::npos || last == std::string::npos || last < first ? ""
                                                                                 : text.substr(first, last + 1 - first);
}

/** The numbers of a decimal string, such as 1.5\-2\3; empty unless there are VCount numbers of at most 10^9. */
template <std::size_t VCount>
std::optional<std::array<double, VCount>>
ParseNumbers(const std::string & text)
{
  std::array<double, VCount> numbers{};
  std::istringstream         stream(text + '\\');
  std::string                part;
  std::size_t                count = 0;
  for (; std::getline(stream, part, '\\'); ++count)
  {
    part = TrimPadding(part);
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
  // All but waveforms, presentation states, raw data, surfaces, measurements, reports, documents, plans and protocols.
  // Of these groups, Segmentation, RT Image and RT Dose are images.
  static const std::regex images("66\\.4|481\\.[12]");
  static const std::regex others("(9|11|34|66|67|68|69|78|79|80|81|82|88|90|104|131|200|481)(\\..*)?");
  const std::string       kind = uid.substr(storage.size());
  return std::regex_match(kind, images) || !std::regex_match(kind, others);
}

/** Reads the data elements of a DICOM file up to its pixel data. */
class HeaderReader
{
public:
  explicit HeaderReader(DicomFile & file)
    : m_File(file)
    , m_Stream(file.name, std::ios::binary)
    , m_Size(std::filesystem::file_size(file.name))
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
  Read()
  {
    std::map<Tag, std::string> values;
    std::string                transferSyntax;
    m_IsExplicit = true;
    const auto start = m_Position;
    while (m_Position < m_Size && this->GetInteger(this->Peek().data(), 2) == 2)
    {
      const Element element = this->ReadElement();
      if (element.tag == 0x00020010)
      {
        transferSyntax = TrimPadding(this->ReadValue(element));
      }
      else if (element.tag == 0x00020002)
      {
        m_File.classUID = TrimPadding(this->ReadValue(element));
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
    const bool hasGroup = m_Position > start;
    if (hasGroup && transferSyntax.compare(0, 17, implicitLittleEndian) != 0 && transferSyntax != generalElectric)
    {
      throw std::runtime_error("its transfer syntax '" + MakePrintable(transferSyntax.substr(0, 80)) +
                               "' is not one of DICOM");
    }
    m_IsExplicit = transferSyntax.empty() || transferSyntax == generalElectric ? this->IsNextExplicit()
                                                                               : transferSyntax != implicitLittleEndian;
    m_IsBigEndian = transferSyntax == explicitBigEndian;
    const bool isNative = transferSyntax.compare(0, 19, "1.2.840.10008.1.2.4") != 0 &&
                          transferSyntax.compare(0, 19, "1.2.840.10008.1.2.5") != 0;

    while (m_Position < m_Size)
    {
      const Element element = this->ReadElement();
      if (IsPixelData(element.tag))
      {
        m_File.hasPixelData = true;
        this->SetFields(values);
        this->CheckPixelData(element, isNative);
        return;
      }
      if (element.tag == 0x00283000)
      {
        // The reader of ITK would give the stored values.
        throw std::runtime_error("its values are mapped by a ModalityLUTSequence, which is not supported");
      }
      if (IsNeeded(element.tag) && element.length <= 1024)
      {
        values[element.tag] = this->ReadValue(element);
        // Known even if the file is cut further on.
        this->SetFields(values);
      }
      else
      {
        this->SkipValue(element, 0);
      }
    }
    const bool isStandardClass = m_File.classUID.compare(0, 14, "1.2.840.10008.") == 0;
    if (IsImageClass(m_File.classUID) || (m_File.rows > 0 && !isStandardClass))
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
  SetFields(const std::map<Tag, std::string> & values)
  {
    const auto text = [&values](Tag tag) {
      const auto found = values.find(tag);
      return found == values.end() ? std::string() : TrimPadding(found->second);
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
      m_File.classUID = classUID;
    }
    m_File.instanceUID = text(0x00080018);
    m_File.modality = text(0x00080060);
    m_File.description = text(0x0008103e);
    m_File.seriesUID = text(0x0020000e);
    m_File.frameOfReferenceUID = text(0x00200052);
    m_File.photometricInterpretation = text(0x00280004);
    m_File.samplesPerPixel = number(0x00280002, 1);
    m_File.rows = number(0x00280010, 0);
    m_File.columns = number(0x00280011, 0);
    m_File.bitsAllocated = number(0x00280100, 0);
    const auto numbers = [this, &text](Tag tag, const char * name, auto & target) {
      const std::string     value = text(tag);
      constexpr std::size_t count = std::tuple_size<typename std::decay_t<decltype(target)>::value_type>::value;
      if (value.empty())
      {
        return;
      }
      target = ParseNumbers<count>(value);
      if (!target)
      {
        m_File.problem = "its " + std::string(name) + " is '" + MakePrintable(value.substr(0, 80)) + "', not " +
                         std::to_string(count) + (count == 1 ? " number" : " numbers") + " up to 10^9";
      }
    };
    std::optional<std::array<double, 1>> frames;
    std::optional<std::array<double, 1>> other;
    std::optional<std::array<double, 1>> slope;
    numbers(0x00200032, "ImagePositionPatient", m_File.position);
    numbers(0x00200037, "ImageOrientationPatient", m_File.orientation);
    numbers(0x00280030, "PixelSpacing", m_File.pixelSpacing);
    numbers(0x00280008, "NumberOfFrames", frames);
    numbers(0x00180050, "SliceThickness", other);
    numbers(0x00180088, "SpacingBetweenSlices", other);
    numbers(0x00281052, "RescaleIntercept", other);
    numbers(0x00281053, "RescaleSlope", slope);
    if (frames && (*frames)[0] != std::floor((*frames)[0]))
    {
      m_File.problem = "its NumberOfFrames is " + text(0x00280008) + ", not a whole number";
    }
    if (frames)
    {
      m_File.frames = static_cast<unsigned int>(std::max((*frames)[0], 1.0));
    }
    if (slope && (*slope)[0] == 0.0)
    {
      m_File.problem = "its RescaleSlope is 0";
    }
  }

  void
  CheckPixelData(const Element & element, bool isNative)
  {
    if (m_File.rows == 0 || m_File.columns == 0 || m_File.bitsAllocated == 0)
    {
      throw std::runtime_error("it has pixel data, but no Rows, Columns or BitsAllocated");
    }
    static const std::set<unsigned int> sizes{ 1, 8, 12, 16, 24, 32, 64 };
    if (sizes.count(m_File.bitsAllocated) == 0)
    {
      throw std::runtime_error("its BitsAllocated is " + std::to_string(m_File.bitsAllocated) +
                               ", not 1, 8, 12, 16, 24, 32 or 64");
    }
    if (m_File.samplesPerPixel != 1 && m_File.samplesPerPixel != 3 && m_File.samplesPerPixel != 4)
    {
      throw std::runtime_error("its SamplesPerPixel is " + std::to_string(m_File.samplesPerPixel) + ", not 1, 3 or 4");
    }
    if (element.length == undefinedLength)
    {
      this->SkipFragments();
      return;
    }
    this->RequireBytes(element.length, element.tag);
    // Two pixels share their colors, as in YBR_FULL_422.
    const bool   isHalved = m_File.photometricInterpretation.find("_422") != std::string::npos;
    const double samples = isHalved ? 2.0 : m_File.samplesPerPixel;
    const double needed = std::ceil(samples * m_File.rows * m_File.columns * m_File.frames *
                                    static_cast<double>(m_File.bitsAllocated) / 8.0);
    // One more byte makes the length even. Compressed pixel data should have no length.
    const auto length = static_cast<double>(element.length);
    const bool isTooLong = isNative && length > needed + 1.0;
    if (length < needed || isTooLong)
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
      throw std::runtime_error("it is cut: it has " + std::to_string(m_Size) + " bytes, but its " +
                               (tag == 0 ? "next element" : Describe(tag)) + " ends at " +
                               std::to_string(m_Position + count));
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

  /** The head of an item, or of the end of a sequence, which never has a type. */
  Element
  ReadItem()
  {
    std::array<unsigned char, 8> bytes{};
    this->ReadBytes(bytes.data(), bytes.size(), 0);
    return this->GetElement(bytes);
  }

  Element
  GetElement(const std::array<unsigned char, 8> & bytes) const
  {
    return { this->GetInteger(bytes.data(), 2) << 16 | this->GetInteger(bytes.data() + 2, 2),
             this->GetInteger(bytes.data() + 4, 4),
             false };
  }

  Element
  ReadElement()
  {
    std::array<unsigned char, 8> bytes{};
    this->ReadBytes(bytes.data(), bytes.size(), 0);
    Element element = this->GetElement(bytes);
    if (!m_IsExplicit || element.tag >> 16 == 0xfffe)
    {
      return element;
    }
    if (!IsLetter(bytes[4]) || !IsLetter(bytes[5]))
    {
      // Some writers mix implicit elements into explicit files.
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

  /** Skip the fragments of compressed pixel data. */
  void
  SkipFragments()
  {
    for (Element item = this->ReadItem(); item.tag != sequenceEndTag; item = this->ReadItem())
    {
      if (item.tag != itemTag || item.length == undefinedLength)
      {
        throw std::runtime_error("its pixel data is damaged: it has " +
                                 (item.tag == itemTag ? "an item without a length" : "the " + Describe(item.tag)) +
                                 " instead of a fragment");
      }
      this->SkipValue(item, 0);
    }
  }

  /** Skip the items of a sequence of undefined length. */
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
      const Element item = this->ReadItem();
      if (item.tag == sequenceEndTag)
      {
        break;
      }
      if (item.tag != itemTag)
      {
        throw std::runtime_error("the sequence of its " + Describe(sequence.tag) + " has the " + Describe(item.tag) +
                                 " instead of an item");
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

  DicomFile &    m_File;
  std::ifstream  m_Stream;
  std::uintmax_t m_Size;
  std::uintmax_t m_Position{ 0 };
  bool           m_IsExplicit{ true };
  bool           m_IsBigEndian{ false };
};
} // namespace

std::optional<DicomFile>
ReadDicomHeader(const std::string & fileName)
{
  DicomFile file;
  file.name = fileName;
  try
  {
    HeaderReader reader(file);
    if (!reader.FindStart())
    {
      return {};
    }
    reader.Read();
  }
  catch (const std::exception & error)
  {
    if (file.problem.empty())
    {
      file.problem = error.what();
      return file;
    }
  }
  return file;
}

void
InspectDicom(ImageFile & file)
{
  const auto header = ReadDicomHeader(file.name);
  if (!header)
  {
    throw std::runtime_error(
      "it is none of NIfTI, NRRD, MetaImage, PNG and DICOM, the formats whose files can be checked; "
      "convert it to one of these");
  }
  if (!header->problem.empty())
  {
    throw std::runtime_error(header->problem);
  }
  if (!header->hasPixelData)
  {
    throw std::runtime_error("it has no pixel data");
  }
}
} // namespace voxelmaps
