#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/max/max_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include "retrace/device/cpu/simd_lanes.h"

RT_TARGET_BEGIN

namespace {

constexpr int kGroups = 4;      // of 16 columns side by side
constexpr int64_t kShort = 48;  // rows up to this length are searched 16 at once

struct Best {
  F32 value;
  I32 index;
};

// Later positions only win by being larger, or a NaN over a number.
RT_INLINE void keep_first(Best& best, F32 v, I32 index) {
  const Mask better = both(opposite(less_equal(v, best.value)), equal(best.value, best.value));
  best = {select(better, v, best.value), select(better, index, best.index)};
}

// Searches `groups` times 16 lanes, whose elements at position p are at(group, p).
template <int groups, class At>
RT_INLINE void search(int64_t positions, At at, Best* best) {
  for (int g = 0; g < groups; ++g) best[g] = {at(g, 0), I32(0)};
  for (int64_t p = 1; p < positions; ++p) {
    const I32 index(static_cast<int32_t>(p));
    RT_UNROLL
    for (int g = 0; g < groups; ++g) keep_first(best[g], at(g, p), index);
  }
}

template <int groups>
RT_INLINE void search_columns(const float* x, const float* end, int64_t positions, int64_t channels, int lanes,
                              int32_t* index) {
  Best best[groups];
  search<groups>(
      positions,
      [=](int g, int64_t p) __attribute__((always_inline)) {
        const float* from = x + p * channels + g * kLanes;
        return end - from >= kLanes ? load(from) : load_part(from, lanes);
      },
      best);
  for (int g = 0; g < groups; ++g) {
    alignas(64) int32_t found[kLanes];
    store_int(best[g].index, found);
    for (int i = 0; i < (groups == 1 ? lanes : kLanes); ++i) index[g * kLanes + i] = found[i];
  }
}

// p[0], p[distance], ..., of 16 rows.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
RT_INLINE F32 load_column(const float* p, int64_t, I32 offsets) {
  F32 v;
  RT_EACH(i) v.r[i] = hn::GatherIndex(TagF(), p, offsets.r[i]);
  return v;
}
#else
RT_INLINE F32 load_column(const float* p, int64_t distance, I32) {
  alignas(64) float all[kLanes];
  for (int l = 0; l < kLanes; ++l) all[l] = p[l * distance];
  return load(all);
}
#endif

RT_INLINE void search_short_rows(const float* x, int64_t distance, int64_t positions, int32_t* index) {
  alignas(64) int32_t offset[kLanes];
  for (int l = 0; l < kLanes; ++l) offset[l] = static_cast<int32_t>(l * distance);
  const I32 offsets = load_int(offset);
  Best best;
  search<1>(
      positions, [=](int, int64_t p) __attribute__((always_inline)) { return load_column(x + p, distance, offsets); },
      &best);
  store_int(best.index, index);
}

// The largest number of a row; `nan` if there is a NaN.
RT_INLINE float largest_of_row(const float* x, int64_t count, bool& nan) {
  constexpr int kParts = 4;
  F32 best[kParts];
  Mask nans[kParts];
  for (int k = 0; k < kParts; ++k) best[k] = F32(x[0]), nans[k] = not_equal(best[k], best[k]);
  int64_t i = 0;
  for (; i + kParts * kLanes <= count; i += kParts * kLanes) {
    RT_UNROLL
    for (int k = 0; k < kParts; ++k) {
      const F32 v = load(x + i + k * kLanes);
      nans[k] = either(nans[k], not_equal(v, v));
      best[k] = larger(best[k], v);
    }
  }
  for (; i < count; i += kLanes) {
    const int present = count - i < kLanes ? static_cast<int>(count - i) : kLanes;
    F32 v = load_part(x + i, present);
    if (present < kLanes) {
      alignas(64) static constexpr int32_t lane[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
      v = select(less(load_int(lane), I32(present)), v, F32(x[0]));
    }
    nans[0] = either(nans[0], not_equal(v, v));
    best[0] = larger(best[0], v);
  }
  nan = any(either(either(nans[0], nans[1]), either(nans[2], nans[3])));
  return largest_lane(larger(larger(best[0], best[1]), larger(best[2], best[3])));
}

// The first element that equals the largest one; of a row with NaNs, the first NaN.
RT_INLINE int32_t search_row(const float* x, int64_t count) {
  bool nan = false;
  const float value = largest_of_row(x, count, nan);
  const F32 values(value);
  int64_t i = 0;
  while (i + kLanes <= count && !any(nan ? not_equal(load(x + i), load(x + i)) : equal(load(x + i), values)))
    i += kLanes;
  while (i + 1 < count && (nan ? x[i] == x[i] : x[i] != value)) ++i;
  return static_cast<int32_t>(i);
}

}  // namespace

// index[c] for x[p * channels + c]; memory up to `end` may be read.
void find_column_maxima(const float* x, const float* end, int64_t positions, int64_t channels, int32_t* index) {
  int64_t c = 0;
  for (; c + kGroups * kLanes <= channels; c += kGroups * kLanes)
    search_columns<kGroups>(x + c, end, positions, channels, kLanes, index + c);
  for (; c < channels; c += kLanes)
    search_columns<1>(x + c, end, positions, channels, static_cast<int>(channels - c < kLanes ? channels - c : kLanes),
                      index + c);
}

// index[row] for x[row * distance + p].
void find_row_maxima(const float* x, int64_t distance, int64_t rows, int64_t positions, int32_t* index) {
  int64_t row = 0;
  if (positions <= kShort && distance < (1 << 26))
    for (; row + kLanes <= rows; row += kLanes) search_short_rows(x + row * distance, distance, positions, index + row);
  for (; row < rows; ++row) index[row] = search_row(x + row * distance, positions);
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {

RT_EXPORT_KERNEL(find_column_maxima_table, find_column_maxima);
RT_EXPORT_KERNEL(find_row_maxima_table, find_row_maxima);

}  // namespace retrace
#endif
