#pragma once
// What the tests of fused chains share: bits of results, special numbers, and a fixture that plans every call anew.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "retrace/device/cpu/dispatch.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/plan/compile.h"
#include "retrace/retrace.h"
#include "retrace/run/plan_cache.h"
#include "retrace/trace/op.h"

namespace retrace {

using Bits = std::vector<uint32_t>;

inline void add_bits(Bits& to, const Tensor& tensor) {
  for (float x : tensor.to_vector<float>()) to.push_back(std::isnan(x) ? 0x7fc00000u : std::bit_cast<uint32_t>(x));
}

inline Tensor numbers(const Shape& shape, const char* name, const char* labels = "") {
  return uniform(shape, random_key(7).split(name), {.labels = labels}) * 2 - 1;
}

// Every `step`-th number infinite, NaN, -0 or subnormal.
inline Tensor with_special(const Tensor& x, size_t step) {
  auto values = x.to_vector<float>();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float all[] = {infinity, -infinity, std::nanf(""), -0.0f, 1e-40f};
  for (size_t i = 0; i < values.size(); i += step) values[i] = all[i / step % 5];
  return Tensor::from(values, x.shape(), x.labels());
}

// Kernels of an op in the plan that this thread ran last.
inline size_t count_in_last_plan(std::string_view op) {
  size_t count = 0;
  for (const auto& node : last_plan()->trace().nodes) count += node.op->name == op;
  return count;
}

template <class Base>
class ChainFixture : public Base {
 protected:
  void SetUp() override { set_plan_cache_enabled(false); }
  void TearDown() override {
    set_plan_cache_enabled(true);
    set_passes_off({});
    set_simd_target(name_of(simd_targets()[0]));
    set_thread_count(threads_);
  }
  const int threads_ = thread_count();
};

}  // namespace retrace
