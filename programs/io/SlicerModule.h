// SPDX-FileCopyrightText: Copyright NumFOCUS
// SPDX-License-Identifier: Apache-2.0
#ifndef SlicerModule_h
#define SlicerModule_h

// Programs as modules of 3D Slicer and other applications with the Slicer Execution Model.

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>
#include <vector>

namespace ProgramIO
{
/** The keys of a map. */
template <typename TMap>
std::vector<std::string>
GetKeys(const TMap & map)
{
  std::vector<std::string> keys;
  for (const auto & entry : map)
  {
    keys.push_back(entry.first);
  }
  return keys;
}

/** Describes a program to an application that makes a dialog of its options and runs it, as the Slicer Execution Model
 * has it. Names, descriptions, and defaults are those of CLI11's options; an option whose default depends on others has
 * a type that the application passes only if the user enters a value: a vector or an image. */
class ModuleDescription
{
public:
  /** Add the option --xml, which prints the description. */
  ModuleDescription(CLI::App & app, const std::string & category, const std::string & title)
    : m_App(app)
    , m_Category(category)
    , m_Title(title)
  {
    app.add_flag_callback(
      "--xml",
      [this] { throw CLI::CallForVersion(this->GetXML(), 0); },
      "print a description of the options for 3D Slicer");
  }

  /** Start a group of options, for the dialog and for --help. */
  void
  AddGroup(const std::string & label, const std::string & description)
  {
    m_Groups.push_back({ label, description, "" });
  }

  void
  AddFlag(CLI::Option * option, const std::string & label)
  {
    this->Add(option, label, "boolean", "", GetElement("default", "false"));
  }

  /** A number or numbers separated by commas, which the user may leave out. Types: integer, double. */
  void
  AddOptionalNumbers(CLI::Option * option, const std::string & label, const std::string & type)
  {
    this->Add(option, label, type + "-vector", "", "");
  }

  void
  AddNumber(CLI::Option * option, const std::string & label, double low, double high, double step)
  {
    std::ostringstream details;
    details << GetElement("default", option->get_default_str()) << "      <constraints>\n"
            << "        <minimum>" << low << "</minimum>\n"
            << "        <maximum>" << high << "</maximum>\n"
            << "        <step>" << step << "</step>\n"
            << "      </constraints>\n";
    this->Add(option, label, "double", "", details.str());
  }

  void
  AddEnumeration(CLI::Option * option, const std::string & label, const std::vector<std::string> & values)
  {
    this->Add(
      option, label, "string-enumeration", "", GetElement("default", option->get_default_str()) + GetElements(values));
  }

  /** Types: scalar, label. Channels: input, output. */
  void
  AddImage(CLI::Option * option, const std::string & label, const std::string & type, const std::string & channel)
  {
    this->Add(option, label, "image", " type=\"" + type + "\"", GetElement("channel", channel));
  }

  /** Points in the frame that 3D Slicer shows, which frame, an option with these values, has to say. */
  void
  AddPoints(CLI::Option * option, const std::string & label, CLI::Option * frame,
            const std::vector<std::string> & values)
  {
    this->Add(option, label, "point", " multiple=\"true\" coordinateSystem=\"ras\"", "");
    this->Add(
      frame, "Frame", "string-enumeration", " hidden=\"true\"", GetElement("default", "ras") + GetElements(values));
  }

  /** Add the option --progress-xml, which the application always gives. */
  void
  AddProgressOption(bool & isProgressWanted)
  {
    auto * option =
      m_App.add_flag("--progress-xml", isProgressWanted, "print the progress as XML, as 3D Slicer reads it")
        ->excludes(m_App.get_option("--quiet"));
    this->Add(option, "Progress", "boolean", " hidden=\"true\"", GetElement("default", "true"));
    option->group("Options");
  }

  std::string
  GetXML() const
  {
    std::string xml = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<executable>\n";
    for (const auto & [tag, text] : std::vector<std::pair<std::string, std::string>>{
           { "category", m_Category },
           { "title", m_Title },
           { "description", m_App.get_description() },
           { "version", VOXELMAPS_VERSION },
           { "license", "Apache-2.0" },
           { "contributor", "The VoxelMaps maintainers" },
         })
    {
      xml += "  <" + tag + ">" + Escape(text) + "</" + tag + ">\n";
    }
    for (const auto & group : m_Groups)
    {
      xml += "  <parameters>\n    <label>" + Escape(group.label) + "</label>\n    <description>" +
             Escape(group.description) + "</description>\n" + group.parameters + "  </parameters>\n";
    }
    return xml + "</executable>";
  }

private:
  struct Group
  {
    std::string label;
    std::string description;
    std::string parameters;
  };

  void
  Add(CLI::Option * option, const std::string & label, const std::string & tag, const std::string & attributes,
      const std::string & details)
  {
    auto & group = m_Groups.back();
    option->group(group.label);

    // The model has no hyphens in names; RunProgram reads --bin_width as --bin-width.
    std::string name = option->get_single_name();
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
      return c == '-' ? '_' : static_cast<char>(std::tolower(c));
    });
    group.parameters += "    <" + tag + attributes + ">\n" + GetElement("name", name) +
                        (option->get_positional() ? GetElement("index", std::to_string(m_NumberOfPositionals++))
                                                  : GetElement("longflag", name)) +
                        GetElement("description", option->get_description()) + GetElement("label", label) + details +
                        "    </" + tag + ">\n";
  }

  static std::string
  GetElements(const std::vector<std::string> & values)
  {
    std::string elements;
    for (const auto & value : values)
    {
      elements += GetElement("element", value);
    }
    return elements;
  }

  static std::string
  GetElement(const std::string & tag, const std::string & text)
  {
    return "      <" + tag + ">" + Escape(text) + "</" + tag + ">\n";
  }

  static std::string
  Escape(const std::string & text)
  {
    std::string escaped;
    for (const char c : text)
    {
      escaped += c == '&' ? "&amp;" : (c == '<' ? "&lt;" : (c == '>' ? "&gt;" : std::string(1, c)));
    }
    return escaped;
  }

  CLI::App &         m_App;
  std::string        m_Category;
  std::string        m_Title;
  std::vector<Group> m_Groups;
  unsigned int       m_NumberOfPositionals{ 0 };
};
} // namespace ProgramIO

#endif // SlicerModule_h
