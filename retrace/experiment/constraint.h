#pragma once
// Constraints of parameters: comparisons of expressions.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace retrace {

// SUM COMPARISON SUM, where the comparison is < <= > >= or ==, and a sum is made of numbers, names, + - * / and
// brackets. Computed in binary64, in the order of the text. What divides by zero holds for nothing.
class Constraint {
 public:
  // `names`: those that it may have. Error(usage) with the place in the text for what is not understood.
  Constraint(std::string text, const std::vector<std::string>& names);

  const std::string& text() const { return text_; }
  // Of the values of the names, in their order.
  bool holds(const std::vector<double>& values) const;

 private:
  // In the order of computing: a number, the value of a name, or an operation on the two newest results.
  struct Step {
    char what = 0;  // '#': number; '@': name; '_': negation; else the operation
    double number = 0;
    size_t name = 0;
  };
  class Parser;

  std::string text_, comparison_;
  std::vector<Step> left_, right_;
};

}  // namespace retrace
