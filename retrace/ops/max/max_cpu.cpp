#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/ops/max/max_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#include <cstring>
#include <limits>

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
RT_INLINE void search_columns(const float* x, const float* end, int64_t positions, int64_t stride, int lanes,
                              int32_t* index) {
  Best best[groups];
  search<groups>(
      positions,
      [=](int g, int64_t p) __attribute__((always_inline)) {
        const float* from = x + p * stride + g * kLanes;
        return end - from >= kLanes ? load(from) : load_part(from, lanes);
      },
      best);
  for (int g = 0; g < groups; ++g) {
    if (groups > 1 || lanes == kLanes) {
      store_int(best[g].index, index + g * kLanes);
      continue;
    }
    alignas(64) int32_t found[kLanes];
    store_int(best[g].index, found);
    for (int i = 0; i < lanes; ++i) index[g * kLanes + i] = found[i];
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

// v in its first n lanes, else -inf.
RT_INLINE F32 first_or_least(F32 v, int n) {
  alignas(64) static constexpr int32_t lane[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return select(less(load_int(lane), I32(n)), v, F32(-std::numeric_limits<float>::infinity()));
}

// 16 rows of at most 16 numbers, -inf behind them; `nans`: where there is a NaN, too.
RT_INLINE void load_short_rows(const float* x, int64_t distance, int positions, F32* rows, Mask& nans) {
  RT_UNROLL
  for (int l = 0; l < kLanes; ++l) {
    rows[l] = first_or_least(load_part(x + l * distance, positions), positions);
    nans = either(nans, not_equal(rows[l], rows[l]));
  }
}

// The first maxima of such rows: false, and nothing is written, if there is a NaN.
RT_INLINE bool search_rows_of_vector(const float* x, int64_t distance, int positions, int32_t* index) {
  F32 rows[kLanes];
  Mask nans = not_equal(F32(0.0f), F32(0.0f));
  load_short_rows(x, distance, positions, rows, nans);
  if (any(nans)) return false;
  alignas(64) float largest[kLanes];
  store(largest_of_rows(rows), largest);
  for (int l = 0; l < kLanes; ++l) index[l] = static_cast<int32_t>(first_lane(equal(rows[l], F32(largest[l]))));
  return true;
}

// The largest numbers of a row by lanes; `nans`: where there is a NaN, too.
RT_INLINE F32 largest_by_lanes(const float* x, int64_t count, Mask& nans) {
  constexpr int kParts = 4;
  F32 first(-std::numeric_limits<float>::infinity());
  int64_t i = 0;
  if (count >= kParts * kLanes) {
    F32 best[kParts];
    for (int k = 0; k < kParts; ++k) best[k] = first;
    for (; i + kParts * kLanes <= count; i += kParts * kLanes) {
      RT_UNROLL
      for (int k = 0; k < kParts; ++k) {
        const F32 v = load(x + i + k * kLanes);
        nans = either(nans, not_equal(v, v));
        best[k] = larger(best[k], v);
      }
    }
    first = larger(larger(best[0], best[1]), larger(best[2], best[3]));
  }
  for (; i + kLanes <= count; i += kLanes) {
    const F32 v = load(x + i);
    nans = either(nans, not_equal(v, v));
    first = larger(first, v);
  }
  if (i < count) {
    const int present = static_cast<int>(count - i);
    const F32 v = first_or_least(load_part(x + i, present), present);
    nans = either(nans, not_equal(v, v));
    first = larger(first, v);
  }
  return first;
}

// The largest number of a row; `nan` if there is a NaN.
RT_INLINE float largest_of_row(const float* x, int64_t count, bool& nan) {
  Mask nans = not_equal(F32(0.0f), F32(0.0f));
  const F32 best = largest_by_lanes(x, count, nans);
  nan = any(nans);
  return largest_lane(best);
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

// index[c] for x[p * stride + c]; memory up to `end` may be read.
void find_column_maxima(const float* x, const float* end, int64_t positions, int64_t stride, int64_t channels,
                        int32_t* index) {
  int64_t c = 0;
  for (; c + kGroups * kLanes <= channels; c += kGroups * kLanes)
    search_columns<kGroups>(x + c, end, positions, stride, kLanes, index + c);
  for (; c < channels; c += kLanes)
    search_columns<1>(x + c, end, positions, stride, static_cast<int>(channels - c < kLanes ? channels - c : kLanes),
                      index + c);
}

// mask[p * stride + c]: whether p is index[c].
void mark_columns(const int32_t* index, int64_t positions, int64_t stride, int64_t channels, uint8_t* mask) {
  constexpr int64_t kCompared = 24;  // positions; of more, zeros are written, and then a one for each channel
  if (positions > kCompared || channels < kLanes) {
    if (stride == channels) std::memset(mask, 0, static_cast<size_t>(positions * channels));
    for (int64_t p = 0; stride != channels && p < positions; ++p)
      std::memset(mask + p * stride, 0, static_cast<size_t>(channels));
    for (int64_t c = 0; c < channels; ++c) mask[index[c] * stride + c] = 1;
    return;
  }
  for (int64_t p = 0; p < positions; ++p, mask += stride) {
    const I32 position(static_cast<int32_t>(p));
    int64_t c = 0;
    for (; c + kLanes <= channels; c += kLanes)
      store_truth(select(equal(load_int(index + c), position), F32(1.0f), F32(0.0f)), mask + c);
    for (; c < channels; ++c) mask[c] = index[c] == p;
  }
}

// index[row] for x[row * distance + p].
void find_row_maxima(const float* x, int64_t distance, int64_t rows, int64_t positions, int32_t* index) {
  int64_t row = 0;
  if (positions <= kShort && distance < (1 << 26))
    for (; row + kLanes <= rows; row += kLanes) {
      const float* const from = x + row * distance;
      if (positions > kLanes || !search_rows_of_vector(from, distance, static_cast<int>(positions), index + row))
        search_short_rows(from, distance, positions, index + row);
    }
  for (; row < rows; ++row) index[row] = search_row(x + row * distance, positions);
}

// The largest numbers themselves. Which of -0 and +0, or of several NaNs, says the search for the first one.
void row_maxima(const float* x, int64_t distance, int64_t rows, int64_t positions, float* y) {
  int64_t row = 0;
  for (; row + kLanes <= rows; row += kLanes) {
    F32 best[kLanes];
    Mask nans = not_equal(F32(0.0f), F32(0.0f));
    if (positions <= kLanes)
      load_short_rows(x + row * distance, distance, static_cast<int>(positions), best, nans);
    else
      for (int l = 0; l < kLanes; ++l) best[l] = largest_by_lanes(x + (row + l) * distance, positions, nans);
    const F32 largest = largest_of_rows(best);
    store(largest, y + row);
    if (!any(either(nans, equal(largest, F32(0.0f))))) continue;
    for (int64_t r = row; r < row + kLanes; ++r) y[r] = x[r * distance + search_row(x + r * distance, positions)];
  }
  for (; row < rows; ++row) {
    const float* const from = x + row * distance;
    bool nan = false;
    const float value = largest_of_row(from, positions, nan);
    y[row] = nan || value == 0 ? from[search_row(from, positions)] : value;
  }
}

namespace {

// A later number only wins by being larger, or a NaN over a number.
template <int groups>
RT_INLINE void column_group(const float* x, const float* end, int64_t positions, int64_t channels, int lanes,
                            float* y) {
  const auto at = [=](int g, int64_t p) __attribute__((always_inline)) {
    const float* const from = x + p * channels + g * kLanes;
    return end - from >= kLanes ? load(from) : load_part(from, lanes);
  };
  F32 best[groups];
  for (int g = 0; g < groups; ++g) best[g] = at(g, 0);
  for (int64_t p = 1; p < positions; ++p) {
    RT_UNROLL
    for (int g = 0; g < groups; ++g) {
      const F32 v = at(g, p);
      best[g] = select(both(opposite(less_equal(v, best[g])), equal(best[g], best[g])), v, best[g]);
    }
  }
  for (int g = 0; g < groups; ++g) store_part(best[g], y + g * kLanes, groups == 1 ? lanes : kLanes);
}

}  // namespace

// y[o * channels + c] of x[o * distance + p * channels + c]; memory up to `end` may be read.
void column_maxima(const float* x, const float* end, int64_t outer, int64_t distance, int64_t positions,
                   int64_t channels, float* y) {
  for (int64_t o = 0; o < outer; ++o, x += distance, y += channels) {
    int64_t c = 0;
    for (; c + kGroups * kLanes <= channels; c += kGroups * kLanes)
      column_group<kGroups>(x + c, end, positions, channels, kLanes, y + c);
    for (; c < channels; c += kLanes) {
      const int lanes = static_cast<int>(channels - c < kLanes ? channels - c : kLanes);
      column_group<1>(x + c, end, positions, channels, lanes, y + c);
    }
  }
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {

RT_EXPORT_KERNEL(find_column_maxima_table, find_column_maxima);
RT_EXPORT_KERNEL(mark_columns_table, mark_columns);
RT_EXPORT_KERNEL(find_row_maxima_table, find_row_maxima);
RT_EXPORT_KERNEL(row_maxima_table, row_maxima);
RT_EXPORT_KERNEL(column_maxima_table, column_maxima);

}  // namespace retrace
#endif
