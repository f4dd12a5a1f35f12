// Layers and their gradients over a few samples at a time (fuse_samples): one kernel, and the bits of the ops one by
// one.
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

struct Case {
  int64_t samples, side;
  bool special = false;  // infinities, NaN and -0 among inputs
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.samples << " samples of side " << c.side; }

Tensor numbers(const Shape& shape, const char* name, const char* labels = "") {
  return uniform(shape, random_key(7).split(name), {.labels = labels}) * 2 - 1;
}

Tensor images(const Case& c, const char* name) {
  const Tensor x = numbers({c.samples, c.side, c.side, 1}, name, "BSSC");
  if (!c.special) return x;
  auto values = x.to_vector<float>();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float all[] = {infinity, -infinity, std::nanf(""), -0.0f, 1e-40f};
  for (size_t i = 0; i < values.size(); i += 9973) values[i] = all[i / 9973 % 5];
  return Tensor::from(values, x.shape(), x.labels());
}

Tree parameters() {
  return {{"conv1", Tree{{"weights", numbers({3, 3, 1, 8}, "c1")}, {"bias", numbers({8}, "b1")}}},
          {"conv2", Tree{{"weights", numbers({3, 3, 8, 16}, "c2")}, {"bias", numbers({16}, "b2")}}},
          {"up", Tree{{"weights", numbers({2, 2, 8, 16}, "u")}, {"bias", numbers({8}, "bu")}}},
          {"out", Tree{{"weights", numbers({1, 1, 8, 1}, "o")}, {"bias", numbers({1}, "bo")}}}};
}

Tensor forward(const Tree& p, const Tensor& x) {
  Tensor y = max_pool2d(relu(conv2d(x, p["conv1"], {.padding = same})), 2, {.stride = 2});
  y = average_pool2d(relu(conv2d(y, p["conv2"], {.padding = same})), 2, {.stride = 2});
  y = relu(transposed_conv2d(y, p["up"], {.stride = 2}));
  return conv2d(y, p["out"]);
}

Tensor loss(const Tree& p, const Tensor& x, const Tensor& target) { return mean_squared_error(forward(p, x), target); }

// Loss, gradients, and the prediction.
Bits step(const Case& c) {
  const Tensor x = images(c, "x"), target = numbers({c.samples, c.side / 2, c.side / 2, 1}, "t", "BSSC");
  const auto [value, gradients] = value_and_grad(loss)(parameters(), x, target);
  Bits bits;
  add_bits(bits, value);
  for (const auto& [name, tensor] : leaves(gradients)) add_bits(bits, tensor);
  add_bits(bits, forward(parameters(), x));
  return bits;
}

size_t chains_of_the_last_plan() {
  size_t count = 0;
  for (const auto& node : last_plan()->trace().nodes) count += node.op->name == "sample_chain";
  return count;
}

class SampleChainTest : public testing::TestWithParam<Case> {
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

TEST_P(SampleChainTest, HasTheBitsOfItsOps) {
  set_passes_off({"fuse_samples"});
  const Bits plain = step(GetParam());
  EXPECT_EQ(chains_of_the_last_plan(), 0u);
  set_passes_off({});
  for (const SimdTarget target : simd_targets())
    for (int threads : {1, 3}) {
      set_simd_target(name_of(target));
      set_thread_count(threads);
      EXPECT_EQ(step(GetParam()), plain) << name_of(target) << ", " << threads << " threads";
      EXPECT_EQ(chains_of_the_last_plan(), 1u);
    }
  set_passes_off({"fuse_prologues", "fuse_pointwise", "fuse_epilogues"});
  EXPECT_EQ(step(GetParam()), plain) << "with nothing else fused";
}

INSTANTIATE_TEST_SUITE_P(Networks, SampleChainTest,
                         testing::Values(Case{256, 32}, Case{257, 32}, Case{150, 32}, Case{139, 32, true},
                                         Case{519, 16}));

// Sums whose samples make no subtree, such as those of 49 positions, are left outside.
TEST(SampleChains, LeaveOutWhatHasNoSubtreePerSlab) {
  set_plan_cache(false);
  const Case c{300, 28};
  const Bits bits = step(c);
  set_passes_off({"fuse_samples"});
  EXPECT_EQ(step(c), bits);
  set_passes_off({});
  set_plan_cache(true);
}

// A dense head sums over blocks of 256 samples: it stays outside. Before it all arrays are kept for the gradients;
// behind it there is a chain.
TEST(SampleChains, StandBehindAHead) {
  const Tree p{{"conv1", Tree{{"weights", numbers({3, 3, 1, 8}, "c1")}, {"bias", numbers({8}, "b1")}}},
               {"conv2", Tree{{"weights", numbers({3, 3, 8, 8}, "c2")}, {"bias", numbers({8}, "b2")}}},
               {"head", Tree{{"weights", numbers({10, 16 * 16 * 8}, "h")}, {"bias", numbers({10}, "bh")}}}};
  const auto loss = [](const Tree& p, const Tensor& x, const Tensor& target) {
    Tensor y = relu(conv2d(relu(conv2d(x, p["conv1"], {.padding = same})), p["conv2"], {.padding = same}));
    y = linear(max_pool2d(y, 2, {.stride = 2}), p["head"]);
    return cross_entropy(softmax(y), target);
  };
  const Case c{130, 32};
  const Tensor x = images(c, "x"), target = softmax(numbers({c.samples, 10}, "t", "BC"));
  evaluate();
  const auto step = [&] {
    const auto [value, gradients] = value_and_grad(loss)(p, x, target);
    Bits bits;
    add_bits(bits, value);
    for (const auto& [name, tensor] : leaves(gradients)) add_bits(bits, tensor);
    return bits;
  };
  const Bits bits = step();
  EXPECT_EQ(chains_of_the_last_plan(), 1u);
  set_passes_off({"fuse_samples"});
  EXPECT_EQ(step(), bits);
  set_passes_off({});
}

TEST(SampleChains, AreNotMadeOfWhatFitsTheCaches) {
  const Case c{16, 32};
  evaluate();
  value_and_grad(loss)(parameters(), images(c, "x"), numbers({16, 16, 16, 1}, "t", "BSSC"));
  EXPECT_EQ(chains_of_the_last_plan(), 0u);
}

}  // namespace
}  // namespace retrace
