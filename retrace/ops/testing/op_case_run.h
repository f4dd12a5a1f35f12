#pragma once
// The parts of the runner of op cases: inputs from their description, results under a configuration, comparisons.

#include <string>
#include <vector>

#include "retrace/ops/testing/op_case.h"

namespace retrace {

// One way of computing that must not change a bit.
struct Configuration {
  std::string name = "";
  std::string simd = "";  // "": the best target
  int threads = 1;
  bool plan_cache = true;
  std::vector<std::string> passes_off = {};
  bool moved_inputs = false;  // inputs are results of slice and transpose
};
// The first is the one that the others are compared with.
std::vector<Configuration> configurations();

// The configuration is in force for the lifetime of this object.
class ConfigurationScope {
 public:
  explicit ConfigurationScope(const Configuration& configuration);
  ~ConfigurationScope();

 private:
  std::string simd_;
  int threads_;
  bool plan_cache_;
};

// float_type: the type that f32 inputs get.
std::vector<Tensor> make_inputs(const OpCase& one, DType float_type);
// The same values, computed by slice and transpose.
std::vector<Tensor> moved(const std::vector<Tensor>& inputs);
// Inputs that are differentiated.
std::vector<size_t> differentiated(const OpCase& one);
// Sum of all float results, each element times a seeded weight.
Tensor weighted_loss(const std::vector<Tensor>& results);
std::vector<Tensor> loss_gradients(const OpCase& one, const std::vector<Tensor>& inputs);
// The same without the loss, which nothing computes: those that depend on a result.
std::vector<Tensor> gradients_alone(const OpCase& one, const std::vector<Tensor>& inputs);

std::vector<double> numbers(const Tensor& tensor);
// "" if each element of `is` lies within the bound of `reference`; else the first that does not, in words.
std::string outside(const std::vector<double>& is, const std::vector<double>& reference, const Bound& bound,
                    const std::vector<double>& magnitude);
// "" if the elements are exactly these; f32 elements: these rounded to f32.
std::string inexact(const Tensor& is, const std::vector<double>& expected);
// "" if the bits are equal (any NaN equals any NaN).
std::string bit_difference(const Tensor& a, const Tensor& b);

}  // namespace retrace
