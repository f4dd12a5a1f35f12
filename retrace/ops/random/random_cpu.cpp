#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/random/random_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include "retrace/device/cpu/simd.h"

#include "retrace/base/elementary.h"

RT_TARGET_BEGIN

// r cos(a) and r sin(a) of 16 pairs: r = sqrt(-2 log(1 - u)), a = 2 pi v, each operation rounded as written.
void normal_pairs(const float* u, const float* v, float* even, float* odd) {
  const F32 radius = sqrt(F32(-2.0f) * log(F32(1.0f) - load(u)));
  const F32 angle = F32(0x1.921fb6p2f) * load(v);
  store(radius * cos(angle), even);
  store(radius * sin(angle), odd);
}

RT_TARGET_END

#if HWY_ONCE
#include <algorithm>

#include "retrace/base/philox.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/random/random_kernel.h"

namespace retrace {

RT_EXPORT_KERNEL(normal_pairs_table, normal_pairs);

namespace {

constexpr int64_t kChunk = 4096;  // elements of a sample at a time; a multiple of 32

// body(sample, first element, count, where they go) for all chunks, in parallel.
template <class T, class Body>
void for_chunks(const Draw& draw, T* y, Body body) {
  if (draw.elements == 0 || draw.samples == 0) return;
  const int64_t chunks = (draw.elements + kChunk - 1) / kChunk;
  const int64_t pieces = std::clamp<int64_t>(draw.samples * draw.elements / kChunk, 1, draw.samples * chunks);
  run_pieces(pieces, [&](int64_t piece) {
    const int64_t begin = draw.samples * chunks * piece / pieces, end = draw.samples * chunks * (piece + 1) / pieces;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t sample = i / chunks, first = i % chunks * kChunk;
      body(static_cast<uint64_t>(draw.first_sample + sample), first, std::min(kChunk, draw.elements - first),
           y + sample * draw.elements + first);
    }
  });
}

// set(i, word) for the words of elements first..first+count-1; first is a multiple of 4.
template <class Set>
void for_words(const Draw& draw, uint64_t sample, int64_t first, int64_t count, Set set) {
  for (int64_t i = 0; i < count; i += 4) {
    const auto words = philox_block(draw.key, sample, static_cast<uint64_t>(first + i) / 4);
    for (int64_t k = 0; k < std::min<int64_t>(4, count - i); ++k) set(i + k, words[static_cast<size_t>(k)]);
  }
}

}  // namespace

void draw_uniform(const Draw& draw, float* y) {
  for_chunks(draw, y, [&](uint64_t sample, int64_t first, int64_t count, float* to) {
    for_words(draw, sample, first, count, [&](int64_t i, uint32_t word) { to[i] = uniform_from(word); });
  });
}

void draw_integers(const Draw& draw, uint32_t n, int32_t* y) {
  for_chunks(draw, y, [&](uint64_t sample, int64_t first, int64_t count, int32_t* to) {
    for_words(draw, sample, first, count,
              [&](int64_t i, uint32_t word) { to[i] = static_cast<int32_t>(bounded_from(word, n)); });
  });
}

void draw_normal(const Draw& draw, float* y) {
  const auto pairs = normal_pairs_table.get();
  for_chunks(draw, y, [&](uint64_t sample, int64_t first, int64_t count, float* to) {
    for (int64_t begin = 0; begin < count; begin += 32) {
      alignas(64) float u[2][16] = {}, z[2][16];
      const int64_t here = std::min<int64_t>(32, count - begin);
      // A last element without a partner still needs its partner's word.
      for_words(draw, sample, first + begin, here + here % 2,
                [&](int64_t i, uint32_t word) { u[i % 2][i / 2] = uniform_from(word); });
      pairs(u[0], u[1], z[0], z[1]);
      for (int64_t i = 0; i < here; ++i) to[begin + i] = z[i % 2][i / 2];
    }
  });
}

}  // namespace retrace
#endif
