#include "retrace/experiment/constraint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/joined.h"

namespace retrace {
namespace {

constexpr size_t kLongestConstraint = 1000;
constexpr int kDeepestBrackets = 32;

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '[' || c == ']';
}

double computed(char operation, double a, double b) {
  switch (operation) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    default: return a / b;
  }
}

}  // namespace

class Constraint::Parser {
 public:
  Parser(const std::string& text, const std::vector<std::string>& names) : text_(text), names_(names) {}

  void read(Constraint& into) {
    sum(into.left_);
    into.comparison_ = comparison();
    sum(into.right_);
    if (next() != '\0') throw wrong("it has more than one comparison of two sums");
  }

 private:
  Error wrong(const std::string& what) const {
    return Error(ErrorKind::usage, 747, fmt::format("a constraint is not understood: {}", what))
        .got(fmt::format("\"{}\", at character {}", printable(text_.substr(0, 120)), at_ + 1))
        .expected("SUM <= SUM (or < > >= ==) of numbers, parameters, + - * / and brackets");
  }

  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  std::string comparison() {
    for (const char* known : {"<=", ">=", "==", "<", ">"})
      if (next() && text_.compare(at_, std::string_view(known).size(), known) == 0) {
        at_ += std::string_view(known).size();
        return known;
      }
    throw wrong("a comparison is missing");
  }

  void sum(std::vector<Step>& steps) {
    product(steps);
    for (char operation = next(); operation == '+' || operation == '-'; operation = next()) {
      ++at_;
      product(steps);
      steps.push_back({.what = operation});
    }
  }

  void product(std::vector<Step>& steps) {
    factor(steps);
    for (char operation = next(); operation == '*' || operation == '/'; operation = next()) {
      ++at_;
      factor(steps);
      steps.push_back({.what = operation});
    }
  }

  void factor(std::vector<Step>& steps) {
    const char first = next();
    if (first == '(') {
      if (++depth_ > kDeepestBrackets) throw wrong("its brackets are too deep");
      ++at_;
      sum(steps);
      if (next() != ')') throw wrong("a closing bracket is missing");
      ++at_;
      --depth_;
    } else if (first == '-') {
      if (++depth_ > kDeepestBrackets) throw wrong("it has too many signs");
      ++at_;
      factor(steps);
      --depth_;
      steps.push_back({.what = '_'});
    } else if ((first >= '0' && first <= '9') || first == '.') {
      number(steps);
    } else if (is_name(first)) {
      name(steps);
    } else {
      throw wrong("a number or a parameter is missing");
    }
  }

  void number(std::vector<Step>& steps) {
    double value = 0;
    const auto [end, failure] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (failure != std::errc() || (*end && is_name(*end))) throw wrong("a number is misspelt");
    at_ = static_cast<size_t>(end - text_.data());
    steps.push_back({.what = '#', .number = value});
  }

  void name(std::vector<Step>& steps) {
    const size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    const std::string found = text_.substr(begin, at_ - begin);
    const auto known = std::find(names_.begin(), names_.end(), found);
    if (known == names_.end()) {
      at_ = begin;
      const std::string near = nearest(found, names_);
      throw wrong(fmt::format("\"{}\" is no parameter with numbers", found))
          .help(near.empty() ? fmt::format("parameters with numbers: {}", joined(names_, ", "))
                             : fmt::format("did you mean \"{}\"?", near));
    }
    steps.push_back({.what = '@', .name = static_cast<size_t>(known - names_.begin())});
  }

  const std::string& text_;
  const std::vector<std::string>& names_;
  size_t at_ = 0;
  int depth_ = 0;
};

Constraint::Constraint(std::string text, const std::vector<std::string>& names) : text_(std::move(text)) {
  if (text_.size() > kLongestConstraint)
    throw Error(ErrorKind::usage, 747, fmt::format("a constraint of {} characters is too long", text_.size()))
        .expected(fmt::format("at most {}", kLongestConstraint));
  Parser(text_, names).read(*this);
}

bool Constraint::holds(const std::vector<double>& values) const {
  const auto value_of = [&](const std::vector<Step>& steps) {
    std::vector<double> results;
    for (const Step& step : steps) {
      if (step.what == '#') {
        results.push_back(step.number);
      } else if (step.what == '@') {
        results.push_back(values[step.name]);
      } else if (step.what == '_') {
        results.back() = -results.back();
      } else {
        const double right = results.back();
        results.pop_back();
        results.back() = computed(step.what, results.back(), right);
      }
    }
    return results.back();
  };
  const double left = value_of(left_), right = value_of(right_);
  if (comparison_ == "<=") return left <= right;
  if (comparison_ == ">=") return left >= right;
  if (comparison_ == "==") return left == right;
  return comparison_ == "<" ? left < right : left > right;
}

}  // namespace retrace
