#include "retrace/ops/testing/op_case_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "retrace/autodiff/gradient.h"
#include "retrace/autodiff/value_and_grad.h"
#include "retrace/base/hash.h"
#include "retrace/base/sanitizers.h"
#include "retrace/device/cpu/dispatch.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/add/add.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/multiply/multiply.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/transpose/transpose.h"
#include "retrace/plan/compile.h"
#include "retrace/run/plan_cache.h"
#include "retrace/tensor/number.h"
#include "retrace/trace/record.h"
#include "tests/tested_targets.h"

namespace retrace {
namespace {

// Seeded, in 0..1.
double random_number(uint64_t seed, uint64_t i) {
  return static_cast<double>(mix64(hash_combine(seed, i)) >> 40) * 0x1p-24;
}

double element(const CaseInput& input, uint64_t seed, uint64_t i) {
  if (!input.values.empty()) return input.values[i % input.values.size()];
  double x = input.low + (input.high - input.low) * random_number(seed, i);
  for (double kink : input.avoid)
    if (std::fabs(x - kink) < 0x1p-4) x = kink + (x < kink ? -0x1p-3 : 0x1p-3);
  if (!is_float(input.type)) return std::floor(x);
  return static_cast<double>(static_cast<float>(x));
}

template <class T>
T of_number(double x) {
  if constexpr (std::same_as<T, BFloat16>)
    return to_bf16(static_cast<float>(x));
  else if constexpr (std::same_as<T, Float16>)
    return to_f16(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

template <class T>
Tensor make(const CaseInput& input, uint64_t seed) {
  const auto count = static_cast<size_t>(input.shape.count());
  const auto values = std::make_unique<T[]>(count);
  for (size_t i = 0; i < count; ++i) values[i] = of_number<T>(element(input, seed, i));
  const std::span<const T> made(values.get(), count);
  if constexpr (std::same_as<T, int64_t>)
    return Tensor::from_i64(made, input.shape, input.labels);
  else
    return Tensor::from(made, input.shape, input.labels);
}

Tensor make(const CaseInput& input, DType type, uint64_t seed) {
  switch (type) {
    case DType::f32: return make<float>(input, seed);
    case DType::f64: return make<double>(input, seed);
    case DType::i32: return make<int32_t>(input, seed);
    case DType::u8: return make<uint8_t>(input, seed);
    case DType::bf16: return make<BFloat16>(input, seed);
    case DType::f16: return make<Float16>(input, seed);
    case DType::i64: return make<int64_t>(input, seed);
    case DType::boolean: break;
  }
  return make<bool>(input, seed);
}

double unit_in_last_place(double x) {
  const double magnitude = std::max(std::fabs(x), 0x1p-126);
  if (!(magnitude < 0x1p128)) return 0x1p104;
  return std::ldexp(1.0, std::ilogb(magnitude) - 23);
}

bool same_value(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class T>
std::vector<double> widened(const Tensor& tensor) {
  std::vector<double> numbers;
  for (const T x : tensor.to_vector<T>()) numbers.push_back(static_cast<double>(number(x)));
  return numbers;
}

// Bits of element i, with one NaN for all.
uint64_t bits_at(const Tensor& tensor, size_t i, const void* data) {
  switch (tensor.type()) {
    case DType::f32: {
      const float x = static_cast<const float*>(data)[i];
      return std::isnan(x) ? 0x7fc00000u : std::bit_cast<uint32_t>(x);
    }
    case DType::f64: {
      const double x = static_cast<const double*>(data)[i];
      return std::isnan(x) ? 0x7ff8000000000000u : std::bit_cast<uint64_t>(x);
    }
    case DType::i32: return static_cast<const uint32_t*>(data)[i];
    case DType::i64: return static_cast<const uint64_t*>(data)[i];
    case DType::bf16:
    case DType::f16: return static_cast<const uint16_t*>(data)[i];
    case DType::u8:
    case DType::boolean: break;
  }
  return static_cast<const uint8_t*>(data)[i];
}

}  // namespace

std::vector<Configuration> configurations() {
  std::vector<Configuration> all{{.name = "default"}};
  for (auto target : tested_targets())
    all.push_back({.name = "simd=" + std::string(name_of(target)), .simd = std::string(name_of(target))});
  all.push_back({.name = "threads=2", .threads = 2});
  all.push_back({.name = "threads=3", .threads = 3});
  all.push_back({.name = "plain", .plan_cache = false});
  Configuration bare{.name = "passes_off=all", .passes_off = {"place_memory"}};
  for (const auto& pass : all_passes())
    if (!pass.required) {
      bare.passes_off.emplace_back(pass.name);
      if (RT_SANITIZED) continue;  // the build without sanitizers compares their bits
      all.push_back({.name = "passes_off=" + std::string(pass.name),
                     .plan_cache = false,
                     .passes_off = {std::string(pass.name)}});
    }
  all.push_back({.name = "passes_off=place_memory", .passes_off = {"place_memory"}});
  all.push_back(bare);
  all.push_back({.name = "moved inputs", .moved_inputs = true});
  all.push_back({.name = "moved inputs, passes_off=all", .passes_off = bare.passes_off, .moved_inputs = true});
  return all;
}

ConfigurationScope::ConfigurationScope(const Configuration& configuration)
    : simd_(name_of(simd_target())), threads_(thread_count()), plan_cache_(plan_cache_enabled()) {
  set_simd_target(configuration.simd.empty() ? name_of(simd_targets()[0]) : std::string_view(configuration.simd));
  set_thread_count(configuration.threads);
  set_plan_cache_enabled(configuration.plan_cache);
  set_passes_off(configuration.passes_off);
  plan_cache().clear();  // plans made under another configuration
}

ConfigurationScope::~ConfigurationScope() {
  set_simd_target(simd_);
  set_thread_count(threads_);
  set_plan_cache_enabled(plan_cache_);
  set_passes_off({});
  plan_cache().clear();
}

std::vector<Tensor> make_inputs(const OpCase& one, DType float_type) {
  std::vector<Tensor> inputs;
  for (const auto& input : one.inputs)
    inputs.push_back(
        make(input, input.type == DType::f32 ? float_type : input.type, hash_bytes(one.op + one.name) + inputs.size()));
  return inputs;
}

std::vector<Tensor> moved(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> result;
  for (const auto& x : inputs) {
    Tensor y = reshape(x, x.shape());
    if (y.rank() > 0) {  // a margin of one element on each side, cut off again
      Shape larger = y.shape(), begin = y.shape(), end = y.shape();
      for (int i = 0; i < y.rank(); ++i) larger[i] = y.shape()[i] + 2, begin[i] = 1, end[i] = y.shape()[i] + 1;
      y = slice(pad(y, larger, {.begin = begin}), {.begin = begin, .end = end});
    }
    if (y.rank() > 1) {
      Tensor swapped = transpose(y);
      evaluate();  // the transposed array exists: the op reads the result of a transpose
      y = transpose(swapped);
    }
    result.push_back(reshape(y, x.shape(), x.labels()));
  }
  return result;
}

std::vector<size_t> differentiated(const OpCase& one) {
  std::vector<size_t> result;
  for (size_t i = 0; i < one.inputs.size(); ++i)
    if (is_float(one.inputs[i].type) && !one.inputs[i].fixed) result.push_back(i);
  return result;
}

Tensor weights_of(const Tensor& result) {
  const CaseInput description{.shape = result.shape(), .low = 0.5, .high = 1.5};
  return make(description, result.type(), 77).to(result.device());
}

Tensor weighted_loss(const std::vector<Tensor>& results) {
  Tensor loss;
  for (const auto& result : results) {
    if (!is_float(result.type())) continue;
    const Tensor term = sum(multiply(reshape(result, result.shape()), weights_of(result)));
    loss = loss.defined() ? add(loss, term) : term;
  }
  return loss;
}

std::vector<Tensor> loss_gradients(const OpCase& one, const std::vector<Tensor>& inputs) {
  Tree parameters;
  for (size_t i : differentiated(one)) parameters[fmt::format("{:02}", i)] = inputs[i];
  auto step = value_and_grad([&](const Tree& p) {
    auto replaced = inputs;
    for (size_t i : differentiated(one)) replaced[i] = p[fmt::format("{:02}", i)];
    return weighted_loss(one.build(replaced));
  });
  return leaf_tensors(step(parameters).gradients);
}

std::vector<Tensor> gradients_alone(const OpCase& one, const std::vector<Tensor>& inputs) {
  const auto results = one.build(inputs);
  std::vector<Tensor> weights, x;
  for (const auto& result : results)
    weights.push_back(is_float(result.type()) ? weights_of(result).relabelled(result.labels()) : Tensor());
  for (size_t i : differentiated(one)) x.push_back(inputs[i]);
  auto found = vjp(results, weights, x);
  std::erase_if(found, [](const Tensor& gradient) { return !gradient.defined(); });
  return found;
}

std::vector<double> numbers(const Tensor& tensor) {
  switch (tensor.type()) {
    case DType::f32: return widened<float>(tensor);
    case DType::f64: return widened<double>(tensor);
    case DType::i32: return widened<int32_t>(tensor);
    case DType::i64: return widened<int64_t>(tensor);
    case DType::bf16: return widened<BFloat16>(tensor);
    case DType::f16: return widened<Float16>(tensor);
    case DType::u8:
    case DType::boolean: break;
  }
  return widened<uint8_t>(tensor);
}

std::string outside(const std::vector<double>& is, const std::vector<double>& reference, const Bound& bound,
                    const std::vector<double>& magnitude) {
  if (is.size() != reference.size())
    return fmt::format("{} elements, the reference has {}", is.size(), reference.size());
  double largest = 0;
  for (double x : reference)
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  for (size_t i = 0; i < is.size(); ++i) {
    const double expected = static_cast<double>(static_cast<float>(reference[i]));
    if (same_value(is[i], expected) || same_value(is[i], reference[i])) continue;
    const double scale = magnitude.empty() ? largest : magnitude[i];
    double allowed = bound.ulp * unit_in_last_place(expected) + bound.relative * scale;
    if (bound.tiny && std::fabs(reference[i]) < 0x1p-126) allowed = std::max(allowed, 0x1p-126);
    if (allowed > 0 && std::fabs(is[i] - expected) <= allowed) continue;
    return fmt::format("element {}: {} ({:a}), in double precision {} ({:a}); {} allowed", i, is[i], is[i],
                       reference[i], reference[i], allowed);
  }
  return "";
}

std::string inexact(const Tensor& is, const std::vector<double>& expected) {
  const auto found = numbers(is);
  if (found.size() != expected.size()) return fmt::format("{} elements instead of {}", found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const double rounded = is.type() == DType::f32 ? static_cast<double>(static_cast<float>(expected[i])) : expected[i];
    if (!same_value(found[i], rounded))
      return fmt::format("element {}: {} ({:a}) instead of {}", i, found[i], found[i], expected[i]);
  }
  return "";
}

std::string bit_difference(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type() || !(a.shape() == b.shape())) return a.spec().text() + " and " + b.spec().text();
  const void *x = a.data(), *y = b.data();
  for (size_t i = 0; i < static_cast<size_t>(a.size()); ++i)
    if (const auto p = bits_at(a, i, x), q = bits_at(b, i, y); p != q)
      return fmt::format("element {} of {}: bits {:08x} and {:08x}", i, a.size(), p, q);
  return "";
}

}  // namespace retrace
