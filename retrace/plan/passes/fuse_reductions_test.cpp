// Sums over positions and moments that the kernel of their array takes along (fuse_reductions): the bits are those of
// kernels of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "retrace/device/cpu/threads.h"
#include "retrace/plan/compile.h"
#include "retrace/retrace.h"
#include "retrace/run/plan_cache.h"

namespace retrace {
namespace {

Tensor fuse_numbers(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * i + i / 7) % 201) / 50 - 1.7f;
  return Tensor::from(values, shape);
}

class FuseReductions : public testing::Test {
 protected:
  void SetUp() override {
    set_plan_cache_enabled(false);
    PlanOptions options;
    options.tuning.reduced_elements = 16384;
    set_plan_options(options);
  }
  void TearDown() override {
    set_plan_options({});
    set_thread_count(threads_);
    set_plan_cache_enabled(true);
  }

  // `f` gives the same bits with the pass on and off, on any number of threads; with it no sum is a kernel of its own.
  static void expect_fused(const std::function<Tree()>& f) {
    const auto run = [&](const std::vector<std::string>& off, int threads) {
      set_passes_off(off);
      set_thread_count(threads);
      const Tree results = f();
      evaluate();
      return fingerprint(results);
    };
    const auto expected = run({"fuse_reductions"}, 1);
    EXPECT_GT(sums(), 0);
    EXPECT_EQ(run({}, 1), expected);
    EXPECT_EQ(sums(), 0) << last_plan()->why();
    EXPECT_EQ(run({}, 3), expected);
  }
  // Kernels that do nothing but reduce, to more than one number.
  static int sums() {
    int count = 0;
    for (size_t call = 0; call < last_plan()->kernel_calls(); ++call) {
      const std::string name = last_plan()->kernel_call_name(call);
      count += (name.starts_with("sum ") || name.starts_with("moments ")) && !name.ends_with("f32[]");
    }
    return count;
  }

  const int threads_ = thread_count();
};

const Shape kPositions{0, 1, 2};

TEST_F(FuseReductions, OfConvolutions) {
  for (const Shape& image : {Shape{3, 32, 32, 4}, Shape{9, 14, 14, 4}, Shape{40, 7, 5, 4}, Shape{1, 97, 31, 4}})
    for (const int64_t filters : {8, 24, 48}) {
      SCOPED_TRACE(fmt::format("{} {}", image.text(), filters));
      const Tensor x = fuse_numbers(image), w = fuse_numbers({3, 3, 4, filters}), bias = fuse_numbers({filters});
      if (image.count() / 4 * filters < 16384) continue;
      expect_fused([&] {
        const Tensor y = conv2d(x, w, bias, {.padding = 1});
        const auto [mean, m2] = moments(y, kPositions);
        const Tensor z = y * mean;
        return Tree{{"y", y}, {"mean", mean}, {"m2", m2}, {"z", z}, {"sum", sum(z, kPositions)}};
      });
    }
}

TEST_F(FuseReductions, OfBatchNormsGradient) {
  const Tensor x = fuse_numbers({6, 18, 18, 8}), w = fuse_numbers({3, 3, 8, 16}), v = fuse_numbers({3, 3, 16, 16}),
               scale = fuse_numbers({16}), offset = fuse_numbers({16});
  expect_fused([&] {
    const auto network = [&](const Tree& p) {
      const Tensor y = conv2d(x, p["w"], {.padding = 1});
      const Tensor a = relu(batch_norm(y, p["scale"], p["offset"]).y);
      return mean(square(conv2d(a, p["v"], {.padding = 1})));
    };
    const auto [loss, gradients] =
        value_and_grad(network)(Tree{{"w", w}, {"v", v}, {"scale", scale}, {"offset", offset}});
    return Tree{{"gradients", gradients}};
  });
}

}  // namespace
}  // namespace retrace
