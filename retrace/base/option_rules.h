#pragma once
// Options of things that are chosen by name: what each may be.

#include <string>
#include <string_view>
#include <vector>

#include "retrace/base/option_values.h"

namespace retrace {

// A text that lives as long as the program, for what is put together of several.
std::string_view kept_text(std::string text);

// The description of an option: type, default, allowed values.
struct OptionRule {
  std::string_view name = {};             // which lives as long as the program, too
  std::string_view help = {};             // one line, which lives as long as the program
  OptionValue standard = {};              // the default; its type is the option's
  double low = 0, high = 0;               // numbers: low <= value <= high, if low < high
  bool above_low = false;                 // low < value instead
  std::vector<std::string> choices = {};  // texts that are allowed; empty: any. Of numbers: none but these
  bool several = false;                   // texts: choices with commas between them, "warm-up, cosine"
  bool may_be_empty = false;              // lists
  bool ascending = false;                 // lists of whole numbers: each above the one before
  bool range = false;                     // lists of numbers: two of them, the first not above the second
  bool changes_bits = true;               // of a result, or at least what workers do together
};

// `given`, and the standard value of each option that it does not have. A whole number becomes a number, and one number
// a list of numbers, where the rule wants that.
OptionValues with_standard_values(OptionValues given, const std::vector<OptionRule>& rules);
// The same. Throws Error(usage) that names `owner` ("solver
// \"adam\"") for a value that has no rule, with the nearest option, or that is of another type than its rule says.
OptionValues completed(const OptionValues& given, const std::vector<OptionRule>& rules, std::string_view owner);

}  // namespace retrace
