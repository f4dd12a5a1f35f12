// Tiles whose elements are bytes (masks, images) or halves in memory, or one number.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/plan/programs/tile_bytes_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include <algorithm>

#include "retrace/base/elementary_half.h"
#include "retrace/device/cpu/simd.h"
#include "retrace/plan/programs/tile_bytes.h"

RT_TARGET_BEGIN

void bytes_to_numbers(const uint8_t* from, float* to, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(load_bytes(from + i), to + i);
  for (; i < count; ++i) to[i] = static_cast<float>(from[i]);
}

void numbers_to_truth(const float* from, uint8_t* to, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store_truth(load(from + i), to + i);
  for (; i < count; ++i) to[i] = from[i] != 0;
}

template <class Make>
void halves_to_numbers(const uint16_t* from, float* to, int64_t count, Make make) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(make(load_int(from + i)), to + i);
  if (i == count) return;
  uint16_t last[kLanes] = {};
  std::copy_n(from + i, count - i, last);
  store_part(make(load_int(last)), to + i, static_cast<int>(count - i));
}
template <class Make>
void numbers_to_halves(const float* from, uint16_t* to, int64_t count, Make make) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store_int(make(load(from + i)), to + i);
  if (i == count) return;
  uint16_t last[kLanes];
  store_int(make(load_part(from + i, static_cast<int>(count - i))), last);
  std::copy_n(last, count - i, to + i);
}

void bf16_to_numbers(const uint16_t* from, float* to, int64_t count) {
  halves_to_numbers(from, to, count, [](I32 b) { return from_bf16_bits<F32>(b); });
}
void f16_to_numbers(const uint16_t* from, float* to, int64_t count) {
  halves_to_numbers(from, to, count, [](I32 b) { return from_f16_bits<F32>(b); });
}
void numbers_to_bf16(const float* from, uint16_t* to, int64_t count) {
  numbers_to_halves(from, to, count, [](F32 x) { return bits_of_bf16(x); });
}
void numbers_to_f16(const float* from, uint16_t* to, int64_t count) {
  numbers_to_halves(from, to, count, [](F32 x) { return bits_of_f16(x); });
}

void fill(float value, float* to, int64_t count) {
  const F32 all(value);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(all, to + i);
  if (i < count) store_part(all, to + i, static_cast<int>(count - i));
}

#if !RT_SIMD_SCALAR
// Short rows of equal elements whose values are neighbours: a vector of values makes `run` vectors. Returns the number
// of rows that are there then.
int64_t fill_short_rows(const float* from, int64_t rows, int64_t run, float* to) {
  const hn::CappedTag<float, 16> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto share = hn::Set(du, static_cast<uint32_t>((65536 + run - 1) / run));  // x * share >> 16 is x / run
  int64_t done = 0;
  for (int64_t part = 0; part < run; ++part) {
    const auto element = hn::Iota(du, static_cast<uint32_t>(part * lanes));
    const auto row = hn::IndicesFromVec(d, hn::ShiftRight<16>(hn::Mul(element, share)));
    float* out = to + part * lanes;
    for (done = 0; done + lanes <= rows; done += lanes, out += run * lanes)
      hn::StoreU(hn::TableLookupLanes(hn::LoadU(d, from + done), row), d, out);
  }
  return done;
}
#endif

void fill_rows(const float* from, int64_t stride, int64_t rows, int64_t run, float* to, int64_t room) {
#if !RT_SIMD_SCALAR
  if (stride == 1 && run < kLanes) {
    const int64_t done = fill_short_rows(from, rows, run, to);
    from += done, rows -= done, to += done * run, room -= done * run;
  }
#endif
  const int64_t padded = (run + kLanes - 1) / kLanes * kLanes;
  for (; rows > 0 && room >= padded; --rows, from += stride, to += run, room -= run) {
    const F32 all(*from);
    for (int64_t i = 0; i < run; i += kLanes) store(all, to + i);
  }
  for (; rows > 0; --rows, from += stride, to += run) fill(*from, to, run);
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {
RT_EXPORT_KERNEL(bytes_to_numbers_table, bytes_to_numbers);
RT_EXPORT_KERNEL(numbers_to_truth_table, numbers_to_truth);
RT_EXPORT_KERNEL(bf16_to_numbers_table, bf16_to_numbers);
RT_EXPORT_KERNEL(f16_to_numbers_table, f16_to_numbers);
RT_EXPORT_KERNEL(numbers_to_bf16_table, numbers_to_bf16);
RT_EXPORT_KERNEL(numbers_to_f16_table, numbers_to_f16);
RT_EXPORT_KERNEL(fill_table, fill);
RT_EXPORT_KERNEL(fill_rows_table, fill_rows);
}  // namespace retrace
#endif
