#pragma once
// Grey images with labels, as they come from files or a generator.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace retrace {

// Which part of a data set.
enum class Split { train, test };

// `count` images of height x width pixels, row-major, one after another; a label each, and an angle in degrees each
// where angles are known.
struct ImageSet {
  int64_t count = 0, height = 0, width = 0;
  std::vector<uint8_t> pixels;
  std::vector<int32_t> labels;
  std::vector<float> angles;  // empty if unknown
};

}  // namespace retrace
