#include "retrace/nn/sequence_rules.h"

#include <fmt/format.h>

namespace retrace::nn {
namespace {

using Integers = std::vector<int64_t>;
constexpr double kMostLength = 1 << 30;

}  // namespace

OptionRule length_rule(std::string_view name, std::string_view help, int64_t standard) {
  return {.name = name, .help = help, .standard = standard, .low = 1, .high = kMostLength};
}

OptionRule end_padding_rule(std::string_view name, std::string_view help) {
  return {.name = name,
          .help = kept_text(std::string(help) + ": \"same\", \"causal\", one number or [front, behind]"),
          .standard = Integers{0},
          .high = kMostLength,
          .choices = {"same", "causal"}};
}

EndPadding end_padding_of(const OptionValues& options, std::string_view name) {
  const OptionValue* value = options.find(name);
  if (const auto* chosen = value ? std::get_if<std::string>(value) : nullptr)
    return *chosen == "same" ? EndPadding(same) : EndPadding(causal);
  const Integers& sizes = options.integers(name);
  if (sizes.size() == 1) return sizes[0];
  if (sizes.size() == 2) return {sizes[0], sizes[1]};
  throw Error(ErrorKind::usage, 274, fmt::format("{} has {} numbers", name, sizes.size()))
      .expected("one number or [front, behind]");
}

OptionValue end_padding_value(const EndPadding& padding) {
  if (padding.is_same) return std::string("same");
  if (padding.is_causal) return std::string("causal");
  if (padding.front == padding.behind) return Integers{padding.front};
  return Integers{padding.front, padding.behind};
}

OptionRule pool_length_rule() {
  return {.name = "stride",
          .help = "how far the window moves; 0: by its own size",
          .standard = int64_t{0},
          .high = kMostLength};
}

void check_sequence(const Tensor& x, const char* layer, Place place) {
  if (x.rank() == 3) return;
  throw Error(ErrorKind::usage, 275, fmt::format("{}: x has {} axes", layer, x.rank()))
      .where(place)
      .got(x.spec().text())
      .expected("a sequence [batch,length,channels]")
      .help("put this layer before those that make features, and take data of sequences");
}

}  // namespace retrace::nn
