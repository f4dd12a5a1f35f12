// Rules and values of options that layers share.

#include <fmt/format.h>

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {
namespace {

using Integers = std::vector<int64_t>;

constexpr double kMostSize = 65'536, kMostCount = 1'000'000;

struct NamedInitializer {
  const char* name;
  Initializer function;
};

const std::vector<NamedInitializer>& initializers() {
  static const std::vector<NamedInitializer> all{
      {"glorot-uniform", glorot_uniform}, {"glorot-uniform-fan-out", glorot_uniform_fan_out},
      {"he-normal", he_normal},           {"he-uniform", he_uniform},
      {"glorot-normal", glorot_normal},   {"lecun-normal", lecun_normal},
      {"orthogonal", orthogonal},         {"zeros", constant_values(0)}};
  return all;
}

Error wrong_count(std::string_view name, size_t count, const char* expected) {
  return Error(ErrorKind::usage, 453, fmt::format("{} has {} numbers", name, count)).expected(expected);
}

Pair pair_from(const Integers& sizes, std::string_view name) {
  if (sizes.size() == 1) return sizes[0];
  if (sizes.size() == 2) return {sizes[0], sizes[1]};
  throw wrong_count(name, sizes.size(), "one number, or [height, width]");
}

// Null if the option is a text.
const Integers* integers_of(const OptionValues& options, std::string_view name) {
  const OptionValue* value = options.find(name);
  return value && std::holds_alternative<std::string>(*value) ? nullptr : &options.integers(name);
}

}  // namespace

OptionRule size_rule(std::string_view name, std::string_view help, int64_t standard, int64_t low) {
  return {
      .name = name, .help = help, .standard = Integers{standard}, .low = static_cast<double>(low), .high = kMostSize};
}

Pair pair_of(const OptionValues& options, std::string_view name) { return pair_from(options.integers(name), name); }

OptionRule pool_stride_rule() {
  return {.name = "stride",
          .help = "how far the window moves: \"pool\" (its own size), one number, or [height, width]",
          .standard = std::string("pool"),
          .low = 1,
          .high = kMostSize,
          .choices = {"pool"}};
}

PoolStride pool_stride_of(const OptionValues& options) {
  const Integers* sizes = integers_of(options, "stride");
  return sizes ? PoolStride(pair_from(*sizes, "stride")) : PoolStride();
}

OptionRule padding_rule(std::string_view name, std::string_view help) {
  return {
      .name = name,
      .help = kept_text(std::string(help) + ": \"same\", one number, [height, width] or [top, bottom, left, right]"),
      .standard = Integers{0},
      .high = kMostSize,
      .choices = {"same"}};
}

Padding padding_of(const OptionValues& options, std::string_view name) {
  const Integers* sizes = integers_of(options, name);
  if (!sizes) return same;
  const Integers& all = *sizes;
  if (all.size() == 1) return all[0];
  if (all.size() == 2) return {all[0], all[1]};
  if (all.size() == 4) return {all[0], all[1], all[2], all[3]};
  throw wrong_count(name, all.size(), "one number, [height, width] or [top, bottom, left, right]");
}

OptionRule count_rule(std::string_view name, std::string_view help) {
  return {.name = name, .help = help, .standard = int64_t{0}, .low = 1, .high = kMostCount};
}

OptionRule groups_rule() {
  return {.name = "groups",
          .help = "groups of channels that filters see apart",
          .standard = int64_t{1},
          .low = 1,
          .high = kMostSize};
}

OptionRule initializer_rule() {
  std::vector<std::string> names;
  for (const auto& one : initializers()) names.emplace_back(one.name);
  return {.name = "initializer",
          .help = "how the weights begin",
          .standard = std::string("glorot-uniform"),
          .choices = std::move(names)};
}

std::vector<OptionRule> with_parameter_rules(std::vector<OptionRule> rules) {
  rules.push_back(initializer_rule());
  rules.push_back({.name = "bias", .help = "whether there is one; it begins at 0", .standard = true});
  return rules;
}

ParameterOptions parameters_of(const OptionValues& options) {
  return {.initializer = initializer_of(options), .bias = options.truth("bias")};
}

Initializer initializer_of(const OptionValues& options) {
  for (const auto& one : initializers())
    if (one.name == options.text("initializer")) return one.function;
  return glorot_uniform;
}

OptionValue size_value(Pair size) { return size.y == size.x ? Integers{size.y} : Integers{size.y, size.x}; }

OptionValue stride_value(const PoolStride& stride) {
  return stride.given ? size_value(*stride.given) : OptionValue(std::string("pool"));
}

OptionValue padding_value(const Padding& padding) {
  if (padding.is_same) return std::string("same");
  if (padding.top != padding.bottom || padding.left != padding.right)
    return Integers{padding.top, padding.bottom, padding.left, padding.right};
  return size_value({padding.top, padding.left});
}

OptionValues with_initializer_value(OptionValues values, const Initializer& initializer) {
  using Plain = Tensor (*)(const Shape&, Fans, RandomKey);
  const auto* given = initializer.target<Plain>();
  for (const auto& one : initializers())
    if (const auto* known = one.function.target<Plain>(); given && known && *given == *known)
      values.set("initializer", std::string(one.name));
  return values;
}

OptionValues with_parameter_values(OptionValues values, const ParameterOptions& parameters) {
  values.set("bias", parameters.bias);
  return with_initializer_value(std::move(values), parameters.initializer);
}

}  // namespace retrace::nn
