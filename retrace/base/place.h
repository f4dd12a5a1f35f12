#pragma once
// Source locations.

#include <string>

namespace retrace {

// A location in the user's source, captured by a default argument: f(x, Place place = Place::here()).
struct Place {
  const char* file = "";
  int line = 0;

  static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
  // "train.cpp:41", without folders; empty for an unknown place.
  std::string text() const;
};

}  // namespace retrace
