#pragma once
// The XML of object storage's answers.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {

// An element with its text and the elements in it; names are without prefixes of namespaces.
struct XmlElement {
  std::string name, text;
  std::vector<XmlElement> children;

  // The first child of that name, or null.
  const XmlElement* child(std::string_view wanted) const;
  // Its text; "" where there is none.
  std::string text_of(std::string_view wanted) const;
};

// The root of a document; attributes, comments and processing instructions are passed over. Nothing for a text that is
// not well-formed, that declares a document type (which could declare entities), or that nests deeper than 32.
std::optional<XmlElement> parse_xml(std::string_view text);

}  // namespace retrace
