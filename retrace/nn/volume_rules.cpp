#include "retrace/nn/volume_rules.h"

#include <fmt/format.h>

namespace retrace::nn {
namespace {

using Numbers = std::vector<int64_t>;
constexpr double kMostVolumeSize = 1 << 30;

Error wrong_numbers(std::string_view name, size_t count, const char* expected) {
  return Error(ErrorKind::usage, 453, fmt::format("{} has {} numbers", name, count)).expected(expected);
}

}  // namespace

OptionRule triple_rule(std::string_view name, std::string_view help, int64_t standard, int64_t low) {
  return {.name = name,
          .help = kept_text(std::string(help) + ": one number, or [depth, height, width]"),
          .standard = Numbers{standard},
          .low = static_cast<double>(low),
          .high = kMostVolumeSize};
}

Triple triple_of(const OptionValues& options, std::string_view name) {
  const Numbers& all = options.integers(name);
  if (all.size() == 1) return all[0];
  if (all.size() == 3) return {all[0], all[1], all[2]};
  throw wrong_numbers(name, all.size(), "one number, or [depth, height, width]");
}

OptionValue triple_value(Triple size) {
  if (size.z == size.y && size.y == size.x) return Numbers{size.z};
  return Numbers{size.z, size.y, size.x};
}

OptionRule volume_padding_rule(std::string_view name, std::string_view help) {
  return {
      .name = name,
      .help = kept_text(std::string(help) +
                        ": \"same\", one number, [depth, height, width] or [front, back, top, bottom, left, right]"),
      .standard = Numbers{0},
      .high = kMostVolumeSize,
      .choices = {"same"}};
}

VolumePadding volume_padding_of(const OptionValues& options, std::string_view name) {
  const OptionValue* value = options.find(name);
  if (value && std::holds_alternative<std::string>(*value)) return same;
  const Numbers& all = options.integers(name);
  if (all.size() == 1) return all[0];
  if (all.size() == 3) return {all[0], all[1], all[2]};
  if (all.size() == 6) return {all[0], all[1], all[2], all[3], all[4], all[5]};
  throw wrong_numbers(name, all.size(),
                      "one number, [depth, height, width] or [front, back, top, bottom, left, right]");
}

OptionValue volume_padding_value(const VolumePadding& padding) {
  if (padding.depth.is_same) return std::string("same");
  const auto& [z, image] = padding;
  if (z.front != z.behind || image.top != image.bottom || image.left != image.right)
    return Numbers{z.front, z.behind, image.top, image.bottom, image.left, image.right};
  return triple_value({z.front, image.top, image.left});
}

}  // namespace retrace::nn
