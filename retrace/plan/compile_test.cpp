// A memory limit: the arena of a training step stays under it, the bits stay what they are.
#include "retrace/plan/compile.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"
#include "retrace/retrace.h"
#include "retrace/run/plan_cache.h"

namespace retrace {
namespace {

Tensor scaled_numbers(const Shape& shape, float scale) {
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = (static_cast<float>((i * i + i / 7) % 201) / 100 - 1) * scale;
  return Tensor::from(values, shape);
}

// Blocks of convolution, normalisation and relu, pooling after the fourth.
class MemoryLimit : public testing::Test {
 protected:
  void SetUp() override { plan_cache().clear(); }
  void TearDown() override { set_memory_limit(0); }

  Tree step() const {
    const auto loss = [this](const Tree& p) {
      Tensor x = images_;
      for (int i = 0; i < kBlocks; ++i) {
        const Tree& block = p[std::to_string(i)];
        x = relu(batch_norm(conv2d(x, block["weights"], {.padding = 1}), block["scale"], block["offset"]).y);
        if (i == 3) x = max_pool2d(x, 2, {.stride = 2});
      }
      return mean(square(x));
    };
    const auto [value, gradients] = value_and_grad(loss)(parameters_);
    return Tree{{"value", value}, {"gradients", gradients}};
  }
  // Fingerprint and arena of a step within a limit.
  std::pair<std::string, size_t> run(size_t limit) const {
    set_memory_limit(limit);
    plan_cache().clear();
    const Tree results = step();
    return {fingerprint(results), last_plan()->arena_bytes()};
  }

  static constexpr int kBlocks = 8;
  const Tensor images_ = scaled_numbers({8, 32, 32, 8}, 1);
  const Tree parameters_ = [] {
    Tree all;
    for (int i = 0; i < kBlocks; ++i)
      all[std::to_string(i)] = Tree{{"weights", scaled_numbers({3, 3, 8, 8}, 0.2f)},
                                    {"scale", scaled_numbers({8}, 0.5f)},
                                    {"offset", scaled_numbers({8}, 0.1f)}};
    return all;
  }();
};

TEST_F(MemoryLimit, IsMetWithTheSameBits) {
  const auto [expected, whole] = run(0);
  for (const double share : {0.9, 0.75, 0.6}) {
    const auto limit = static_cast<size_t>(share * static_cast<double>(whole));
    const auto [bits, arena] = run(limit);
    EXPECT_LE(arena, limit) << share;
    EXPECT_EQ(bits, expected) << share;
  }
  EXPECT_NE(last_plan()->summary().find(", memory limit "), std::string::npos);
}

TEST_F(MemoryLimit, ThatCannotBeMetSaysHowCloseItCame) {
  const size_t whole = run(0).second;
  const auto text = error_text([&] { run(4096); });
  EXPECT_TRUE(text.starts_with("error[RT0231]: the memory limit of 4.0 KiB cannot be met\n")) << text;
  EXPECT_NE(
      text.find(fmt::format("{:.1f} MiB for the intermediates of a step; ", static_cast<double>(whole) / 1048576)),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("raise RETRACE_MEMORY_LIMIT, or make the mini-batch smaller"), std::string::npos) << text;
  double least = 0;
  char unit = 0;
  ASSERT_EQ(std::sscanf(text.c_str() + text.find("of a step; "), "of a step; %lf %ciB", &least, &unit), 2) << text;
  EXPECT_LT(run(static_cast<size_t>((least + 0.05) * (unit == 'M' ? 1048576 : 1024))).second, whole);  // it can be met
}

}  // namespace
}  // namespace retrace
