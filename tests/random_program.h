#pragma once
// Random programs of mixed ops, each a function of its seed: values are made from a batch, from parameters and from
// each other; a loss is made of some, some are returned beside it, some are dead.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "retrace/base/hash.h"
#include "retrace/retrace.h"

namespace retrace {

class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>((mix64(hash_combine(seed_, ++count_)) >> 32) % uint64_t(n)); }
  bool one_in(int64_t n) { return below(n) == 0; }
  double number() { return static_cast<double>(below(4001) - 2000) / 2000; }

 private:
  uint64_t seed_, count_ = 0;
};

// Elements from -1 to 1, with a zero of each sign and equal ones among them.
inline Tensor random_tensor(Random& random, const Shape& shape, DType type, std::string_view labels = "") {
  std::vector<double> numbers(static_cast<size_t>(shape.count()));
  for (double& x : numbers) x = random.one_in(16) ? (random.one_in(2) ? 0.0 : -0.0) : random.number();
  if (type == DType::f64) return Tensor::from(numbers, shape, labels);
  return Tensor::from(std::vector<float>(numbers.begin(), numbers.end()), shape, labels);
}

class RandomProgram {
 public:
  // Parameters that it asks for and that are not in `parameters` are made and added.
  RandomProgram(uint64_t seed, Tree& parameters, const Tensor& batch)
      : random_(seed), parameters_(parameters), values_{batch} {
    const int64_t length = 4 + random_.below(16);
    while (static_cast<int64_t>(values_.size()) < length && ++tries_ < 100) add_value();
  }

  // A number made of the last value and of two others.
  Tensor loss() {
    Tensor total = loss_of(values_.back());
    for (int i = 0; i < 2; ++i) total = total + loss_of(pick());
    return total;
  }
  // Some values, one of them twice.
  Tree results() {
    Tree results{{"a", pick()}, {"b", any()}, {"c", any()}};
    results["again"] = results["a"];
    return results;
  }

  // How many values each kind of step has made in all programs.
  static std::map<std::string, uint64_t>& counts() {
    static std::map<std::string, uint64_t> counts;
    return counts;
  }

  Random& random() { return random_; }
  DType type() const { return values_[0].type(); }

  // A recent value rather than an early one; a float.
  Tensor pick() {
    const auto last = static_cast<int64_t>(values_.size()) - 1;
    const auto i = std::max(random_.below(last + 1), random_.below(last + 1));
    return values_[static_cast<size_t>(i)];
  }
  // Any value; a comparison's or an index's, too.
  Tensor any() {
    if (others_.empty() || !random_.one_in(4)) return pick();
    return others_[static_cast<size_t>(random_.below(static_cast<int64_t>(others_.size())))];
  }
  void keep_other(const Tensor& x) { others_.push_back(x); }
  // What x can be combined with: another value that broadcasts to it, or is made so.
  Tensor partner(const Tensor& x) {
    const Tensor y = pick();
    Shape both;
    if (y.labels() == x.labels() && broadcast_shapes(x.shape(), y.shape(), both) && both == x.shape()) return y;
    switch (random_.below(x.rank() ? 4 : 2)) {
      case 0: return mean(y);
      case 1: return parameter({});
      case 2: return parameter({x.shape().back()});
      default: return parameter(x.shape());
    }
  }
  Tensor parameter(const Shape& shape) {
    const std::string name = fmt::format("p{:03}", next_parameter_++);
    if (!parameters_.contains(name)) parameters_[name] = random_tensor(random_parameters_, shape, type());
    return parameters_[name];
  }
  // An image [n,h,w,c]: a value if there is one.
  Tensor image() {
    for (int i = 0; i < 4; ++i)
      if (const Tensor x = pick(); x.rank() == 4) return x;
    const Tensor x = pick();
    return x.size() % 16 == 0 && x.size() > 0 ? reshape(x, {-1, 4, 4, 1}) : parameter({2, 5, 4, 3});
  }
  Tensor matrix() {
    const Tensor x = pick();
    if (x.rank() == 2) return x;
    return x.rank() < 2 ? reshape(x, {1, -1}) : reshape(x, {-1, x.shape().back()});
  }
  // A value with elements: a softmax of none is an error.
  Tensor filled() {
    const Tensor x = pick();
    return x.size() ? x : parameter({3, 4});
  }
  // Some axes; all of them if the list is empty.
  struct Reduced {
    Shape axes = {};
    ReduceOptions options = {};
  };
  Reduced reduction(const Tensor& x) {
    Reduced how{.options = {.keep = random_.one_in(3)}};
    for (int i = 0; i < x.rank(); ++i)
      if (random_.one_in(2)) how.axes.push_back(i);
    return how;
  }

 private:
  static constexpr int64_t kMostElements = 60'000;

  void add_value();
  void keep(const Tensor& x) {
    if (x.size() <= kMostElements) (is_float(x.type()) ? values_ : others_).push_back(x);
  }

  Tensor loss_of(const Tensor& x) {
    if (random_.one_in(3)) return mean(x);
    if (random_.one_in(2)) return sum(x * parameter({})) / static_cast<float>(std::max<int64_t>(1, x.size()));
    return mean_squared_error(x, stop_gradient(x * 0.5f));
  }

  Random random_, random_parameters_{77};
  Tree& parameters_;
  std::vector<Tensor> values_, others_;
  int next_parameter_ = 0, tries_ = 0;
};

struct RandomStep {
  const char* name;
  Tensor (*make)(RandomProgram&);
};

std::span<const RandomStep> random_steps();  // tests/random_steps.h

// What does not fit is refused while it is recorded, and another step is tried.
inline void RandomProgram::add_value() {
  const auto steps = random_steps();
  const auto& step = steps[static_cast<size_t>(random_.below(static_cast<int64_t>(steps.size())))];
  try {
    keep(step.make(*this));
    ++counts()[step.name];
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
  }
}

}  // namespace retrace
