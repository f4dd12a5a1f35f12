#pragma once
// Options of things that are chosen by name (a network, a solver, a schedule, ...): what each may be, and values.

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace retrace {

using OptionValue = std::variant<bool, int64_t, double, std::string, std::vector<std::string>>;

// The description of an option: type, default, allowed values.
struct OptionRule {
  std::string name = {};
  std::string help = {};                  // one line
  OptionValue standard = {};              // the default; its type is the option's
  double low = 0, high = 0;               // numbers: low <= value <= high, if low < high
  bool above_low = false;                 // low < value instead
  std::vector<std::string> choices = {};  // texts that are allowed; empty: any
  bool changes_bits = true;               // of a result, or at least what workers do together
};

// Values by the names of their options.
class OptionValues {
 public:
  OptionValues() = default;
  OptionValues(std::initializer_list<std::pair<const std::string, OptionValue>> values) : values_(values) {}

  void set(std::string_view name, OptionValue value);
  // Null if there is none.
  const OptionValue* find(std::string_view name) const;
  // The value of an option of that type; a whole number is a number, too. Throws Error(usage) if there is none.
  bool truth(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  const std::string& text(std::string_view name) const;
  const std::vector<std::string>& texts(std::string_view name) const;

  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  bool operator==(const OptionValues&) const = default;

 private:
  template <class Value>
  const Value& get(std::string_view name) const;
  std::map<std::string, OptionValue, std::less<>> values_;
};

// `given`, and the standard value of each option that it does not have.
OptionValues with_standard_values(OptionValues given, const std::vector<OptionRule>& rules);
// The same. Throws Error(usage) that names `owner` ("solver
// \"adam\"") for a value that has no rule, with the nearest option, or that is of another type than its rule says.
OptionValues completed(const OptionValues& given, const std::vector<OptionRule>& rules, std::string_view owner);

}  // namespace retrace
