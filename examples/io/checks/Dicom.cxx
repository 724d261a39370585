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
#include "Formats.h"

#include <algorithm>

// DICOM, part 10: https://dicom.nema.org/medical/dicom/current/output/html/part10.html

namespace ExampleIO
{
namespace FileChecks
{
namespace
{
constexpr std::uint32_t undefined = 0xFFFFFFFF;
constexpr std::uint32_t pixelData = 0x7FE00010;
constexpr std::uint32_t item = 0xFFFEE000;
constexpr std::uint32_t itemEnd = 0xFFFEE00D;
constexpr std::uint32_t sequenceEnd = 0xFFFEE0DD;

/** The head of a data element. */
struct Element
{
  std::uint32_t tag{ 0 };
  std::uint32_t length{ 0 };
  std::uint64_t valueOffset{ 0 };
  bool          isSequence{ false };
};

std::string
Describe(std::uint32_t tag)
{
  if (tag == pixelData)
  {
    return "its pixel data";
  }
  constexpr const char * digits = "0123456789ABCDEF";
  std::string            text = "the element (";
  for (int i = 7; i >= 0; --i)
  {
    text += digits[(tag >> (4 * i)) & 15U];
    text += i == 4 ? "," : "";
  }
  return text + ")";
}

/** Walks through the data elements of a file. */
class Walker
{
public:
  explicit Walker(ByteFile & file)
    : m_File(file)
  {}

  /** Walk from an offset, in the encoding of a transfer syntax, to the end of the pixel data. */
  void
  Walk(std::uint64_t position)
  {
    while (position < m_File.GetSize() && !m_IsAtPixelData)
    {
      const Element element = this->GetElement(position);
      position = this->Skip(element, 0);
      this->CheckElement(element);
    }
    if (!m_IsAtPixelData)
    {
      throw std::runtime_error("it has no pixel data");
    }
  }

  /** Whether the pixel data have been reached, or elements that this does not understand. */
  bool
  IsAtEnd() const
  {
    return m_IsAtPixelData;
  }

  Element
  GetElement(std::uint64_t position)
  {
    const std::string bytes = m_File.Read(position, 12);
    if (bytes.size() < 8)
    {
      throw this->GetCut("an element");
    }
    Element element;
    element.tag = (static_cast<std::uint32_t>(GetNumber<std::uint16_t>(bytes, 0, m_IsBigEndian)) << 16) |
                  GetNumber<std::uint16_t>(bytes, 2, m_IsBigEndian);
    const bool        isDelimiter = element.tag == item || element.tag == itemEnd || element.tag == sequenceEnd;
    const std::string type = bytes.substr(4, 2);
    if (m_IsImplicit || isDelimiter)
    {
      element.length = GetNumber<std::uint32_t>(bytes, 4, m_IsBigEndian);
      element.valueOffset = position + 8;
      return element;
    }
    if (!(type[0] >= 'A' && type[0] <= 'Z' && type[1] >= 'A' && type[1] <= 'Z'))
    {
      // Not as the standard has it; the reader decides.
      m_IsAtPixelData = true;
      element.valueOffset = position;
      return element;
    }
    element.isSequence = type == "SQ";
    static const std::array<const char *, 13> longTypes{ "OB", "OD", "OF", "OL", "OV", "OW", "SQ",
                                                         "UC", "UR", "UT", "UN", "SV", "UV" };
    if (std::find(longTypes.begin(), longTypes.end(), type) != longTypes.end())
    {
      if (bytes.size() < 12)
      {
        throw this->GetCut(Describe(element.tag));
      }
      element.length = GetNumber<std::uint32_t>(bytes, 8, m_IsBigEndian);
      element.valueOffset = position + 12;
    }
    else
    {
      element.length = GetNumber<std::uint16_t>(bytes, 6, m_IsBigEndian);
      element.valueOffset = position + 8;
    }
    return element;
  }

  /** The position after an element. */
  std::uint64_t
  Skip(const Element & element, int depth)
  {
    if (depth > 64)
    {
      throw std::runtime_error("its sequences are nested more than 64 times");
    }
    if (m_IsAtPixelData)
    {
      return element.valueOffset;
    }
    if (depth == 0 && element.tag == pixelData)
    {
      m_IsAtPixelData = true;
      return element.length == undefined ? this->SkipFragments(element.valueOffset) : this->SkipValue(element);
    }
    if (element.length != undefined)
    {
      return this->SkipValue(element);
    }
    // A sequence of items, which end with a delimiter or have a length.
    std::uint64_t position = element.valueOffset;
    while (true)
    {
      const Element next = this->GetElement(position);
      if (next.tag == sequenceEnd)
      {
        return next.valueOffset;
      }
      if (next.tag != item)
      {
        throw std::runtime_error("in the sequence of " + Describe(element.tag) + " is " + Describe(next.tag) +
                                 " instead of an item");
      }
      if (next.length != undefined)
      {
        position = this->SkipValue(next);
        continue;
      }
      position = next.valueOffset;
      while (true)
      {
        const Element inside = this->GetElement(position);
        if (inside.tag == itemEnd)
        {
          position = inside.valueOffset;
          break;
        }
        position = this->Skip(inside, depth + 1);
        if (m_IsAtPixelData)
        {
          return position;
        }
      }
    }
  }

  /** Check what an element says of the voxels. */
  void
  CheckElement(const Element & element)
  {
    const auto getNumber = [this, &element] {
      return GetNumber<std::uint16_t>(m_File.Read(element.valueOffset, 2), 0, m_IsBigEndian);
    };
    const auto getText = [this, &element] {
      std::string text = m_File.Read(element.valueOffset, std::min<std::uint32_t>(element.length, 1024));
      std::replace(text.begin(), text.end(), '\\', ' ');
      std::replace(text.begin(), text.end(), '\0', ' ');
      return text;
    };
    switch (element.tag)
    {
      case 0x00280002:
        m_Samples = getNumber();
        if (m_Samples != 1 && m_Samples != 3 && m_Samples != 4)
        {
          throw std::runtime_error("its samples per pixel are " + std::to_string(m_Samples) +
                                   ", but must be 1, 3 or 4");
        }
        break;
      case 0x00280004:
        // Two voxels share their colors.
        m_AreColorsShared = getText().find("_422") != std::string::npos;
        break;
      case 0x00280008:
        for (const auto & word : GetWords(getText()))
        {
          m_Frames = static_cast<std::uint64_t>(std::max<std::int64_t>(GetInteger(word, "number of frames"), 1));
        }
        break;
      case 0x00280010:
        m_Rows = getNumber();
        break;
      case 0x00280011:
        m_Columns = getNumber();
        break;
      case 0x00280100:
        m_Bits = getNumber();
        if (m_Bits != 1 && m_Bits != 12 && (m_Bits % 8 != 0 || m_Bits == 0 || m_Bits > 64))
        {
          throw std::runtime_error("its bits allocated are " + std::to_string(m_Bits) +
                                   ", but must be 1, 8, 12, 16, 32 or 64");
        }
        break;
      case 0x00180050: // slice thickness
      case 0x00180088: // spacing between slices
      case 0x00200032: // position
      case 0x00200037: // orientation
      case 0x00280030: // pixel spacing
      case 0x00281052: // rescale intercept
      case 0x00281053: // rescale slope
        for (const auto & word : GetWords(getText()))
        {
          CheckFinite(word, Describe(element.tag));
        }
        break;
      case pixelData:
        if (element.length != undefined)
        {
          const std::uint64_t samples = m_AreColorsShared ? 2 : m_Samples;
          const std::uint64_t voxels = Multiply(Multiply(m_Rows, m_Columns), Multiply(samples, m_Frames));
          const std::uint64_t promised = voxels / 8 * m_Bits + (voxels % 8 * m_Bits + 7) / 8;
          if (element.length < promised)
          {
            throw std::runtime_error("its pixel data have " + std::to_string(element.length) +
                                     " bytes, but the header promises " + std::to_string(promised));
          }
        }
        break;
      default:
        break;
    }
  }

  void
  SetEncoding(bool isImplicit, bool isBigEndian)
  {
    m_IsImplicit = isImplicit;
    m_IsBigEndian = isBigEndian;
  }

private:
  std::runtime_error
  GetCut(const std::string & where) const
  {
    return std::runtime_error("it is cut: it ends, after " + std::to_string(m_File.GetSize()) + " bytes, within " +
                              where);
  }

  std::uint64_t
  SkipValue(const Element & element) const
  {
    if (element.valueOffset + element.length > m_File.GetSize())
    {
      throw this->GetCut(Describe(element.tag) + " of " + std::to_string(element.length) + " bytes");
    }
    return element.valueOffset + element.length;
  }

  /** Compressed pixel data. */
  std::uint64_t
  SkipFragments(std::uint64_t position)
  {
    while (true)
    {
      const std::string bytes = m_File.Read(position, 8);
      if (bytes.size() < 8)
      {
        throw this->GetCut(Describe(pixelData));
      }
      const std::uint32_t tag = (static_cast<std::uint32_t>(GetNumber<std::uint16_t>(bytes, 0, m_IsBigEndian)) << 16) |
                                GetNumber<std::uint16_t>(bytes, 2, m_IsBigEndian);
      Element fragment;
      fragment.tag = pixelData;
      fragment.length = GetNumber<std::uint32_t>(bytes, 4, m_IsBigEndian);
      fragment.valueOffset = position + 8;
      if (tag == sequenceEnd)
      {
        return fragment.valueOffset;
      }
      if (tag != item)
      {
        throw std::runtime_error("its pixel data are damaged: there is " + Describe(tag) + " instead of an item");
      }
      position = this->SkipValue(fragment);
    }
  }

  ByteFile &    m_File;
  bool          m_IsImplicit{ false };
  bool          m_IsBigEndian{ false };
  bool          m_IsAtPixelData{ false };
  bool          m_AreColorsShared{ false };
  std::uint64_t m_Samples{ 1 };
  std::uint64_t m_Frames{ 1 };
  std::uint64_t m_Rows{ 0 };
  std::uint64_t m_Columns{ 0 };
  std::uint64_t m_Bits{ 8 };
};
} // namespace

CompressedParts
CheckDicom(const std::string & name)
{
  constexpr std::uint64_t start = 132;
  const std::string       directory = "1.2.840.10008.1.3.10";
  ByteFile                file(name);
  if (file.Read(start - 4, 4) != "DICM")
  {
    return {};
  }
  // The elements of group 2 are always explicit and little-endian.
  Walker        walker(file);
  std::string   syntax;
  std::uint64_t position = start;
  while (!walker.IsAtEnd() && file.Read(position, 2) == std::string("\x02\0", 2))
  {
    const Element element = walker.GetElement(position);
    position = walker.Skip(element, 0);
    if (element.tag == 0x00020002 && file.Read(element.valueOffset, directory.size()) == directory)
    {
      // It lists the files of a medium.
      return {};
    }
    if (element.tag == 0x00020010)
    {
      constexpr std::uint32_t maxLength = 64;
      syntax = file.Read(element.valueOffset, std::min(element.length, maxLength));
      syntax.erase(std::find_if(syntax.begin(), syntax.end(), [](char c) { return c == '\0' || c == ' '; }),
                   syntax.end());
    }
  }
  // Those of DICOM, and one of General Electric.
  if (syntax.compare(0, 17, "1.2.840.10008.1.2") != 0 && syntax != "1.2.840.113619.5.2")
  {
    throw std::runtime_error("its transfer syntax '" + syntax + "' is not one of DICOM");
  }
  if (syntax == "1.2.840.10008.1.2.1.99")
  {
    // Deflated as a whole, which its reader has to check.
    return {};
  }
  walker.SetEncoding(syntax == "1.2.840.10008.1.2", syntax == "1.2.840.10008.1.2.2");
  walker.Walk(position);
  return {};
}
} // namespace FileChecks
} // namespace ExampleIO
