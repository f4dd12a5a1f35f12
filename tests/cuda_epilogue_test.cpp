// Chains that a contraction's kernel computes on what it stores, on a CUDA device, emulated where no other is asked
// for: one launch, and the bits of the CPU's ops one by one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "retrace/base/error.h"
#include "retrace/base/warning.h"
#include "retrace/plan/compile.h"
#include "retrace/plan/cuda/cuda_plan.h"
#include "retrace/run/plan_cache.h"
#include "tests/chain_testing.h"
#include "tests/small_emulation.h"

namespace retrace {
namespace {

std::vector<std::string>& sources() {
  static std::vector<std::string> all;
  return all;
}
int& warnings() {
  static int count = 0;
  return count;
}

using Arguments = std::vector<Tensor>;
using Function = Arguments (*)(const Arguments& x);

class CudaEpilogue : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
    sources().clear();
    CudaPlan::watch_sources([](const std::string& source) { sources().push_back(source); });
  }
  void TearDown() override {
    CudaPlan::watch_sources(nullptr);
    set_warning_handler(nullptr);
    set_passes_off({});
    plan_cache().clear();
  }

  static Bits bits_of(Function f, const Arguments& x) {
    plan_cache().clear();
    const Arguments made = f(x);
    evaluate();
    const auto plan = last_plan();
    Bits bits;
    for (const Tensor& one : made) add_bits(bits, one.to("cpu"));
    set_last_plan(plan);
    return bits;
  }

  // The bits of the ops one by one on the CPU; on the device without epilogues, in `apart` launches, and with them, in
  // `together`.
  static void expect_launches(Function f, const Arguments& x, size_t apart, size_t together) {
    Arguments there;
    for (const Tensor& argument : x) there.push_back(argument.to(*gpus()[0]));
    set_passes_off({"fuse_rows", "fuse_prologues", "fuse_pointwise", "fuse_epilogues", "fuse_samples"});
    const Bits wanted = bits_of(f, x);
    set_passes_off({"fuse_epilogues", "fuse_line_kernels"});
    EXPECT_EQ(bits_of(f, there), wanted) << "chains apart";
    EXPECT_EQ(last_plan()->kernel_calls(), apart) << last_plan()->text();
    set_passes_off({});
    EXPECT_EQ(bits_of(f, there), wanted) << "chains as epilogues";
    EXPECT_EQ(last_plan()->kernel_calls(), together) << last_plan()->text();
  }
};

// The sizes of the four tiles; columns in fours and not.
TEST_F(CudaEpilogue, MatrixProductWithBiasAndActivation) {
  for (const auto& [rows, columns] : {std::pair{5, 7}, {70, 66}, {150, 24}, {40, 33}}) {
    const Arguments x{numbers({rows, 19}, "x"), numbers({19, columns}, "w"), numbers({columns}, "b")};
    expect_launches([](const Arguments& a) { return Arguments{relu(matmul(a[0], a[1]) + a[2])}; }, x, 2, 1);
  }
  const Arguments large{numbers({1300, 8}, "x"), numbers({8, 1400}, "w"), numbers({1400}, "b")};
  expect_launches([](const Arguments& a) { return Arguments{relu(matmul(a[0], a[1]) + a[2])}; }, large, 2, 1);
  EXPECT_NE(last_plan()->kernel_call_name(0).find("matmul"), std::string::npos);
}

TEST_F(CudaEpilogue, StacksOfProducts) {
  const Arguments x{numbers({3, 9, 8}, "x"), numbers({3, 8, 12}, "w"), numbers({3, 1, 12}, "b")};
  expect_launches([](const Arguments& a) { return Arguments{matmul(a[0], a[1]) * 0.5f - a[2]}; }, x, 2, 1);
}

// A mask of bytes, a second result, and the raw product, of which a sum is taken where it is stored.
TEST_F(CudaEpilogue, SeveralResults) {
  const Arguments x{numbers({33, 10}, "x"), numbers({10, 20}, "w"), numbers({33, 20}, "m")};
  const auto f = [](const Arguments& a) {
    const Tensor raw = matmul(a[0], a[1]), shifted = raw + a[2];
    const Tensor positive = shifted > Tensor::scalar(0.0f);
    return Arguments{cast(positive, DType::f32), where(positive, shifted, a[2] * 0.5f), sum(raw, 0)};
  };
  expect_launches(f, x, 2, 1);
  EXPECT_NE(last_plan()->text().find("matmul(%0, %1, %2"), std::string::npos) << last_plan()->text();
}

// A sum over positions is taken of each tile that a block has stored; last blocks combine them, in groups of 64 tiles.
TEST_F(CudaEpilogue, SumsOfProducts) {
  const auto f = [](const Arguments& a) {
    const Tensor y = relu(matmul(a[0], a[1]) - a[2]);
    return Arguments{y, sum(y, 0)};
  };
  for (const auto& [rows, columns] : {std::pair{1, 1}, {5, 7}, {33, 20}, {70, 66}, {150, 24}, {2100, 3}, {9000, 5}}) {
    const Arguments x{numbers({rows, 3}, "x"), numbers({3, columns}, "w"), numbers({columns}, "b")};
    expect_launches(f, x, columns < 8 ? 3 : 2, 1);  // a chain takes no sums of few channels
  }
  const Arguments large{with_special(numbers({1300, 8}, "x"), 4001), numbers({8, 1400}, "w"), numbers({1400}, "b")};
  expect_launches(f, large, 2, 1);
}

TEST_F(CudaEpilogue, SumsWithoutAChain) {
  const Arguments x{numbers({40, 3}, "x"), numbers({3, 9}, "w")};
  const auto f = [](const Arguments& a) {
    const Tensor y = matmul(a[0], a[1]);
    return Arguments{y, sum(y, 0)};
  };
  expect_launches(f, x, 1, 1);
}

// A tile of a stack or of a phase is no neighbouring rows; a sum over one of two axes keeps more than columns.
TEST_F(CudaEpilogue, SumsThatTilesDoNotTake) {
  const Arguments stack{numbers({3, 9, 8}, "x"), numbers({3, 8, 12}, "w"), numbers({3, 1, 12}, "b")};
  const auto products = [](const Arguments& a) {
    const Tensor y = relu(matmul(a[0], a[1]) - a[2]);
    return Arguments{y, sum(y, Shape{0, 1}), sum(y, 1)};
  };
  expect_launches(products, stack, 3, 3);
  const Arguments images{numbers({2, 7, 6, 8}, "x", "BSSC"), numbers({3, 3, 6, 8}, "w")};
  const auto phases = [](const Arguments& a) {
    const Tensor y = transposed_conv2d(a[0], a[1], {.stride = 2});
    return Arguments{y, sum(y, Shape{0, 1, 2})};
  };
  expect_launches(phases, images, 2, 2);
}

TEST_F(CudaEpilogue, SumsOfConvolutions) {
  const auto f = [](const Arguments& a) {
    const Tensor y = relu(conv2d(a[0], a[1], a[2], {.padding = same}));
    return Arguments{y, sum(y, Shape{0, 1, 2})};
  };
  for (const auto& [batch, size, in, out] : {std::array{2, 40, 2, 64},
                                             {4, 40, 3, 32},
                                             {4, 32, 4, 16},
                                             {4, 30, 4, 16},
                                             {9, 44, 1, 8},
                                             {9, 41, 1, 8},
                                             {1, 4, 3, 32},
                                             {1, 5, 3, 32},
                                             {2, 8, 2, 5},
                                             {2, 9, 2, 5},
                                             {2, 40, 1, 200}}) {
    const Arguments x{numbers({batch, size, size, in}, "x", "BSSC"), with_special(numbers({3, 3, in, out}, "w"), 37),
                      numbers({out}, "b")};
    // Windows over rows of no multiple of four pixels do not store neighbours of the sum.
    expect_launches(f, x, out < 8 ? 3 : 2, size % 4 == 0 ? 1 : 2);
  }
}

// No multiply-add of the chain is fused: the product is rounded before the sum.
TEST_F(CudaEpilogue, MultipliesAndAddsApart) {
  const Arguments x{numbers({64, 64}, "x"), numbers({64, 64}, "w"), numbers({64}, "s"), numbers({64}, "t")};
  expect_launches([](const Arguments& a) { return Arguments{matmul(a[0], a[1]) * a[2] + a[3]}; }, x, 2, 1);
}

// The sums of a batch norm go with the chain.
TEST_F(CudaEpilogue, NotWhereTheChainTakesSeveralSums) {
  const Arguments x{numbers({64, 9}, "x"), numbers({9, 16}, "w"), numbers({16}, "b")};
  const auto f = [](const Arguments& a) {
    const Tensor y = relu(matmul(a[0], a[1]) + a[2]);
    return Arguments{y, sum(y, 0), sum(y * a[2], 0)};
  };
  expect_launches(f, x, 2, 2);
}

// Runs of a deep product are combined afterwards: the chain is apart.
TEST_F(CudaEpilogue, NotWhereRunsAreCombined) {
  const Arguments x{numbers({4, 4096}, "x"), numbers({4096, 4}, "w")};
  expect_launches([](const Arguments& a) { return Arguments{relu(matmul(a[0], a[1]))}; }, x, 2, 2);
}

TEST_F(CudaEpilogue, ConvolutionsOfAllTiles) {
  // Batch, size, channels, filters: tiles of 64, 32, 16 and 8 channels, of few pixels, and channels that are no fours.
  for (const auto& [batch, size, in, out] :
       {std::array{2, 40, 2, 64}, {4, 40, 3, 32}, {4, 30, 4, 16}, {4, 40, 1, 8}, {1, 5, 3, 32}, {2, 9, 2, 5}}) {
    const Arguments x{numbers({batch, size, size, in}, "x", "BSSC"), numbers({3, 3, in, out}, "w"),
                      numbers({out}, "b")};
    const auto f = [](const Arguments& a) { return Arguments{relu(conv2d(a[0], a[1], a[2], {.padding = same}))}; };
    expect_launches(f, x, 2, 1);
  }
}

// Terms outside of the image, of weights that are not finite: those pixels are made again.
TEST_F(CudaEpilogue, WeightsThatAreNotFinite) {
  const Arguments x{numbers({2, 9, 9, 3}, "x", "BSSC"), with_special(numbers({3, 3, 3, 8}, "w"), 37),
                    with_special(numbers({2, 9, 9, 8}, "b"), 41)};
  const auto f = [](const Arguments& a) { return Arguments{conv2d(a[0], a[1], {.padding = same}) + a[2]}; };
  expect_launches(f, x, 2, 1);
}

TEST_F(CudaEpilogue, TransposedConvolutionWithStride) {
  const Arguments x{numbers({2, 7, 6, 8}, "x", "BSSC"), numbers({3, 3, 6, 8}, "w"), numbers({6}, "b")};
  const auto f = [](const Arguments& a) { return Arguments{relu(transposed_conv2d(a[0], a[1], a[2], {.stride = 2}))}; };
  expect_launches(f, x, 2, 1);
}

// The gradient of a hidden layer goes through the mask of its relu where it is made.
TEST_F(CudaEpilogue, GradientsThroughMasks) {
  const Tree p{{"a", numbers({3, 3, 2, 8}, "a")}, {"b", numbers({3, 3, 8, 4}, "b")}};
  const Tensor x = numbers({2, 8, 8, 2}, "x", "BSSC");
  const auto loss = [](const Tree& q, const Tensor& image) {
    const Tensor hidden = relu(conv2d(image, q["a"].tensor(), {.padding = same}));
    return mean(square(conv2d(hidden, q["b"].tensor(), {.padding = same})));
  };
  const auto run = [&](Device& device) {
    plan_cache().clear();
    const auto [value, gradients] = value_and_grad(loss)(p.to(device), x.to(device));
    evaluate();
    const size_t calls = last_plan()->kernel_calls();
    Bits bits;
    add_bits(bits, value.to("cpu"));
    for (const auto& [name, tensor] : leaves(gradients)) add_bits(bits, tensor.to("cpu"));
    return std::pair{bits, calls};
  };
  const Bits wanted = run(cpu_device()).first;
  set_passes_off({"fuse_epilogues"});
  const auto apart = run(*gpus()[0]);
  set_passes_off({});
  const auto together = run(*gpus()[0]);
  EXPECT_EQ(apart.first, wanted);
  EXPECT_EQ(together.first, wanted);
  EXPECT_LT(together.second, apart.second);
}

// The gradient of a bias behind which pixels are pooled: its sum makes the elements of the image's gradient itself, and
// writes them where they are wanted.
TEST_F(CudaEpilogue, SumsOfUnpooledGradients) {
  struct Case {
    int size, channels, pool, stride;
    bool writes;
    size_t apart, together;
  };
  for (const Case& one : {Case{8, 16, 2, 2, true, 2, 1},
                          {9, 8, 2, 3, false, 2, 1},
                          {11, 8, 3, 2, true, 2, 1},
                          {40, 9, 17, 17, true, 2, 1},
                          {8, 5, 2, 2, true, 2, 2}}) {
    const Tensor x = numbers({2, one.size, one.size, one.channels}, "x", "BSSC"), b = numbers({one.channels}, "b");
    const auto loss = [&one](const Tree& p) {
      return sum(max_pool2d(p["x"].tensor() + p["b"].tensor(), one.pool, {.stride = one.stride}));
    };
    const auto run = [&](Device& device) {
      plan_cache().clear();
      const auto [value, gradients] = value_and_grad(loss)(Tree{{"x", x.to(device)}, {"b", b.to(device)}});
      std::vector<Tensor> wanted{gradients["b"].tensor()};
      if (one.writes) wanted.push_back(gradients["x"].tensor());
      evaluate();
      const size_t calls = last_plan()->kernel_calls();
      Bits bits;
      for (const Tensor& tensor : wanted) add_bits(bits, tensor.to("cpu"));
      return std::pair{bits, calls};
    };
    const Bits wanted = run(cpu_device()).first;
    set_passes_off({"fuse_reductions"});
    const auto apart = run(*gpus()[0]);
    set_passes_off({});
    const auto together = run(*gpus()[0]);
    EXPECT_EQ(apart.first, wanted);
    EXPECT_EQ(together.first, wanted);
    EXPECT_EQ(apart.second - together.second, one.apart - one.together) << last_plan()->text();
  }
}

// The plan is made with the chains apart, to the same bits.
TEST_F(CudaEpilogue, AKernelThatDoesNotCompileIsLeftOut) {
  const Arguments x{numbers({5, 6}, "x"), numbers({6, 7}, "w"), numbers({7}, "b")};
  const Function f = [](const Arguments& a) { return Arguments{relu(matmul(a[0], a[1]) + a[2])}; };
  const Bits wanted = bits_of(f, x);
  Arguments there;
  for (const Tensor& argument : x) there.push_back(argument.to(*gpus()[0]));
  CudaPlan::watch_sources([](const std::string& source) {
    if (source.find("_epilogue") != std::string::npos) throw Error(ErrorKind::internal, 993, "does not compile");
  });
  warnings() = 0;
  set_warning_handler([](const std::string&) { ++warnings(); });
  EXPECT_EQ(bits_of(f, there), wanted);
  EXPECT_EQ(last_plan()->kernel_calls(), 2u);
  EXPECT_EQ(warnings(), 1);
}

// A kernel is compiled for its chain alone: other plans with the same chain have the same source.
TEST_F(CudaEpilogue, PlansShareSources) {
  const Function f = [](const Arguments& a) { return Arguments{relu(matmul(a[0], a[1]) + a[2])}; };
  for (const int rows : {5, 6}) {
    Arguments x{numbers({rows, 6}, "x"), numbers({6, 7}, "w"), numbers({7}, "b")};
    for (Tensor& argument : x) argument = argument.to(*gpus()[0]);
    bits_of(f, x);
  }
  ASSERT_EQ(sources().size(), 2u);
  EXPECT_EQ(sources()[0], sources()[1]);
}

}  // namespace
}  // namespace retrace
