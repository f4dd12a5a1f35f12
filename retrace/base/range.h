#pragma once
// Contiguous parts of a number of items.

#include <cstdint>

namespace retrace {

// The items first .. first + count - 1.
struct Range {
  int64_t first = 0, count = 0;
};

// Part i of n items cut into `parts` contiguous pieces; the first n mod parts pieces have one item more.
inline Range part_of(int64_t n, int64_t parts, int64_t i) {
  const int64_t least = n / parts, larger = n % parts;
  return {i * least + (i < larger ? i : larger), least + (i < larger ? 1 : 0)};
}

// The parts of b that a takes: a / b, rounded up.
inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace retrace
