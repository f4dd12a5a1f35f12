#include "retrace/train/class_pictures.h"

#include <algorithm>

#include "retrace/data/png_encoder.h"
#include "retrace/train/metric_kind.h"

namespace retrace {
namespace {

constexpr MaskColour kGrey = 0x010101;

bool are_grey(const std::vector<MaskColour>& colours) {
  return std::all_of(colours.begin(), colours.end(), [](MaskColour colour) { return colour % kGrey == 0; });
}

}  // namespace

std::vector<MaskColour> colours_of_classes(const ClassNames& names, int64_t classes) {
  std::vector<MaskColour> colours;
  for (int64_t k = 0; k < classes; ++k) {
    const auto named = colour_of_text(class_name(names, k));
    colours.push_back(named.value_or(static_cast<MaskColour>(k % 256) * kGrey));
  }
  return colours;
}

std::vector<MaskColour> visible_colours(const ClassNames& names, int64_t classes) {
  std::vector<MaskColour> colours = colours_of_classes(names, classes);
  if (!are_grey(colours)) return colours;
  for (int64_t k = 0; k < classes; ++k)
    colours[static_cast<size_t>(k)] = static_cast<MaskColour>(k * 255 / std::max<int64_t>(classes - 1, 1)) * kGrey;
  return colours;
}

std::vector<int32_t> highest_classes(std::span<const float> scores, int64_t classes) {
  std::vector<int32_t> numbers;
  const auto width = static_cast<size_t>(classes);
  for (size_t i = 0; i + width <= scores.size(); i += width)
    numbers.push_back(static_cast<int32_t>(highest(scores.subspan(i, width))));
  return numbers;
}

std::string class_png(std::span<const int32_t> classes, int64_t height, int64_t width,
                      const std::vector<MaskColour>& colours) {
  const bool grey = are_grey(colours);
  std::vector<uint8_t> values;
  for (const int32_t number : classes) {
    const MaskColour colour = number < 0 ? 0 : colours[static_cast<size_t>(number)];
    if (!grey)
      values.push_back(static_cast<uint8_t>(colour >> 16)), values.push_back(static_cast<uint8_t>(colour >> 8));
    values.push_back(static_cast<uint8_t>(colour));
  }
  return encode_png(values, height, width, grey ? 1 : 3);
}

}  // namespace retrace
