// The convolution of single pixels to one channel: y[p] = sum of x[p,c] * w[c]. Lanes are pixels, which are turned to
// lie side by side, channel by channel.

#include <algorithm>

#include "retrace/device/cpu/contraction_tile.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/conv2d/conv2d_kernel.h"
#include "retrace/ops/conv2d/conv2d_plan.h"

namespace retrace {
namespace {

constexpr int64_t kPiece = 4096;         // pixels
constexpr int64_t kTurnedFloats = 8192;  // of pixels turned at a time
constexpr int64_t kMostChannels = 256;   // one block of the sum

// Pixels begin..end-1.
void compute_pixels(const float* x, const float* w, float* y, int64_t channels, int64_t begin, int64_t end) {
  const auto& kernels = contraction_kernels();
  const int vectors = preferred_vectors(32);
  const int64_t width = 16 * vectors, chunk = std::max<int64_t>(width, kTurnedFloats / channels / width * width);
  auto* const turned = static_cast<float*>(thread_scratch(1, sizeof(float) * static_cast<size_t>(channels * chunk)));
  ContractionTerm terms[kMostChannels];
  for (int64_t c = 0; c < channels; ++c) terms[c] = {static_cast<int32_t>(c), static_cast<int32_t>(c * chunk)};
  ContractionTile tile;
  tile.a = w, tile.terms = terms, tile.term_count = channels, tile.last = true;
  for (int64_t first = begin; first < end; first += chunk) {
    const int64_t count = std::min(chunk, end - first);
    kernels.transpose(x + first * channels, channels, turned, chunk, count, channels);
    for (int64_t i = 0; i < count; i += width) {
      tile.b = turned + i, tile.out = y + first + i;
      tile.columns = static_cast<int>(std::min(width, count - i));
      kernels.broadcast[tile.columns > 16 ? vectors : 1][1](tile);
    }
  }
}

}  // namespace

bool has_one_output(const Conv2dShape& s) {
  return s.out_channels == 1 && s.in_channels > 1 && s.in_channels <= kMostChannels && s.kernel_height == 1 &&
         s.kernel_width == 1 && s.stride_y == 1 && s.stride_x == 1 && s.pad_top == 0 && s.pad_left == 0 &&
         s.out_height == s.in_height && s.out_width == s.in_width;
}

void conv2d_one_output(const Conv2dShape& s, const float* x, const float* w, float* y, ContractionDone* done) {
  const int64_t pixels = s.batch * s.out_height * s.out_width;
  run_pieces((pixels + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t begin = piece * kPiece, end = std::min(pixels, begin + kPiece);
    compute_pixels(x, w, y, s.in_channels, begin, end);
    if (done) (*done)(begin, end);
  });
}

}  // namespace retrace
