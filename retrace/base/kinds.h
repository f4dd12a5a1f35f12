#pragma once
// Things that are chosen by name. Each is one file in a folder that defines one describing value with a `name`; CMake
// lists the folder in a generated table (cmake/kind_table.cmake), so that a new file is all that a new thing needs.

#include <string>
#include <string_view>
#include <vector>

#include "retrace/base/place.h"

namespace retrace {

// Throws Error(usage): there is no WHAT "NAME"; it lists the names and the nearest one.
[[noreturn]] void throw_unknown(std::string_view what, std::string_view name, const std::vector<std::string>& names,
                                Place place);

// The names, in the order of the table.
template <class Kind>
std::vector<std::string> names_of(const std::vector<Kind>& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) names.push_back(kind.name);
  return names;
}

// The kind of that name; null if there is none.
template <class Kind>
const Kind* find_kind(const std::vector<Kind>& kinds, std::string_view name) {
  for (const auto& kind : kinds)
    if (kind.name == name) return &kind;
  return nullptr;
}

// The same; Error(usage) if there is none. `what` is what it is called in the message: "network".
template <class Kind>
const Kind& kind_of(const std::vector<Kind>& kinds, std::string_view name, std::string_view what, Place place) {
  if (const Kind* kind = find_kind(kinds, name)) return *kind;
  throw_unknown(what, name, names_of(kinds), place);
}

}  // namespace retrace
