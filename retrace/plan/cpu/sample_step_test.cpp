// Layers and their gradients over a few samples at a time (fuse_samples): one kernel, and the bits of the ops one by
// one.
#include "retrace/device/cpu/fast_mode.h"
#include "tests/chain_testing.h"
#include "tests/tested_targets.h"

namespace retrace {
namespace {

struct Case {
  int64_t samples, side;
  bool special = false;  // infinities, NaN and -0 among inputs
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.samples << " samples of side " << c.side; }

Tensor images(const Case& c) {
  const Tensor x = numbers({c.samples, c.side, c.side, 1}, "x", "BSSC");
  return c.special ? with_special(x, 9973) : x;
}

Tree layer(const Shape& weights, int64_t outputs, const char* name) {
  return {{"weights", numbers(weights, name)}, {"bias", numbers({outputs}, (std::string(name) + " bias").c_str())}};
}

Tree parameters() {
  return {{"conv1", layer({3, 3, 1, 8}, 8, "conv1")},
          {"conv2", layer({3, 3, 8, 16}, 16, "conv2")},
          {"up", layer({2, 2, 8, 16}, 8, "up")},
          {"out", layer({1, 1, 8, 1}, 1, "out")}};
}

Tensor forward(const Tree& p, const Tensor& x) {
  Tensor y = max_pool2d(relu(conv2d(x, p["conv1"], {.padding = same})), 2, {.stride = 2});
  y = average_pool2d(relu(conv2d(y, p["conv2"], {.padding = same})), 2, {.stride = 2});
  y = relu(transposed_conv2d(y, p["up"], {.stride = 2}));
  return conv2d(y, p["out"]);
}

Tensor loss(const Tree& p, const Tensor& x, const Tensor& target) { return mean_squared_error(forward(p, x), target); }

constexpr const char* kChain = "sample_chain";

struct Results {
  Bits bits;
  size_t chains, filter_gradients;  // of the plan: kernels of their own
};

Results train(const auto& f, const Tree& p, const Tensor& x, const Tensor& target) {
  evaluate();
  const auto [value, gradients] = value_and_grad(f)(p, x, target);
  Results results{{}, count_in_last_plan(kChain), count_in_last_plan("conv2d_filter_gradient")};
  add_bits(results.bits, value);
  for (const auto& [name, tensor] : leaves(gradients)) add_bits(results.bits, tensor);
  return results;
}

Results train(const Case& c) {
  return train(loss, parameters(), images(c), numbers({c.samples, c.side / 2, c.side / 2, 1}, "t", "BSSC"));
}

Results predict(const Case& c) {
  const Tensor x = images(c);
  const Tree p = parameters();
  evaluate();
  Results results{};
  add_bits(results.bits, forward(p, x));
  results.chains = count_in_last_plan(kChain);
  return results;
}

#ifdef NDEBUG
constexpr int kThreads[] = {1, 3};
constexpr Case kCases[] = {{256, 32}, {257, 32}, {150, 32}, {139, 32, true}, {519, 16}};
#else  // a sanitizer takes seconds for each
constexpr int kThreads[] = {3};
constexpr Case kCases[] = {{150, 32}, {139, 32, true}};
#endif

using SampleChainTest = ChainFixture<testing::TestWithParam<Case>>;

TEST_P(SampleChainTest, HasTheBitsOfItsOps) {
  set_passes_off({"fuse_samples", "fuse_lines"});
  const Results training = train(GetParam()), prediction = predict(GetParam());
  EXPECT_EQ(training.chains + prediction.chains, 0u);
  set_passes_off({});
  for (const SimdTarget target : tested_targets())
    for (int threads : kThreads) {
      SCOPED_TRACE(std::string(name_of(target)) + ", " + std::to_string(threads) + " threads");
      set_simd_target(name_of(target));
      set_thread_count(threads);
      const Results chain = train(GetParam()), forward_chain = predict(GetParam());
      EXPECT_TRUE(chain.bits == training.bits);
      EXPECT_EQ(chain.chains, 1u);
      EXPECT_EQ(chain.filter_gradients, 0u) << "all are sums of the chain";
      EXPECT_TRUE(forward_chain.bits == prediction.bits);
      EXPECT_EQ(forward_chain.chains, 1u);
    }
  set_passes_off({"fuse_prologues", "fuse_pointwise", "fuse_epilogues"});
  EXPECT_TRUE(train(GetParam()).bits == training.bits) << "with nothing else fused";
  EXPECT_TRUE(predict(GetParam()).bits == prediction.bits) << "with nothing else fused";
}

// Also on the threads that help it, whatever mode the process has.
TEST_P(SampleChainTest, HasTheModeOfItsThread) {
  set_thread_count(3);
  const Results expected = train(GetParam());
  EXPECT_EQ(expected.chains, 1u);
  const ModeScope process(Mode::fast);
  const OwnModeScope own(Mode::reproducible);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(train(GetParam()).bits == expected.bits);
}

INSTANTIATE_TEST_SUITE_P(Networks, SampleChainTest, testing::ValuesIn(kCases));

using SampleChains = ChainFixture<testing::Test>;

// Sums over 784, 196 and 49 positions a sample make no subtrees: they are kernels of their own beside the chain.
TEST_F(SampleChains, LeaveOutSumsWithoutSubtrees) {
  const Case c{300, 28};
  const Results chain = train(c);
  EXPECT_EQ(chain.chains, 1u);
  EXPECT_EQ(chain.filter_gradients, 4u);
  set_passes_off({"fuse_samples", "fuse_lines"});
  EXPECT_TRUE(train(c).bits == chain.bits);
}

// A dense head sums over blocks of 256 samples: it stays outside. Before it all arrays are kept for the gradients;
// behind it there is a chain.
TEST_F(SampleChains, StandBehindAHead) {
  const Tree p{{"conv1", layer({3, 3, 1, 8}, 8, "conv1")},
               {"conv2", layer({3, 3, 8, 8}, 8, "conv2")},
               {"head", layer({10, 16 * 16 * 8}, 10, "head")}};
  const auto loss = [](const Tree& p, const Tensor& x, const Tensor& target) {
    const Tensor y = relu(conv2d(relu(conv2d(x, p["conv1"], {.padding = same})), p["conv2"], {.padding = same}));
    return cross_entropy(softmax(linear(max_pool2d(y, 2, {.stride = 2}), p["head"])), target);
  };
  const Case c{130, 32};
  const Tensor x = images(c), target = softmax(numbers({c.samples, 10}, "t", "BC"));
  set_passes_off({"fuse_lines"});
  const Results chain = train(loss, p, x, target);
  EXPECT_EQ(chain.chains, 1u);
  set_passes_off({"fuse_samples", "fuse_lines"});
  EXPECT_TRUE(train(loss, p, x, target).bits == chain.bits);
}

struct Heads {
  int64_t batch, heads, shared, queries, keys;  // heads that share one of keys: heads / shared
  bool causal, special = false;
};

// Attention and its gradients go head by head: products of stacks, softmax, and sums of lines.
TEST_F(SampleChains, TakeHeadsOfAttention) {
  for (const Heads& c : {Heads{3, 4, 4, 300, 300, true},
                         {3, 4, 4, 300, 280, false},
                         {2, 8, 4, 260, 260, true},
                         {2, 4, 4, 600, 600, true, true},
                         {1, 6, 6, 520, 700, false}}) {
    SCOPED_TRACE(std::to_string(c.queries) + " queries");
    Tensor q = numbers({c.batch, c.heads, c.queries, 16}, "q");
    if (c.special) q = with_special(q, 4999);
    const Tree x{{"q", q},
                 {"k", numbers({c.batch, c.shared, c.keys, 16}, "k")},
                 {"v", numbers({c.batch, c.shared, c.keys, 16}, "v")}};
    const Tensor weights = numbers({c.batch, c.heads, c.queries, 16}, "w");
    const auto loss = [&](const Tree& p, const Tensor& w, const Tensor&) {
      return sum(attention(p["q"], p["k"], p["v"], {.causal = c.causal}) * w);
    };
    set_passes_off({"fuse_samples", "fuse_lines", "sink_views"});
    const Results expected = train(loss, x, weights, weights);
    EXPECT_EQ(expected.chains, 0u);
    set_passes_off({});
    for (const int threads : {1, 3}) {
      set_thread_count(threads);
      const Results chain = train(loss, x, weights, weights);
      EXPECT_GE(chain.chains, 1u);
      EXPECT_TRUE(chain.bits == expected.bits) << threads << " threads";
    }
  }
}

TEST_F(SampleChains, AreNotMadeOfWhatFitsTheCaches) { EXPECT_EQ(train({16, 32}).chains, 0u); }

}  // namespace
}  // namespace retrace
