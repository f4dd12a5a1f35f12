#include "retrace/ops/conv2d/conv2d_kernel.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "retrace/device/cpu/dispatch.h"
#include "retrace/device/cpu/threads.h"
#include "tests/tested_targets.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;

// The law, literally: terms by their index in the full range, blocks, tree, + 0.
class Sum {
 public:
  explicit Sum(int64_t block) : block_(block) {}
  void term(int64_t k, float a, float b) {
    const auto at = static_cast<size_t>(k / block_);
    if (blocks_.size() <= at) blocks_.resize(at + 1, 0.0f);
    blocks_[at] = std::fma(a, b, blocks_[at]);
  }
  float value(int64_t terms) {
    blocks_.resize(static_cast<size_t>((terms + block_ - 1) / block_), 0.0f);
    return blocks_.empty() ? 0.0f : tree(0, blocks_.size()) + 0.0f;
  }

 private:
  float tree(size_t begin, size_t end) const {
    if (end - begin == 1) return blocks_[begin];
    const size_t middle = begin + std::bit_floor(end - begin - 1);
    return tree(begin, middle) + tree(middle, end);
  }
  int64_t block_;
  Floats blocks_;
};

int64_t block_of(int64_t kernel_width) { return kernel_width > 256 ? kernel_width : 256 / kernel_width * kernel_width; }

// Calls body(iy, ix) if the tap lies inside the image.
template <class Body>
void at_tap(const Conv2dShape& s, int64_t oy, int64_t ox, int64_t ky, int64_t kx, Body body) {
  const int64_t iy = oy * s.stride_y + ky * s.dilation_y - s.pad_top;
  const int64_t ix = ox * s.stride_x + kx * s.dilation_x - s.pad_left;
  if (iy >= 0 && iy < s.in_height && ix >= 0 && ix < s.in_width) body(iy, ix);
}

size_t x_at(const Conv2dShape& s, int64_t n, int64_t y, int64_t x, int64_t c) {
  return static_cast<size_t>(((n * s.in_height + y) * s.in_width + x) * s.in_channels + c);
}
size_t y_at(const Conv2dShape& s, int64_t n, int64_t y, int64_t x, int64_t c) {
  return static_cast<size_t>(((n * s.out_height + y) * s.out_width + x) * s.out_channels + c);
}
size_t w_at(const Conv2dShape& s, int64_t y, int64_t x, int64_t c, int64_t o) {
  return static_cast<size_t>(((y * s.kernel_width + x) * (s.in_channels / s.groups) + c) * s.out_channels + o);
}

Floats reference_forward(const Conv2dShape& s, const Floats& x, const Floats& w) {
  const int64_t in = s.in_channels / s.groups, out = s.out_channels / s.groups;
  Floats y(static_cast<size_t>(s.batch * s.out_height * s.out_width * s.out_channels));
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oy = 0; oy < s.out_height; ++oy)
      for (int64_t ox = 0; ox < s.out_width; ++ox)
        for (int64_t o = 0; o < s.out_channels; ++o) {
          Sum sum(block_of(s.kernel_width));
          int64_t k = 0;
          for (int64_t ky = 0; ky < s.kernel_height; ++ky)
            for (int64_t c = 0; c < in; ++c)
              for (int64_t kx = 0; kx < s.kernel_width; ++kx, ++k)
                at_tap(s, oy, ox, ky, kx, [&](int64_t iy, int64_t ix) {
                  sum.term(k, x[x_at(s, n, iy, ix, o / out * in + c)], w[w_at(s, ky, kx, c, o)]);
                });
          y[y_at(s, n, oy, ox, o)] = sum.value(k);
        }
  return y;
}

Floats reference_input_gradient(const Conv2dShape& s, const Floats& dy, const Floats& w) {
  const int64_t in = s.in_channels / s.groups, out = s.out_channels / s.groups;
  const int64_t depth = s.kernel_height * out * s.kernel_width;
  std::vector<Sum> sums(static_cast<size_t>(s.batch * s.in_height * s.in_width * s.in_channels),
                        Sum(block_of(s.kernel_width)));
  for (int64_t ky = 0; ky < s.kernel_height; ++ky)
    for (int64_t f = 0; f < out; ++f)
      for (int64_t kx = 0; kx < s.kernel_width; ++kx)
        for (int64_t n = 0; n < s.batch; ++n)
          for (int64_t oy = 0; oy < s.out_height; ++oy)
            for (int64_t ox = 0; ox < s.out_width; ++ox)
              at_tap(s, oy, ox, ky, kx, [&](int64_t iy, int64_t ix) {
                for (int64_t c = 0; c < s.in_channels; ++c)
                  sums[x_at(s, n, iy, ix, c)].term((ky * out + f) * s.kernel_width + kx,
                                                   dy[y_at(s, n, oy, ox, c / in * out + f)],
                                                   w[w_at(s, ky, kx, c % in, c / in * out + f)]);
              });
  Floats dx;
  for (Sum& sum : sums) dx.push_back(sum.value(depth));
  return dx;
}

Floats reference_filter_gradient(const Conv2dShape& s, const Floats& x, const Floats& dy) {
  const int64_t in = s.in_channels / s.groups, out = s.out_channels / s.groups;
  Floats dw;
  for (int64_t ky = 0; ky < s.kernel_height; ++ky)
    for (int64_t kx = 0; kx < s.kernel_width; ++kx)
      for (int64_t c = 0; c < in; ++c)
        for (int64_t o = 0; o < s.out_channels; ++o) {
          Sum sum(256);
          int64_t k = 0;
          for (int64_t n = 0; n < s.batch; ++n)
            for (int64_t oy = 0; oy < s.out_height; ++oy)
              for (int64_t ox = 0; ox < s.out_width; ++ox, ++k)
                at_tap(s, oy, ox, ky, kx, [&](int64_t iy, int64_t ix) {
                  sum.term(k, x[x_at(s, n, iy, ix, o / out * in + c)], dy[y_at(s, n, oy, ox, o)]);
                });
          dw.push_back(sum.value(k));
        }
  return dw;
}

Floats numbers(int64_t count, uint32_t seed, bool special) {
  static constexpr float kSpecial[] = {std::numeric_limits<float>::infinity(),
                                       -std::numeric_limits<float>::infinity(),
                                       std::numeric_limits<float>::quiet_NaN(),
                                       -0.0f,
                                       1e-42f,
                                       3e38f};
  Floats out(static_cast<size_t>(count));
  uint32_t state = seed * 2654435761u + 12345u;
  for (float& value : out) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int32_t>(state >> 8) - (1 << 23)) * 0x1p-22f;
    if ((state >> 28) == 0) value = -0.0f;
    if (special && (state >> 12) % 61 == 0) value = kSpecial[(state >> 20) % 6];
  }
  return out;
}

// Bits, with all NaN alike.
std::vector<uint32_t> bits(const Floats& x) {
  std::vector<uint32_t> out;
  for (float value : x) out.push_back(value != value ? 0x7fc00000u : std::bit_cast<uint32_t>(value));
  return out;
}

// Runs a kernel into poisoned memory and checks that the ranges told to `done` cover the output once.
template <class Kernel>
std::vector<uint32_t> run(int64_t size, int64_t unit, int64_t workspace_bytes, Kernel kernel) {
  Floats out(static_cast<size_t>(size), 12345.0f);
  Floats at_done(static_cast<size_t>(size));
  std::unique_ptr<void, decltype(&std::free)> workspace(
      std::aligned_alloc(64, static_cast<size_t>(workspace_bytes + 63) / 64 * 64 + 64), &std::free);
  std::mutex mutex;
  std::vector<int> told(static_cast<size_t>(size));
  auto note = [&](int64_t begin, int64_t end) {
    std::lock_guard lock(mutex);
    EXPECT_EQ(begin % unit, 0);
    EXPECT_EQ(end % unit, 0);
    for (int64_t i = begin; i < end; ++i)
      ++told[static_cast<size_t>(i)], at_done[static_cast<size_t>(i)] = out[static_cast<size_t>(i)];
  };
  ContractionDone done(note);
  kernel(out.data(), workspace.get(), &done);
  EXPECT_EQ(told, std::vector<int>(static_cast<size_t>(size), 1));
  EXPECT_EQ(bits(at_done), bits(out));
  return bits(out);
}

std::string text(const Conv2dShape& s) {
  std::string out;
  for (int64_t v :
       {s.batch, s.in_height, s.in_width, s.in_channels, s.kernel_height, s.kernel_width, s.out_height, s.out_width,
        s.out_channels, s.groups, s.stride_y, s.stride_x, s.dilation_y, s.dilation_x, s.pad_top, s.pad_left})
    out += std::to_string(v) + " ";
  return out;
}

size_t differences(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  size_t count = a.size() != b.size();
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) count += a[i] != b[i];
  return count;
}

void check(const Conv2dShape& s, bool special_x, bool special_w) {
  const int64_t x_size = s.batch * s.in_height * s.in_width * s.in_channels;
  const int64_t y_size = s.batch * s.out_height * s.out_width * s.out_channels;
  const int64_t w_size = s.kernel_height * s.kernel_width * (s.in_channels / s.groups) * s.out_channels;
  const Floats x = numbers(x_size, 1, special_x), w = numbers(w_size, 2, special_w), dy = numbers(y_size, 3, special_x);
  const auto y = bits(reference_forward(s, x, w)), dx = bits(reference_input_gradient(s, dy, w));
  const auto dw = bits(reference_filter_gradient(s, x, dy));
  const std::string before(name_of(simd_target()));
  const int threads = thread_count();
  // Special values change no control flow: numbers of threads are tried with plain ones.
  const std::vector<int> counts = special_x || special_w ? std::vector{2} : std::vector{1, 2, 3};
  for (SimdTarget target : tested_targets())
    for (int count : counts) {
      if (target == SimdTarget::scalar && count == 1) continue;
      set_simd_target(name_of(target));
      set_thread_count(count);
      SCOPED_TRACE(text(s) + std::string(name_of(target)) + " threads " + std::to_string(count) +
                   (special_x ? " special x" : "") + (special_w ? " special w" : ""));
      EXPECT_EQ(differences(run(y_size, s.out_channels, conv2d_forward_workspace(s),
                                [&](float* out, void* space, ContractionDone* done) {
                                  conv2d_forward(s, x.data(), w.data(), out, space, done);
                                }),
                            y),
                0u)
          << "forward";
      EXPECT_EQ(differences(run(x_size, s.in_channels, conv2d_input_gradient_workspace(s),
                                [&](float* out, void* space, ContractionDone* done) {
                                  conv2d_input_gradient(s, dy.data(), w.data(), out, space, done);
                                }),
                            dx),
                0u)
          << "input gradient";
      EXPECT_EQ(differences(run(w_size, 1, conv2d_filter_gradient_workspace(s),
                                [&](float* out, void* space, ContractionDone* done) {
                                  conv2d_filter_gradient(s, x.data(), dy.data(), out, space);
                                  (*done)(0, w_size);
                                }),
                            dw),
                0u)
          << "filter gradient";
    }
  set_simd_target(before);
  set_thread_count(threads);
}

struct Image {
  int64_t batch, height, width, in, out, groups = 1;
};
struct Window {
  int64_t height, width, stride = 1, dilation = 1, top = 0, left = 0, bottom = 0, right = 0;
};

Conv2dShape shape_of(const Image& image, const Window& w) {
  const auto out = [&](int64_t size, int64_t kernel, int64_t pads) {
    const int64_t room = size + pads - ((kernel - 1) * w.dilation + 1);
    return room < 0 ? 0 : room / w.stride + 1;
  };
  return {image.batch,
          image.height,
          image.width,
          image.in,
          w.height,
          w.width,
          out(image.height, w.height, w.top + w.bottom),
          out(image.width, w.width, w.left + w.right),
          image.out,
          image.groups,
          w.stride,
          w.stride,
          w.dilation,
          w.dilation,
          w.top,
          w.left};
}

void check_all(const Image& image, const Window& window) {
  const Conv2dShape s = shape_of(image, window);
  check(s, false, false);
  check(s, true, false);
  check(s, false, true);
  check(s, true, true);
}

TEST(Conv2dKernel, PlainSame) {
  for (auto [in, out] :
       {std::pair<int64_t, int64_t>{1, 1}, {1, 16}, {3, 5}, {5, 3}, {16, 17}, {17, 16}, {32, 33}, {8, 48}})
    check_all({2, 7, 9, in, out}, {3, 3, 1, 1, 1, 1, 1, 1});
}

TEST(Conv2dKernel, WideChannelsHaveSeveralBlocks) {
  check_all({1, 4, 5, 100, 20}, {3, 3, 1, 1, 1, 1, 1, 1});
  check_all({2, 3, 3, 20, 100}, {3, 3, 1, 1, 1, 1, 1, 1});
  check_all({1, 3, 15, 128, 64}, {1, 2, 1, 1, 0, 0, 0, 1});
  check_all({3, 16, 17, 4, 33}, {2, 2, 1, 1, 0, 0, 0, 0});
}

// Kernels three wide take their taps together, with and without columns outside of the image.
TEST(Conv2dKernel, ThreeTapsInRowsOfSeveralTiles) {
  for (int64_t width : {1, 2, 13, 28, 58})
    for (auto [in, out] : {std::pair<int64_t, int64_t>{5, 16}, {34, 17}, {2, 49}})
      check_all({2, 3, width, in, out}, {3, 3, 1, 1, 1, 1, 1, 1});
  for (auto [left, right] : {std::pair<int64_t, int64_t>{0, 0}, {1, 0}, {0, 1}, {0, 2}, {2, 0}, {2, 2}, {3, 1}})
    for (int64_t width : {3, 30}) check_all({1, 4, width, 6, 18}, {3, 3, 1, 1, 1, left, 1, right});
  check_all({2, 4, 30, 32, 96, 2}, {3, 3, 1, 1, 1, 1, 1, 1});
  check_all({1, 5, 31, 4, 17}, {3, 5, 2, 1, 1, 2, 1, 2});
  check_all({1, 5, 31, 17, 4}, {3, 3, 3, 3, 3, 3, 3, 3});
}

TEST(Conv2dKernel, FilterGradientOverManyBlocks) {
  for (int64_t in : {1, 3, 8, 9, 16}) check_all({9, 17, 15, in, 6}, {3, 3, 1, 1, 1, 1, 1, 1});
  check_all({5, 28, 28, 1, 16}, {5, 5, 1, 1, 2, 2, 2, 2});
  check_all({600, 2, 1, 4, 7}, {2, 2, 1, 1, 1, 1, 0, 1});
}

// Neighbouring taps of wide images share their loads: all widths of kernels, blocks that end inside rows and inside
// samples, few and many channels, several panels of 16 filters.
TEST(Conv2dKernel, FilterGradientByNeighbouringTaps) {
  for (int64_t width : {2, 3, 4, 5, 7}) {
    check_all({3, 9, 11, 5, 16}, {3, width, 1, 1, 1, width / 2, 1, width / 2});
    check_all({2, 10, 13, 10, 7}, {2, width});
  }
  for (int64_t in : {3, 4, 9, 16, 19, 33}) check_all({5, 10, 9, in, 16}, {3, 3, 1, 1, 1, 1, 1, 1});
  for (int64_t out : {32, 48, 61}) check_all({3, 12, 10, 8, out}, {3, 3, 1, 1, 1, 1, 1, 1});
  check_all({9, 16, 17, 16, 8}, {3, 3, 1, 1, 2, 2, 2, 2});
  check_all({1, 2, 600, 6, 5}, {1, 3, 1, 1, 0, 1, 0, 1});
  check_all({3, 5, 8, 4, 6}, {4, 3, 1, 1, 3, 8, 4, 9});
}

// Windows that nowhere cross the left and right border: the taps of a row of the kernel are neighbours.
TEST(Conv2dKernel, FilterGradientInsideTheImage) {
  check_all({7, 10, 12, 8, 1}, {1, 1});
  check_all({3, 32, 32, 8, 16}, {2, 2, 2});
  check_all({3, 20, 18, 17, 33}, {2, 2, 2});
  check_all({3, 20, 19, 4, 5}, {3, 2, 3, 1, 1, 0, 2, 0});
  check_all({2, 20, 19, 9, 5}, {3, 3, 2, 1, 0, -1, 1, -1});
}

// Single pixels to one channel: lanes are pixels.
TEST(Conv2dKernel, OneOutput) {
  for (int64_t in : {2, 8, 9, 33, 256, 257}) check_all({3, 7, 9, in, 1}, {1, 1});
  check_all({5, 30, 31, 8, 1}, {1, 1});  // several pieces
  check_all({2, 7, 9, 8, 1}, {1, 1, 2});
  check_all({2, 7, 9, 8, 1}, {1, 1, 1, 1, 1, 0, 0, 1});
}

TEST(Conv2dKernel, Strides) {
  for (int64_t stride : {2, 3})
    for (int64_t kernel : {1, 2, 3, 5}) {
      check_all({2, 9, 10, 16, 5}, {kernel, kernel, stride, 1, kernel / 2, kernel / 2, kernel / 2, kernel / 2});
      check_all({1, 8, 11, 3, 18}, {kernel, kernel, stride});
    }
  check_all({2, 28, 28, 4, 32}, {3, 3, 2, 1, 0, 0, 1, 1});
  check_all({1, 6, 33, 2, 3}, {2, 2, 2});
}

// Windows that lie side by side: in the input gradient, columns of the kernel become channels.
TEST(Conv2dKernel, StrideOfTheKernelsWidth) {
  for (int64_t width : {2, 3, 5})
    for (auto [in, out] : {std::pair<int64_t, int64_t>{1, 1}, {8, 16}, {3, 1}, {5, 130}, {20, 7}})
      check_all({2, 6, 6 * width, in, out}, {2, width, width});
  check_all({2, 7, 14, 8, 16}, {3, 2, 2, 1, 1, 0, 1, 0});
  check_all({2, 4, 6, 8, 16, 2}, {2, 2, 2});
  check_all({1, 4, 12, 6, 70}, {2, 2, 2, 2, 0, 0, 0, 2});
}

TEST(Conv2dKernel, DilationAndPadding) {
  check_all({2, 9, 11, 5, 16}, {3, 3, 1, 2, 2, 2, 2, 2});
  check_all({1, 9, 11, 5, 6}, {3, 2, 2, 3, 4, 1, 0, 3});
  check_all({1, 12, 11, 3, 6}, {3, 3, 2, 2, 2, 2, 2, 2});
  check_all({1, 2, 3, 4, 5}, {2, 3, 1, 1, 5, 6, 7, 4});
  check_all({2, 5, 6, 17, 3}, {4, 4, 1, 1, 1, 2, 2, 1});
  check_all({1, 3, 4, 2, 3}, {1, 1, 1, 1, 2, 3, 1, 1});
  check_all({1, 1, 300, 1, 2}, {1, 270, 1, 1, 0, 40, 0, 3});
}

TEST(Conv2dKernel, Groups) {
  for (int64_t groups : {2, 4, 8, 32}) check_all({2, 6, 7, 32, 32, groups}, {3, 3, 1, 1, 1, 1, 1, 1});
  check_all({1, 6, 7, 6, 12, 3}, {3, 3, 2, 1, 1, 1, 1, 1});
  check_all({1, 6, 7, 12, 6, 3}, {3, 2, 1, 2, 1, 1, 1, 1});
  check_all({1, 6, 15, 34, 68, 2}, {3, 3, 1, 1, 1, 1, 1, 1});
  check_all({3, 11, 13, 5, 5, 5}, {3, 3, 1, 1, 1, 1, 1, 1});
  check_all({2, 11, 13, 48, 48, 48}, {2, 2});
}

// As many inputs as filters a group, and whole vectors of channels: lanes look up their group's input.
TEST(Conv2dKernel, GroupsLookedUp) {
  for (int64_t group : {2, 4, 8})
    for (int64_t channels : {16, 32, 48}) {
      check_all({2, 7, 9, channels, channels, channels / group}, {3, 3, 1, 1, 1, 1, 1, 1});
      check_all({2, 9, 8, channels, channels, channels / group}, {3, 2, 2, 1, 0, 1, 1, 0});
    }
  check_all({1, 9, 11, 32, 32, 8}, {3, 3, 1, 2, 2, 2, 2, 2});
  check_all({2, 6, 5, 32, 32, 4}, {1, 1});
  check_all({3, 17, 15, 16, 16, 4}, {2, 2, 1, 1, 1, 0, 0, 1});
}

TEST(Conv2dKernel, OneByOne) {
  check_all({3, 5, 7, 17, 33}, {1, 1});
  check_all({2, 13, 12, 16, 32}, {1, 1, 2});
  check_all({1, 1, 1, 300, 40}, {1, 1});
}

// -1e-30 * 1e-30 underflows to -0; the final + 0 makes it +0.
TEST(Conv2dKernel, NeverGivesNegativeZero) {
  const Conv2dShape s = shape_of({1, 5, 6, 3, 4}, {3, 3, 1, 1, 1, 1, 1, 1});
  const Floats x(5 * 6 * 3, -1e-30f), w(9 * 12, 1e-30f), y(5 * 6 * 4, 1e-30f), dy(5 * 6 * 4, -1e-30f);
  using Bits = std::vector<uint32_t>;
  EXPECT_EQ(run(120, 4, conv2d_forward_workspace(s),
                [&](float* out, void* space, ContractionDone* done) {
                  conv2d_forward(s, x.data(), w.data(), out, space, done);
                }),
            Bits(120, 0));
  EXPECT_EQ(run(90, 3, conv2d_input_gradient_workspace(s),
                [&](float* out, void* space, ContractionDone* done) {
                  conv2d_input_gradient(s, dy.data(), w.data(), out, space, done);
                }),
            Bits(90, 0));
  EXPECT_EQ(run(108, 1, conv2d_filter_gradient_workspace(s),
                [&](float* out, void* space, ContractionDone* done) {
                  conv2d_filter_gradient(s, x.data(), y.data(), out, space);
                  (*done)(0, 108);
                }),
            Bits(108, 0));
}

TEST(Conv2dKernel, TinyAndEmpty) {
  check_all({1, 1, 1, 1, 1}, {1, 1});
  check_all({1, 1, 1, 1, 1}, {3, 3, 1, 1, 1, 1, 1, 1});
  check_all({0, 4, 4, 3, 5}, {3, 3, 1, 1, 1, 1, 1, 1});
  check_all({2, 4, 4, 3, 5}, {6, 6});  // no output
  check_all({1, 40, 3, 2, 2}, {3, 3});
}

}  // namespace
}  // namespace retrace
