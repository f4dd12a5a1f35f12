// The convolutions on a CUDA device, real or emulated, beside those of the CPU, to the bit.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "retrace/base/sanitizers.h"
#include "retrace/device/device.h"
#include "retrace/ops/conv2d/conv2d.h"
#include "retrace/ops/conv2d/conv2d_gradients.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/testing/op_case_run.h"
#include "retrace/run/plan_cache.h"

namespace retrace {
namespace {

struct Image {
  int64_t batch, height, width, channels, filters;
};

Tensor numbers(const Shape& shape, uint32_t seed, bool special) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  static constexpr float kSpecial[] = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 1e-42f, 3e38f};
  std::vector<float> out(static_cast<size_t>(shape.count()));
  uint32_t state = seed * 2654435761u + 12345u;
  for (float& value : out) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int32_t>(state >> 8) - (1 << 23)) * 0x1p-22f;
    if (state >> 28 == 0) value = -0.0f;
    if (special && (state >> 12) % 61 == 0) value = kSpecial[(state >> 20) % 5];
  }
  return Tensor::from<float>(out, shape);
}

void check_with(const Image& image, const Shape& kernel, const Conv2dGeometry& geometry, bool special_image,
                bool special_weights) {
  Device& cuda = *gpus()[0];
  const auto extent = [&](int64_t size, size_t axis) {
    const int64_t pads = geometry.padding[2 * axis] + geometry.padding[2 * axis + 1];
    return (size + pads - (kernel[axis] - 1) * geometry.dilation[axis] - 1) / geometry.stride[axis] + 1;
  };
  const Tensor x = numbers({image.batch, image.height, image.width, image.channels}, 1, special_image);
  const Tensor w = numbers({kernel[0], kernel[1], image.channels / geometry.groups, image.filters}, 2, special_weights);
  const Shape result{image.batch, extent(image.height, 0), extent(image.width, 1), image.filters};
  const Tensor dy = numbers(result, 3, special_image), dz = numbers(result, 4, special_weights);
  const Conv2dOptions options{
      .stride = {geometry.stride[0], geometry.stride[1]},
      .padding = {geometry.padding[0], geometry.padding[1], geometry.padding[2], geometry.padding[3]},
      .dilation = {geometry.dilation[0], geometry.dilation[1]},
      .groups = static_cast<int>(geometry.groups)};
  const Shape size{image.height, image.width};
  EXPECT_EQ(bit_difference(conv2d(x, w, options), conv2d(x.to(cuda), w.to(cuda), options)), "") << "convolution";
  EXPECT_EQ(bit_difference(conv2d_input_gradient(dy, w, geometry, size),
                           conv2d_input_gradient(dy.to(cuda), w.to(cuda), geometry, size)),
            "")
      << "input gradient";
  EXPECT_EQ(bit_difference(conv2d_filter_gradient(x, dz, geometry, kernel),
                           conv2d_filter_gradient(x.to(cuda), dz.to(cuda), geometry, kernel)),
            "")
      << "filter gradient";
}

void check(const Image& image, const Shape& kernel, const Conv2dGeometry& geometry = {}) {
  SCOPED_TRACE(fmt::format("[{},{},{},{}] to {}, {} x {}", image.batch, image.height, image.width, image.channels,
                           image.filters, kernel[0], kernel[1]));
  check_with(image, kernel, geometry, false, false);
  check_with(image, kernel, geometry, true, false);
  check_with(image, kernel, geometry, false, true);
}

class Conv2dCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  }
};

TEST_F(Conv2dCuda, wide_and_narrow_copies) {
  for (int64_t channels : {4, 5})
    for (int64_t filters : {3, 12, 33}) check({2, 6, 7, channels, filters}, {3, 3}, {.padding = {1, 1, 1, 1}});
  check({1, 5, 5, 12, 8}, {2, 7}, {.padding = {1, 0, 3, 3}});
}

// Blocks end within a stage: 85 rows of three.
TEST_F(Conv2dCuda, several_blocks) {
  check({1, 3, 4, 60, 20}, {3, 3}, {.padding = {1, 1, 1, 1}});
  check({1, 3, 3, 20, 60}, {3, 3}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}});
  check({1, 2, 3, 130, 4}, {1, 2}, {.padding = {0, 0, 1, 0}});
  check({1, 1, 300, 1, 2}, {1, 270}, {.padding = {0, 0, 40, 3}});
}

TEST_F(Conv2dCuda, strides_dilation_groups) {
  check({2, 9, 10, 8, 5}, {3, 3}, {.stride = {2, 3}, .padding = {1, 1, 1, 1}});
  check({1, 8, 11, 3, 8}, {2, 3}, {.stride = {3, 2}, .padding = {2, 0, 1, 3}, .dilation = {2, 3}});
  check({1, 7, 8, 4, 4}, {3, 2}, {.stride = {4, 2}, .padding = {1, 1, 0, 1}, .dilation = {2, 2}});
  check({2, 5, 5, 8, 16}, {1, 1}, {.stride = {2, 2}});
  check({1, 6, 7, 8, 12}, {3, 3}, {.padding = {1, 1, 1, 1}, .groups = 2});
  check({1, 5, 6, 6, 6}, {3, 3}, {.stride = {2, 1}, .padding = {1, 1, 1, 1}, .groups = 6});
}

// 1 x 1 and 5 x 5, one channel and three, channels that are no multiple of four, images smaller than the kernel.
TEST_F(Conv2dCuda, kernels_and_channels) {
  for (int64_t channels : {1, 3, 6, 16}) {
    check({2, 5, 6, channels, 20}, {1, 1});
    check({2, 7, 6, channels, 9}, {5, 5}, {.padding = {2, 2, 2, 2}});
    check({3, 2, 1, channels, 36}, {3, 3}, {.padding = {1, 1, 1, 1}});
  }
  check({1, 6, 6, 10, 34}, {5, 5}, {.stride = {2, 2}, .padding = {2, 2, 2, 2}});
  check({2, 7, 7, 5, 40}, {1, 1}, {.stride = {3, 2}, .padding = {1, 0, 0, 2}});
}

// Pixels enough to fill a large device: all tiles, by the filters.
TEST_F(Conv2dCuda, large_tiles) {
  check_with({1, 160, 160, 1, 64}, {3, 3}, {.padding = {1, 1, 1, 1}}, false, false);  // 64 x 64
  check_with({1, 226, 226, 1, 31}, {2, 2}, {.padding = {1, 1, 1, 1}}, false, true);   // 128 x 32
  check_with({2, 115, 117, 3, 16}, {2, 1}, {.padding = {1, 0, 0, 0}}, false, false);  // 128 x 16
  check_with({1, 261, 261, 3, 7}, {1, 2}, {.padding = {0, 0, 0, 1}}, true, false);    // 128 x 8
  if (!RT_SANITIZED)                                                                  // the templates of smaller cases
    check_with({2, 85, 85, 2, 30}, {2, 2}, {.padding = {1, 0, 0, 1}}, true, false);   // 32 x 32
}

// The same of kernels with windows: rows of 8 pixels and of no multiple of four, tiles that end within a row, one
// channel.
TEST_F(Conv2dCuda, large_tiles_of_windows) {
  check_with({1, 256, 247, 1, 64}, {3, 3}, {.padding = {1, 1, 1, 1}}, false, false);  // 128 x 64
  check_with({3, 207, 202, 1, 30}, {3, 3}, {.padding = {1, 1, 1, 1}}, true, false);   // 256 x 32
  check_with({300, 8, 8, 3, 64}, {3, 3}, {.padding = {1, 1, 1, 1}}, false, true);     // 64 x 64
  check_with({1, 222, 226, 2, 30}, {3, 3}, {.padding = {1, 1, 0, 2}}, true, false);   // 128 x 32
  check_with({3, 115, 117, 1, 16}, {3, 3}, {.padding = {2, 0, 2, 2}}, false, false);  // 128 x 16
  check_with({1, 181, 181, 3, 7}, {2, 3}, {.padding = {0, 0, 0, 1}}, true, false);    // 128 x 8
  if (!RT_SANITIZED)                                                                  // the templates of smaller cases
    check_with({2, 85, 85, 2, 30}, {3, 3}, {.padding = {1, 1, 1, 1}}, false, false);  // 32 x 32
  check_with({9, 50, 50, 2, 8}, {3, 3}, {.stride = {2, 1}, .groups = 2}, false, false);
  check_with({300, 8, 8, 4, 64}, {3, 3}, {.padding = {1, 1, 1, 1}}, true, false);
  check_with({5, 20, 23, 176, 16}, {3, 3}, {.padding = {1, 1, 0, 2}, .groups = 2}, false, true);
}

// The input gradient in a tile of 128 x 64, with more lines than a stage has.
TEST_F(Conv2dCuda, large_tiles_of_input_gradients) {
  const Conv2dGeometry geometry{.padding = {1, 1, 1, 1}};
  const Tensor dy = numbers({970, 8, 8, 4}, 3, false), w = numbers({3, 3, 64, 4}, 2, false);
  Device& cuda = *gpus()[0];
  EXPECT_EQ(bit_difference(conv2d_input_gradient(dy, w, geometry, {8, 8}),
                           conv2d_input_gradient(dy.to(cuda), w.to(cuda), geometry, {8, 8})),
            "");
}

// Positions enough for the filter gradient's large tiles, by the filters, with slices that have none.
TEST_F(Conv2dCuda, large_tiles_of_the_filter_gradient) {
  check_with({5, 117, 120, 12, 33}, {3, 1}, {.padding = {1, 1, 0, 0}}, false, false);  // 96 x 64
  check_with({8, 130, 132, 11, 20}, {2, 2}, {.padding = {1, 0, 1, 0}}, true, false);   // 96 x 32
  if (!RT_SANITIZED)                                                                   // the templates of smaller cases
    check_with({5, 119, 120, 3, 9}, {3, 3}, {}, false, false);                         // 32 x 16
}

// Of few positions: a block of threads for each block of them, with one channel and with four, and with the last block
// short.
TEST_F(Conv2dCuda, the_filter_gradient_of_few_positions) {
  check_with({9, 30, 31, 1, 16}, {5, 5}, {.padding = {2, 2, 2, 2}}, false, false);
  check_with({9, 30, 31, 4, 12}, {3, 3}, {.padding = {1, 1, 1, 1}}, true, false);
  check_with({3, 9, 10, 4, 13}, {3, 4}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}, false, true);
}

// The filter gradient over more blocks of positions than fit into one run of blocks, with a last one that is short.
TEST_F(Conv2dCuda, runs_of_blocks) {
  check_with({10, 17, 13, 3, 2}, {3, 3}, {.padding = {1, 1, 1, 1}}, false, false);
  check_with({5, 16, 16, 200, 200}, {1, 1}, {.groups = 200}, false, false);
}

// Blocks that come last combine the runs of their tile: in one level, in groups of 16, in three levels of groups of 8,
// with sums that are read in fours and one by one; or a kernel does, where there are more tiles than counters.
TEST_F(Conv2dCuda, runs_are_combined_by_their_tiles) {
  const auto launches = [](const Image& image, const Shape& kernel, int64_t groups = 1) {
    const Tensor x = numbers({image.batch, image.height, image.width, image.channels}, 1, false);
    const Tensor dz =
        numbers({image.batch, image.height - kernel[0] + 1, image.width - kernel[1] + 1, image.filters}, 2, false);
    const Tensor expected = conv2d_filter_gradient(x, dz, {.groups = groups}, kernel);
    const Tensor x_there = x.to(*gpus()[0]), dz_there = dz.to(*gpus()[0]);
    size_t calls = 0;
    for (int run = 0; run < 2; ++run) {  // the second finds the counters as the first has left them
      const Tensor made = conv2d_filter_gradient(x_there, dz_there, {.groups = groups}, kernel);
      evaluate();
      calls = last_plan()->kernel_calls();
      EXPECT_EQ(bit_difference(expected, made), "") << image.batch << " images, " << image.filters << " filters";
    }
    return calls;
  };
  EXPECT_EQ(launches({3, 18, 16, 11, 32}, {3, 1}), 1u);
  EXPECT_EQ(launches({40, 18, 16, 11, 10}, {3, 1}), 1u);
  EXPECT_EQ(launches({70, 18, 16, 11, 32}, {3, 1}), 1u);
  EXPECT_EQ(launches({70, 18, 16, 11, 31}, {3, 1}), 1u);
  EXPECT_EQ(launches({9, 16, 16, 300, 300}, {1, 1}, 300), 2u);
}

TEST_F(Conv2dCuda, has_no_kernel_for_f64) {
  const Tensor x = Tensor::zeros({1, 4, 4, 2}, DType::f64), w = Tensor::zeros({3, 3, 2, 1}, DType::f64);
  Device& cuda = *gpus()[0];
  const std::string text = error_text([&] { conv2d(x.to(cuda), w.to(cuda)).to_vector<double>(); });
  EXPECT_EQ(text.substr(0, text.find('\n')), "error[RT0620]: conv2d has no CUDA kernel for f64");
}

TEST_F(Conv2dCuda, any_geometry) {
  uint32_t state = 7;
  const auto draw = [&](uint32_t low, uint32_t high) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int64_t>(low + (state >> 8) % (high - low + 1));
  };
  for (int i = 0; i < 60; ++i) {
    const int64_t groups = draw(1, 3), batch = draw(1, 3), height = draw(4, 9), width = draw(4, 12);
    const int64_t channels = groups * draw(1, 9), filters = groups * draw(1, 20), rows = draw(1, 4),
                  columns = draw(1, 4);
    Conv2dGeometry geometry{.groups = groups};
    for (size_t axis = 0; axis < 2; ++axis) geometry.stride[axis] = draw(1, 4), geometry.dilation[axis] = draw(1, 3);
    for (size_t side = 0; side < 4; ++side) geometry.padding[side] = draw(3, 6);
    check({batch, height, width, channels, filters}, {rows, columns}, geometry);
  }
}

}  // namespace
}  // namespace retrace
