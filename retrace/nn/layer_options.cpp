// The options of a layer against their rules.

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/joined.h"
#include "retrace/nn/layer_kind.h"

namespace retrace::nn {
namespace {

using Integers = std::vector<int64_t>;
using Texts = std::vector<std::string>;

bool takes_integers(const OptionRule& rule) {
  return std::holds_alternative<Integers>(rule.standard) || (!rule.choices.empty() && rule.low < rule.high);
}

// The value as the rule wants it; nothing if it has another type.
std::optional<OptionValue> typed(const OptionValue& value, const OptionRule& rule) {
  const auto* integer = std::get_if<int64_t>(&value);
  if (takes_integers(rule)) {
    if (integer) return Integers{*integer};
    if (std::holds_alternative<Integers>(value)) return value;
    if (std::holds_alternative<std::string>(value) && !rule.choices.empty()) return value;
    return {};
  }
  if (integer && std::holds_alternative<double>(rule.standard)) return static_cast<double>(*integer);
  if (value.index() == rule.standard.index()) return value;
  return {};
}

std::string type_text(const OptionRule& rule) {
  if (takes_integers(rule)) {
    const std::string numbers = "a whole number, or a list of them";
    return rule.choices.empty() ? numbers : fmt::format("\"{}\", {}", joined(rule.choices, "\", \""), numbers);
  }
  constexpr const char* names[] = {"true or false",    "a whole number", "a number", "a text", "a list of texts", "",
                                   "a list of numbers"};
  static_assert(std::size(names) == std::variant_size_v<OptionValue::variant>);
  return names[rule.standard.index()];
}

class OptionChecker {
 public:
  OptionChecker(const LayerText& text, const std::string& label, std::vector<Error>& errors)
      : text_(text), label_(label), errors_(errors) {}

  void check(const OptionValue& value, const OptionRule& rule) {
    if (const auto* integer = std::get_if<int64_t>(&value)) check_number(static_cast<double>(*integer), rule);
    if (const auto* number = std::get_if<double>(&value)) check_number(*number, rule);
    if (const auto* integers = std::get_if<Integers>(&value))
      for (const int64_t one : *integers)
        if (!check_number(static_cast<double>(one), rule)) break;
    if (const auto* chosen = std::get_if<std::string>(&value)) check_choice(*chosen, rule);
  }

  Error& report(int code, const std::string& what) {
    Error& error = errors_.emplace_back(ErrorKind::usage, code, fmt::format("{}: {}", label_, what));
    if (!text_.place.empty()) error.where(text_.place);
    return error;
  }

  void add_unknown(const std::string& name, const LayerKind& kind) {
    Texts known;
    for (const auto& rule : kind.options) known.emplace_back(rule.name);
    for (const char* common : {"name", "from"}) known.emplace_back(common);
    if (kind.learns)
      for (const char* factor : {"learn_rate_factor", "l2_factor", "frozen"}) known.emplace_back(factor);
    const auto near = nearest(name, known);
    report(441, fmt::format("unknown key \"{}\"", name))
        .expected(joined(known, ", "))
        .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
  }

 private:
  bool check_number(double number, const OptionRule& rule) {
    if (rule.low >= rule.high) return true;
    if (number <= rule.high && (rule.above_low ? number > rule.low : number >= rule.low)) return true;
    report(442, fmt::format("{} is out of range", rule.name))
        .got(fmt::format("{}", number))
        .expected(fmt::format("{} {} to {}", rule.above_low ? "above" : "from", rule.low, rule.high));
    return false;
  }

  void check_choice(const std::string& chosen, const OptionRule& rule) {
    if (rule.choices.empty() || std::count(rule.choices.begin(), rule.choices.end(), chosen)) return;
    if (rule.standard == OptionValue(chosen)) return;  // a text that stands for a value that nobody gave
    const auto near = nearest(chosen, rule.choices);
    const std::string numbers = takes_integers(rule) ? ", or whole numbers" : "";
    report(442, fmt::format("{} has no choice \"{}\"", rule.name, chosen))
        .expected(fmt::format("{}{}", joined(rule.choices, ", "), numbers))
        .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
  }

  const LayerText& text_;
  const std::string& label_;
  std::vector<Error>& errors_;
};

}  // namespace

OptionValues completed_options(const LayerText& text, const std::string& label, std::vector<Error>& errors) {
  const LayerKind& kind = kind_of(all_layers(), text.type, "layer", {});
  OptionChecker checker(text, label, errors);
  // What is wrong stays as it is, so that it is found again.
  OptionValues all = text.options;
  for (const auto& rule : kind.options)
    if (!std::count(kind.required.begin(), kind.required.end(), rule.name) && !all.find(rule.name))
      all.set(rule.name, rule.standard);
  for (const auto& [name, value] : text.options) {
    const auto rule = std::find_if(kind.options.begin(), kind.options.end(),
                                   [&, &name = name](const OptionRule& known) { return known.name == name; });
    if (rule == kind.options.end()) {
      checker.add_unknown(name, kind);
    } else if (auto made = typed(value, *rule)) {
      checker.check(*made, *rule);
      all.set(name, std::move(*made));
    } else {
      checker.report(443, fmt::format("{} has another type", name)).expected(type_text(*rule));
    }
  }
  for (const auto& name : kind.required)
    if (!text.options.find(name))
      checker.report(444, fmt::format("{} is missing", name))
          .help(fmt::format("write {{type = \"{}\", {} = ...}}", text.type, name));
  return all;
}

}  // namespace retrace::nn
