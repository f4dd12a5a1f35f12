#pragma once
// Where a value's bytes are while a plan runs.

#include <cstddef>

namespace retrace {

struct Location {
  // host: an input that was copied; kept: memory of the caller, from run to run
  enum class Kind { none, input, output, arena, constant, host, kept } kind = Kind::none;
  size_t at = 0;  // index of the input or output; offset in the memory

  bool operator==(const Location&) const = default;
};

}  // namespace retrace
