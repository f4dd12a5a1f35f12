// Chains of narrow layers over many rows (fuse_rows): one kernel, and the bits of the ops one by one.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "retrace/device/cpu/dispatch.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/retrace.h"
#include "retrace/run/plan_cache.h"

namespace retrace {
namespace {

using Bits = std::vector<uint32_t>;

void add_bits(Bits& to, const Tensor& tensor) {
  for (float x : tensor.to_vector<float>()) to.push_back(std::isnan(x) ? 0x7fc00000u : std::bit_cast<uint32_t>(x));
}

// Widths of the layers, the first that of the input.
struct Case {
  int64_t rows;
  std::vector<int64_t> widths;
  bool special = false;  // infinities, NaN and -0 among inputs and weights
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.rows << " rows";
  for (int64_t width : c.widths) *out << ", " << width;
}

Tensor numbers(const Shape& shape, const char* name, const char* labels = "") {
  return (uniform(shape, random_key(7).split(name), {.labels = labels}) * 2 - 1);
}

Tensor with_special(const Tensor& x, bool special) {
  if (!special) return x;
  auto values = x.to_vector<float>();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float all[] = {infinity, -infinity, std::nanf(""), -0.0f, 1e-40f};
  for (size_t i = 0; i < values.size(); i += 977) values[i] = all[i / 977 % 5];
  return Tensor::from(values, x.shape(), x.labels());
}

Tree parameters_of(const Case& c) {
  Tree tree;
  for (size_t i = 1; i < c.widths.size(); ++i) {
    const std::string name = "layer" + std::to_string(i);
    tree[name] = Tree{{"weights", with_special(numbers({c.widths[i], c.widths[i - 1]}, name.c_str()), c.special)},
                      {"bias", numbers({c.widths[i]}, (name + "b").c_str())}};
  }
  return tree;
}

Tensor forward(const Tree& p, Tensor x, size_t layers) {
  for (size_t i = 1; i <= layers; ++i) {
    x = linear(x, p["layer" + std::to_string(i)]);
    if (i < layers) x = i % 2 ? relu(x) : exp(x * 0.25f);
  }
  return x;
}

// Loss, gradients of the parameters and of the input, and the prediction.
Bits step(const Case& c) {
  const size_t layers = c.widths.size() - 1;
  const Tensor x = with_special(numbers({c.rows, c.widths[0]}, "x", "BC"), c.special);
  const Tensor t = numbers({c.rows, c.widths.back()}, "t", "BC");
  const auto loss = [&](const Tree& both, const Tensor& target) {
    return mean_squared_error(forward(both["p"], both["x"].tensor(), layers), target);
  };
  const Tree both{{"p", parameters_of(c)}, {"x", x}};
  const auto [value, gradients] = value_and_grad(loss)(both, t);
  Bits bits;
  add_bits(bits, value);
  for (const auto& [name, tensor] : leaves(gradients)) add_bits(bits, tensor);
  add_bits(bits, forward(both["p"], x, layers));
  return bits;
}

class RowChainTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { set_plan_cache(false); }
  void TearDown() override {
    set_plan_cache(true);
    set_passes_off({});
    set_simd_target(name_of(simd_targets()[0]));
    set_thread_count(threads_);
  }
  const int threads_ = thread_count();
};

TEST_P(RowChainTest, HasTheBitsOfItsOps) {
  set_passes_off({"fuse_rows"});
  const Bits plain = step(GetParam());
  set_passes_off({});
  for (const SimdTarget target : simd_targets())
    for (int threads : {1, 3}) {
      set_simd_target(name_of(target));
      set_thread_count(threads);
      EXPECT_EQ(step(GetParam()), plain) << name_of(target) << ", " << threads << " threads";
    }
  set_passes_off({"fuse_rows", "fuse_prologues", "fuse_pointwise", "fuse_epilogues"});
  EXPECT_EQ(step(GetParam()), plain) << "no fusion at all";
}

INSTANTIATE_TEST_SUITE_P(Networks, RowChainTest,
                         testing::Values(Case{2048, {2, 20, 5, 1}}, Case{2049, {2, 20, 5, 1}}, Case{4095, {1, 3, 2}},
                                         Case{4096, {3, 4, 4}}, Case{5000, {7, 64, 33, 3}}, Case{8209, {5, 1, 1}},
                                         Case{2304, {2, 20, 5, 1}, true}, Case{4400, {4, 9, 6}, true}));

size_t chains_of_the_last_plan() {
  size_t count = 0;
  for (const auto& node : last_plan()->trace().nodes) count += node.op->name == "row_chain";
  return count;
}

TEST(RowChains, TakeInAWholeStepWhereRowsAreManyAndLayersNarrow) {
  const auto kernel_calls = [](const Case& c) {
    const size_t layers = c.widths.size() - 1;
    const auto loss = [&](const Tree& p, const Tensor& x, const Tensor& t) {
      return mean_squared_error(forward(p, x, layers), t);
    };
    const Tree parameters = parameters_of(c);
    const Tensor x = numbers({c.rows, c.widths[0]}, "x", "BC"), t = numbers({c.rows, c.widths.back()}, "t", "BC");
    evaluate();
    value_and_grad(loss)(parameters, x, t);
    return last_plan()->kernel_calls();
  };
  EXPECT_LE(kernel_calls({4096, {2, 20, 5, 1}}), 3u) << "the chain, and numbers made of its loss";
  EXPECT_EQ(chains_of_the_last_plan(), 1u);
  kernel_calls({2047, {2, 20, 5, 1}});
  EXPECT_EQ(chains_of_the_last_plan(), 0u) << "few rows";
  kernel_calls({4096, {2, 65, 65, 1}});
  EXPECT_EQ(chains_of_the_last_plan(), 0u) << "wide layers";
}

}  // namespace
}  // namespace retrace
