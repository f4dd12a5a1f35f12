#include "retrace/data/mask_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "retrace/base/file.h"
#include "retrace/data/image_fit.h"
#include "retrace/data/image_pixels.h"
#include "retrace/data/stack.h"

namespace retrace {
namespace {

constexpr int32_t kIgnored = -1, kUnknown = -2;
constexpr MaskColour kGrey = 0x010101;  // one step of it

MaskColour colour_at(const uint8_t* pixel) {
  return static_cast<MaskColour>(pixel[0]) << 16 | static_cast<MaskColour>(pixel[1]) << 8 | pixel[2];
}

MaskColour colour_of(const std::string& text) {
  if (const auto colour = colour_of_text(text)) return *colour;
  throw Error(ErrorKind::usage, 566, fmt::format("\"{}\" is no colour of a mask", printable(text)))
      .expected("a grey value from \"0\" to \"255\", or red, green and blue as in \"#8000ff\"");
}

}  // namespace

std::optional<MaskColour> colour_of_text(const std::string& text) {
  const bool hex = text.starts_with('#');
  const char *const first = text.data() + (hex ? 1 : 0), *const end = text.data() + text.size();
  MaskColour value = 0;
  const auto [stop, failure] = std::from_chars(first, end, value, hex ? 16 : 10);
  const bool good = failure == std::errc() && stop == end && (hex ? text.size() == 7 : value <= 255);
  if (!good) return std::nullopt;
  return hex ? value : value * kGrey;
}

std::string text_of_colour(MaskColour colour) {
  const MaskColour blue = colour & 255;
  return colour == blue * kGrey ? fmt::format("{}", blue) : fmt::format("#{:06x}", colour);
}

std::set<MaskColour> colours_of_masks(const ImageFiles& files) {
  std::set<MaskColour> colours;
  for (size_t file = 0; file < files.paths.size() && colours.size() <= kMostMaskClasses; ++file) {
    const std::string name = printable(files.paths[file]);
    ImagePixels image = decode_image(files.bytes(file), name);
    image = fitted(std::move(image), {image.info.height, image.info.width, 3}, ImageFit::any, name);
    for (size_t i = 0; i < image.values.size(); i += 3)
      if (i == 0 || !std::equal(&image.values[i], &image.values[i] + 3, &image.values[i - 3]))
        colours.insert(colour_at(&image.values[i]));
  }
  return colours;
}

MaskClasses::MaskClasses(const std::vector<std::string>& classes, const std::vector<std::string>& ignored) {
  for (const auto& text : classes) numbers_.emplace_back(colour_of(text), static_cast<int32_t>(numbers_.size()));
  for (const auto& text : ignored) numbers_.emplace_back(colour_of(text), kIgnored);
  std::sort(numbers_.begin(), numbers_.end());
  const auto same = [](const auto& one, const auto& next) { return one.first == next.first; };
  if (const auto twice = std::adjacent_find(numbers_.begin(), numbers_.end(), same); twice != numbers_.end())
    throw Error(ErrorKind::usage, 567, "a colour of masks has two meanings")
        .got(text_of_colour(twice->first))
        .expected("each colour once in data.mask_values and data.ignored_mask_values");
}

int32_t MaskClasses::number_of(MaskColour colour) const {
  const auto found = std::lower_bound(numbers_.begin(), numbers_.end(), std::pair(colour, kUnknown));
  return found != numbers_.end() && found->first == colour ? found->second : kUnknown;
}

Tensor MaskClasses::numbers(const Tensor& mask, const std::string& name) const {
  const int64_t height = mask.shape()[0], width = mask.shape()[1];
  const BlankTensor blank(TensorSpec{DType::i32, {height, width, 1}, Labels("SSC"), {}});
  const auto* pixel = static_cast<const uint8_t*>(mask.data());
  auto* to = reinterpret_cast<int32_t*>(blank.bytes);
  MaskColour last = 0;
  int32_t number = number_of(last);
  for (int64_t i = 0; i < height * width; ++i, pixel += 3) {
    if (const MaskColour colour = colour_at(pixel); colour != last) last = colour, number = number_of(colour);
    if (number == kUnknown)
      throw Error(ErrorKind::bad_data, 568, fmt::format("the mask \"{}\" has a colour that means no class", name))
          .got(fmt::format("{} at row {}, column {}", text_of_colour(last), i / width, i % width))
          .help("add it to data.mask_values, or, where such pixels shall not count, to data.ignored_mask_values");
    to[i] = number;
  }
  return blank.tensor;
}

}  // namespace retrace
