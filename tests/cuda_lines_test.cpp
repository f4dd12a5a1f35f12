// Chains of lines on a CUDA device, emulated where no other is asked for: one kernel, and the bits of the CPU's ops one
// by one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "retrace/plan/cuda/cuda_plan.h"
#include "tests/chain_testing.h"
#include "tests/small_emulation.h"

namespace retrace {
namespace {

using Function = std::function<Tensor(const Tensor& x, const Tensor& t)>;

// A loss of the softmax of scores with a bias.
Tensor classified(const Tensor& x, const Tensor& t) { return cross_entropy(softmax(x), t); }
Tensor classified_from_logits(const Tensor& x, const Tensor& t) { return softmax_cross_entropy(x, t); }
// Sums over lines of numbers of lines, whose chain nothing else reads.
Tensor spread(const Tensor& x, const Tensor& t) {
  const Tensor mean = sum(x * t, {-1}, {.keep = true}) * 0.25f, d = x - mean;
  return sum(sqrt(sum(d * d, {-1}, {.keep = true}) + 1.0f));
}
// Scores of attention: no sum over all lines but the last.
Tensor attended(const Tensor& x, const Tensor& t) {
  const Tensor hidden = Tensor::full(-1e30f, {1}).to(x.device());
  return sum(softmax(where(t > 0.5f, hidden, x * 0.125f), {-1}) * x);
}

Tensor classified_by_numbers(const Tensor& x, const Tensor& t) {
  return cross_entropy(softmax(x), one_hot(argmax(t, -1), x.shape().back()));
}
Tensor classified_by_bytes(const Tensor& x, const Tensor& t) {
  return cross_entropy(softmax(x), one_hot(cast(argmax(t, -1), DType::u8), x.shape().back()));
}
Tensor normalized(const Tensor& x, const Tensor& t) {
  const auto found = moments(x, -1, {.keep = true});
  return sum((x - found.mean) / sqrt(found.m2 + 1.0f) * t);
}
Tensor below_the_largest(const Tensor& x, const Tensor& t) { return sum(exp(x - max(x, {-1}, {.keep = true})) * t); }

struct LineCase {
  const char* name;
  Shape shape;
  Function loss;
  bool fused = true;
  bool special = false;
};

void PrintTo(const LineCase& c, std::ostream* out) { *out << c.name << " " << c.shape; }

size_t chains = 0;

// Loss and gradients of a function of scores with a bias.
Bits step_of(const LineCase& c, bool on_device) {
  const auto given = [&](const Shape& shape, const char* name) {
    Tensor tensor = numbers(shape, name);
    if (c.special) tensor = with_special(tensor, 37);
    return on_device ? tensor.to(*gpus()[0]) : tensor;
  };
  const Tree both{{"x", given(c.shape, "x")}, {"bias", given({c.shape.back()}, "bias")}};
  const Tensor t = given(c.shape, "t");
  const auto loss = [&](const Tree& p, const Tensor& target) {
    return c.loss(p["x"].tensor() + p["bias"].tensor(), target);
  };
  evaluate();
  const auto [value, gradients] = value_and_grad(loss)(both, t);
  Bits bits;
  add_bits(bits, value);
  chains = count_in_last_plan("line_chain");
  for (const auto& [name, tensor] : leaves(gradients)) add_bits(bits, tensor);
  return bits;
}

class CudaLines : public testing::TestWithParam<LineCase> {
 protected:
  void SetUp() override {
    if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
    plan_cache().clear();
  }
  void TearDown() override { set_passes_off({}); }
};

TEST_P(CudaLines, HaveTheBitsOfTheCpu) {
  const LineCase& c = GetParam();
  set_passes_off({"fuse_pointwise", "fuse_lines", "fuse_prologues"});
  const Bits plain = step_of(c, false);
  set_passes_off({});
  EXPECT_EQ(step_of(c, true), plain);
  EXPECT_EQ(chains > 0, c.fused);
}

std::vector<LineCase> cases() {
  std::vector<LineCase> all;
  for (int64_t features : {2, 3, 5, 8, 10, 16, 17, 100, 255, 256})
    for (int64_t lines : {1, 7, 32, 33}) all.push_back({"classes", {lines, features}, classified});
  for (const Shape& shape :
       {Shape{1000, 10}, Shape{6000, 10}, Shape{16384, 4}, Shape{2, 257}, Shape{33, 300}, Shape{9, 512}})
    all.push_back({"classes", shape, classified});
  for (const Shape& shape : {Shape{1, 10}, Shape{32, 10}, Shape{50, 37}, Shape{70, 200}}) {
    all.push_back({"one_hot", shape, classified_by_numbers});
    all.push_back({"one_hot_u8", shape, classified_by_bytes});
  }
  for (const Shape& shape : {Shape{40, 10}, Shape{3, 5, 7}, Shape{4, 20, 65}, Shape{300, 3}, Shape{5, 300}}) {
    all.push_back({"logits", shape, classified_from_logits});
    all.push_back({"spread", shape, spread});
    all.push_back({"attention", shape, attended});
    all.push_back({"normalized", shape, normalized});
    all.push_back({"largest", shape, below_the_largest});
  }
  for (const auto loss : {classified, spread, attended, normalized, below_the_largest})
    for (const Shape& shape : {Shape{61, 12}, Shape{30, 290}}) all.push_back({"special", shape, loss, true, true});
  all.push_back({"wide", {3, 513}, classified, false});
  all.push_back({"nothing", {0, 10}, classified, false});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Chains, CudaLines, testing::ValuesIn(cases()));

class CudaClasses : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
    plan_cache().clear();
  }
  // Loss and gradient of scores of five classes.
  static Tensor loss_of(const std::vector<int32_t>& labels) {
    Device& device = *gpus()[0];
    const auto count = static_cast<int64_t>(labels.size());
    const Tensor x = numbers({count, 5}, "x").to(device), classes = Tensor::from(labels, {count}).to(device);
    evaluate();
    const auto loss = [&](const Tree& p) {
      return cross_entropy(softmax(p["x"].tensor()), one_hot(classes, 5, {"model.cpp", 7}));
    };
    auto [value, gradients] = value_and_grad(loss)(Tree{{"x", x}});
    evaluate();
    return value;
  }
};

// All but the quotient of the sum.
TEST_F(CudaClasses, TakeOneLaunch) {
  loss_of({0, 1, 4, 2}).to_vector<float>();
  EXPECT_EQ(count_in_last_plan("line_chain"), 1u);
  EXPECT_EQ(count_in_last_plan("one_hot"), 0u);
  EXPECT_EQ(last_plan()->kernel_calls(), 2u) << last_plan()->text();
}

// The first one of several, also of lines of other blocks.
TEST_F(CudaClasses, ThatDoNotExistAreNamed) {
  std::vector<int32_t> labels(300, 3);
  labels[100] = 7, labels[250] = -1;
  try {
    loss_of(labels).to_vector<float>();
    FAIL() << "nothing is found";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), 177);
    EXPECT_NE(std::string(error.what()).find("one_hot: label 7 at [100] does not exist\n  where:    model.cpp:7"),
              std::string::npos)
        << error.what();
  }
  EXPECT_FALSE(std::isnan(loss_of({0, 1, 4, 2}).to_vector<float>()[0]));
}

}  // namespace
}  // namespace retrace
