// Chains of narrow layers over many rows (fuse_rows): one kernel, and the bits of the ops one by one.
#include "retrace/plan/options_scope.h"
#include "tests/chain_testing.h"
#include "tests/tested_targets.h"

namespace retrace {
namespace {

// Widths of the layers, the first that of the input.
struct LayerCase {
  int64_t rows;
  std::vector<int64_t> widths;
  bool special = false;  // infinities, NaN and -0 among inputs and weights
};

void PrintTo(const LayerCase& c, std::ostream* out) {
  *out << c.rows << " rows";
  for (int64_t width : c.widths) *out << ", " << width;
}

Tensor special(const Tensor& x, bool wanted) { return wanted ? with_special(x, 977) : x; }

Tree parameters_of(const LayerCase& c) {
  Tree tree;
  for (size_t i = 1; i < c.widths.size(); ++i) {
    const std::string name = "layer" + std::to_string(i);
    tree[name] = Tree{{"weights", special(numbers({c.widths[i], c.widths[i - 1]}, name.c_str()), c.special)},
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
Bits step(const LayerCase& c) {
  const size_t layers = c.widths.size() - 1;
  const Tensor x = special(numbers({c.rows, c.widths[0]}, "x", "BC"), c.special);
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

using RowChainTest = ChainFixture<testing::TestWithParam<LayerCase>>;

// Where lanes stay empty, planning would leave the ops apart.
Bits step_without(const std::vector<std::string>& passes, const LayerCase& c) {
  PlanOptions options{.passes_off = passes};
  Tuning::Rows& cost = options.tuning.rows;
  cost.term = cost.outer = cost.rule = 0;
  const PlanOptionsScope scope(options);
  return step(c);
}

TEST_P(RowChainTest, HasTheBitsOfItsOps) {
  const Bits plain = step_without({"fuse_rows"}, GetParam());
  for (const SimdTarget target : tested_targets())
    for (int threads : {1, 3}) {
      set_simd_target(name_of(target));
      set_thread_count(threads);
      EXPECT_EQ(step_without({}, GetParam()), plain) << name_of(target) << ", " << threads << " threads";
      EXPECT_EQ(count_in_last_plan("row_chain"), 1u);
    }
  EXPECT_EQ(step_without({"fuse_rows", "fuse_prologues", "fuse_pointwise", "fuse_epilogues"}, GetParam()), plain)
      << "no fusion at all";
}

INSTANTIATE_TEST_SUITE_P(Networks, RowChainTest,
                         testing::Values(LayerCase{2048, {2, 20, 5, 1}}, LayerCase{2049, {2, 20, 5, 1}},
                                         LayerCase{4095, {1, 3, 2}}, LayerCase{4096, {3, 4, 4}},
                                         LayerCase{5000, {7, 64, 33, 3}}, LayerCase{8209, {5, 1, 1}},
                                         LayerCase{2304, {2, 20, 5, 1}, true}, LayerCase{4400, {4, 9, 6}, true},
                                         LayerCase{4411, {2, 20, 5, 1}, true}));

TEST(RowChains, TakeInAWholeStepWhereRowsFillTheirLanesAndLayersAreNarrow) {
  const auto kernel_calls = [](const LayerCase& c) {
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
  const auto is_chain = [&](const LayerCase& c) {
    kernel_calls(c);
    return count_in_last_plan("row_chain") == 1;
  };
  const ThreadCountScope one(1);
  EXPECT_LE(kernel_calls({4096, {2, 20, 5, 1}}), 3u) << "the chain, and numbers made of its loss";
  EXPECT_TRUE(is_chain({4096, {2, 20, 5, 1}}));
  EXPECT_FALSE(is_chain({1024, {2, 20, 5, 1}})) << "few rows";
  EXPECT_FALSE(is_chain({8192, {16, 16, 16, 16}})) << "vectors are full, and arrays stay in the caches";
  EXPECT_TRUE(is_chain({65'536, {64, 64, 64}})) << "arrays leave the caches";
  EXPECT_FALSE(is_chain({4096, {2, 65, 65, 1}})) << "wide layers";
  const ThreadCountScope four(4);
  EXPECT_FALSE(is_chain({4096, {2, 20, 5, 1}})) << "three threads would wait";
  EXPECT_TRUE(is_chain({16'384, {2, 20, 5, 1}}));
}

}  // namespace
}  // namespace retrace
