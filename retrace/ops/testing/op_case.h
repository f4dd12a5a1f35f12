#pragma once
// Cases of ops, as data. The test file of an op's folder lists them; op_case_test.cpp runs each of them in every way:
//
//   OP_CASES(square) {
//     return {{.op = "square", .name = "odd", .inputs = {{.shape = {3, 5}}}, .build = one(square)}};
//   }

#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "retrace/ops/op.h"

namespace retrace {

// Elements are `values` (repeated) if there are any, else seeded numbers in low..high that keep 1/16 away from each
// of `avoid` (kinks, where differences say nothing). All are f32 numbers, so that f64 runs start from equal values.
struct CaseInput {
  Shape shape = {};
  double low = -2, high = 2;
  DType type = DType::f32;
  std::string labels = "";
  std::vector<double> values = {};
  std::vector<double> avoid = {};
  bool fixed = false;  // a float that is not differentiated
};

// What an f32 result may differ from the f64 one rounded once to f32: ulp units in the last place (0: correctly
// rounded), plus `relative` times the sum of the terms' magnitudes (`magnitude`) or else the largest result. Where the
// f64 result is below 2^-126, 2^-126 is allowed if `tiny` is set.
struct Bound {
  double ulp = 0;
  double relative = 0;
  bool tiny = false;
};

using CaseFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

struct OpCase {
  std::string op = "";    // as in the op table; must occur in the recorded trace of the call or of its gradient
  std::string name = "";  // what is special about this case
  std::vector<CaseInput> inputs = {};
  CaseFunction build = nullptr;
  Bound bound = {};
  std::vector<double> expected = {};  // of the first result (f32: rounded to it), exactly; any NaN, and -0 is not 0
  bool differentiable = true;         // gradients are compared with differences in f64, and f32 with f64
  Bound gradient = {.ulp = 4, .relative = 2e-6, .tiny = true};
  std::string no_gradient = "";      // why the op has none
  std::string gradient_test = "";    // the test of its gradient, where differences say nothing
  CaseFunction magnitude = nullptr;  // in f64: the sums of |terms| of the results
};

// How GoogleTest names a case in a failure.
inline void PrintTo(const OpCase& one, std::ostream* to) { *to << one.op << ", case " << one.name; }

// For `build`: a call of an op with one, two or three arguments.
template <class F>
CaseFunction one(F f) {
  return [f](const std::vector<Tensor>& in) { return std::vector<Tensor>{f(in[0], Place())}; };
}
template <class F>
CaseFunction two(F f) {
  return [f](const std::vector<Tensor>& in) { return std::vector<Tensor>{f(in[0], in[1], Place())}; };
}

// Zeros, ones, smallest, largest, infinite, not a number: both signs.
inline std::vector<double> special_values() {
  const double infinity = __builtin_inf();
  return {0.0,
          -0.0,
          1.0,
          -1.0,
          0x1p-149,
          -0x1p-149,
          0x1.8p-127,
          -0x1p-126,
          0x1.fffffep127,
          -0x1.fffffep127,
          infinity,
          -infinity,
          __builtin_nan(""),
          0.5,
          -2.5,
          3.0};
}

// Cases that every op of one or two arguments has: rank 0, empty, one element, odd sizes, a long row, special values
// (of two arguments: all pairs), and broadcasting by position and by label. `like` gives op, build, bounds and ranges.
std::vector<OpCase> pointwise_cases(const OpCase& like);

// -- registration: a list that each folder's test file adds to ---------------------------------------------------

using CaseList = std::vector<OpCase> (*)();
inline std::multimap<std::string_view, CaseList>& case_lists() {
  static std::multimap<std::string_view, CaseList> lists;
  return lists;
}
struct CaseRegistration {
  CaseRegistration(std::string_view folder, CaseList list) { case_lists().emplace(folder, list); }
};

#define OP_CASES(folder)                                                                   \
  static std::vector<::retrace::OpCase> folder##_cases();                                  \
  static const ::retrace::CaseRegistration folder##_registration(#folder, folder##_cases); \
  static std::vector<::retrace::OpCase> folder##_cases()

// -- examples: an expression of a user's program for each function of a folder, shown and run by the op's page ------

// `show` computes it and writes what a program would print.
struct OpExample {
  std::string_view file, text;
  std::string (*show)();
};
inline std::vector<OpExample>& op_examples() {
  static std::vector<OpExample> examples;
  return examples;
}
struct ExampleRegistration {
  explicit ExampleRegistration(OpExample example) { op_examples().push_back(example); }
};

// How an example's value is printed: a tensor, or the tensors of a list one after another.
std::string shown(const Tensor& tensor);
std::string shown(const std::vector<Tensor>& tensors);

// The page of the op that the file tests (docs/ops.md) shows the expression and its value; `name` is unique among all.
#define OP_EXAMPLE(name, ...)                                 \
  static const ::retrace::ExampleRegistration name##_example( \
      {__FILE__, #__VA_ARGS__, [] { return ::retrace::shown(__VA_ARGS__); }})

// The whole text of the Error that f throws; "" if it throws none.
template <class F>
std::string error_text(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The same of what an op says of arguments, at model.cpp:7: for those that the public function never records.
inline std::string infer_error(std::string_view name, const Attributes& attributes,
                               const std::vector<TensorSpec>& inputs) {
  const Op& op = find_op(name);
  return error_text([&] { op.infer({op, attributes, inputs, {"model.cpp", 7}}); });
}

}  // namespace retrace
