#include "retrace/device/cpu/contraction_tile.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "retrace/base/sanitizers.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "retrace/device/cpu/contraction_tile_cpu.cpp"
#include "retrace/device/cpu/targets.h"

#undef RT_FAST_SCALAR
#define RT_FAST_SCALAR
#include "retrace/device/cpu/simd.h"
#include "retrace/device/cpu/simd_columns.h"

RT_TARGET_BEGIN

// Rows of a tile by vectors: accumulators, the vectors of b and one of a fit into the registers. Sanitizers make
// large tiles very slow to compile; the tile changes no bit.
constexpr int most_positions(int vectors) {
  const int rows = RT_SANITIZED             ? 2 / vectors
                   : kVectorRegisters >= 32 ? 28 / vectors
                   : kVectorRegisters >= 8  ? 6 / vectors
                                            : 4 / vectors;
  return rows < 1 ? 1 : rows;
}

constexpr int kPrefetch = 1024;  // floats

// The address of row p of a tile. Rows are a run-time distance apart; seven share a pointer, and the distances are
// multiples that x86 and ARM addressing modes can form from three registers.
struct Steps {
  ptrdiff_t one, three, five, seven;  // bytes
};
template <int row>
RT_INLINE const float* row_address(const char* const* bases, const Steps& s) {
  const char* base = bases[row / 7];
  switch (row % 7) {
    case 0: return reinterpret_cast<const float*>(base);
    case 1: return reinterpret_cast<const float*>(base + s.one);
    case 2: return reinterpret_cast<const float*>(base + s.one * 2);
    case 3: return reinterpret_cast<const float*>(base + s.three);
    case 4: return reinterpret_cast<const float*>(base + s.one * 4);
    case 5: return reinterpret_cast<const float*>(base + s.five);
    default: return reinterpret_cast<const float*>(base + s.three * 2);
  }
}

// The kind of the factors a of a tile's vectors; see contraction_tile.h.
enum class Factor { broadcast, broadcast_run, lanewise, grouped_by_term, grouped_by_row };

// Rows of a tile whose terms come in runs: the vectors of b of a whole run stay in registers.
constexpr int most_run_positions(int vectors) {
  const int rows = RT_SANITIZED ? most_positions(vectors) : (kVectorRegisters - 1) / vectors - kContractionRun;
  return rows < 8 && !RT_SANITIZED ? 0 : rows;  // fewer hide no latency
}

// lane - lane % group + c of each register, for c < group.
struct GroupLanes {
#if RT_SIMD_SCALAR
  GroupLanes(int, int) {}
  F32 of(F32 v) const { return v; }
#else
  RawI index;
  RT_INLINE GroupLanes(int group, int c) {
    const auto whole = hn::AndNot(hn::Set(TagI(), group - 1), hn::Iota(TagI(), 0));
    index = hn::Add(whole, hn::Set(TagI(), c));
  }
  RT_INLINE F32 of(F32 v) const {
    F32 out;
    RT_EACH(i) out.r[i] = hn::TableLookupLanes(v.r[i], hn::IndicesFromVec(TagF(), index));
    return out;
  }
#endif
};

template <int vectors>
RT_INLINE void load_all(const float* from, F32 (&to)[vectors]) {
  RT_UNROLL
  for (int v = 0; v < vectors; ++v) to[v] = load(from + kLanes * v);
}

// The compiler does not know the zero: a tile without terms would get zeros of its own.
RT_INLINE void set_zero(F32& v) {
  v = F32(0.0f);
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
  RT_EACH(i) asm("" : "+v"(v.r[i].raw));
#endif
}

// Rows as template indices, so that every accumulator is a named register.
template <int positions, int vectors, Factor factor, class Rows = std::make_integer_sequence<int, positions>>
struct Tile;

template <int positions, int vectors, Factor factor, int... rows>
struct Tile<positions, vectors, factor, std::integer_sequence<int, rows...>> {
  struct Row {
    F32 v[vectors];
  };

  template <int row>
  RT_INLINE static void multiply_add(Row& sum, const char* const* bases, const Steps& s, const F32* b,
                                     const GroupLanes& lanes) {
    const float* a = row_address<row>(bases, s);
    if constexpr (factor == Factor::broadcast) {
      const F32 one = broadcast(*a);
      RT_UNROLL
      for (int v = 0; v < vectors; ++v) sum.v[v] = fma(one, b[v], sum.v[v]);
    } else {
      RT_UNROLL
      for (int v = 0; v < vectors; ++v) {
        const F32 own = load(a + kLanes * v);
        sum.v[v] = fma(factor == Factor::lanewise ? own : lanes.of(own), b[v], sum.v[v]);
      }
    }
  }
  RT_INLINE static void multiply_add_group(Row& sum, const F32* a, const F32* b, const GroupLanes& lanes) {
    RT_UNROLL
    for (int v = 0; v < vectors; ++v) sum.v[v] = fma(lanes.of(a[v]), b[v], sum.v[v]);
  }
  // All that meet one factor a: row r with the first term of the run, row r - 1 with the second, and so on.
  template <int row>
  RT_INLINE static void multiply_add_run(Row* sum, const char* const* bases, const Steps& s, const F32 (*b)[vectors]) {
    asm volatile("" : : : "memory");  // one factor at a time: the compiler would load several early, and spill
    const F32 one = broadcast(*row_address<row>(bases, s));
    RT_UNROLL
    for (int i = row < positions ? 0 : row - positions + 1; i <= row && i < kContractionRun; ++i) {
      RT_UNROLL
      for (int v = 0; v < vectors; ++v) sum[row - i].v[v] = fma(one, b[i][v], sum[row - i].v[v]);
    }
#if HWY_TARGET == HWY_AVX3
    asm volatile("" : : "v"(one.r[0].raw));  // used to the end: a sum that moved to its register would be spilled
#endif
  }
  RT_INLINE static void clear(Row& sum) {
    RT_UNROLL
    for (int v = 0; v < vectors; ++v) set_zero(sum.v[v]);
  }
  RT_INLINE static void add_left(Row& sum, const float* left) {
    RT_UNROLL
    for (int v = 0; v < vectors; ++v) sum.v[v] = load(left + kLanes * v) + sum.v[v];
  }
  RT_INLINE static void add_zero(Row& sum) {
    RT_UNROLL
    for (int v = 0; v < vectors; ++v) sum.v[v] = sum.v[v] + F32(0.0f);
  }
  RT_INLINE static void put(const Row& sum, float* out) {
    RT_UNROLL
    for (int v = 0; v < vectors; ++v) store(sum.v[v], out + kLanes * v);
  }
  RT_INLINE static void put_part(const Row& sum, float* out, const Columns& columns) {
    RT_UNROLL
    for (int v = 0; v + 1 < vectors; ++v) store(sum.v[v], out + kLanes * v);
    columns.store_of(sum.v[vectors - 1], out + kLanes * (vectors - 1));
  }

  RT_INLINE static void add_terms(const ContractionTile& t, Row* sum) {
    Steps s{t.a_step * 4, t.a_step * 12, t.a_step * 20, t.a_step * 28};
    const ContractionTerm* const end = t.terms + t.term_count;
    for (const ContractionTerm* term = t.terms; term != end; ++term) {
      // Not invariant for the compiler: it would keep every multiple in a register of its own, and spill.
      asm("" : "+r"(s.one), "+r"(s.three), "+r"(s.five));
      const float* at = t.b + term->b;
      F32 b[vectors];
      load_all(at, b);
      if constexpr (vectors == 2 && factor == Factor::broadcast) {
        // Large panels of b come from beyond the first cache, and the hardware's prefetch stops at page ends.
        __builtin_prefetch(at + kPrefetch);
        __builtin_prefetch(at + kPrefetch + kLanes);
      }
      const int c = factor == Factor::grouped_by_term ? term->a & (t.group - 1) : 0;
      const GroupLanes lanes(t.group, c);
      const char* bases[4];
      bases[0] = reinterpret_cast<const char*>(t.a + term->a - c);
      if constexpr (positions > 7) bases[1] = bases[0] + s.seven;
      if constexpr (positions > 14) bases[2] = bases[1] + s.seven;
      if constexpr (positions > 21) bases[3] = bases[2] + s.seven;
      (multiply_add<rows>(sum[rows], bases, s, b, lanes), ...);
    }
  }

  template <int... inner>
  RT_INLINE static void add_runs(const ContractionTile& t, Row* sum, std::integer_sequence<int, inner...>) {
    const bool first = !t.lacks_first, last = !t.lacks_last;
    Steps s{t.a_step * 4, t.a_step * 12, t.a_step * 20, t.a_step * 28};
    const ContractionTerm* const end = t.terms + t.term_count;
    for (const ContractionTerm* term = t.terms; term != end; term += kContractionRun) {
      asm("" : "+r"(s.one), "+r"(s.three), "+r"(s.five));  // as in add_terms
      F32 b[kContractionRun][vectors];
      RT_UNROLL
      for (int i = 0; i < kContractionRun; ++i) load_all(t.b + term[i].b, b[i]);
      const char* bases[5];
      bases[0] = reinterpret_cast<const char*>(t.a + term->a);
      RT_UNROLL
      for (int i = 1; i < 5; ++i) bases[i] = bases[i - 1] + s.seven;
      if (first) multiply_add_run<0>(sum, bases, s, b);
      (multiply_add_run<inner + 1>(sum, bases, s, b), ...);
      if (last) multiply_add_run<positions + kContractionRun - 2>(sum, bases, s, b);
    }
  }

  RT_INLINE static void add_terms_by_row(const ContractionTile& t, Row* sum) {
    const GroupLanes lanes[] = {GroupLanes(positions, rows)...};
    const ContractionTerm* const end = t.terms + t.term_count;
    for (const ContractionTerm* term = t.terms; term != end; ++term) {
      F32 a[vectors], b[vectors];
      load_all(t.a + term->a, a);
      load_all(t.b + term->b, b);
      (multiply_add_group(sum[rows], a, b, lanes[rows]), ...);
    }
  }

  static void run(const ContractionTile& t) {
    Row sum[positions];
    (clear(sum[rows]), ...);
    if constexpr (factor == Factor::grouped_by_row)
      add_terms_by_row(t, sum);
    else if constexpr (factor == Factor::broadcast_run)
      add_runs(t, sum, std::make_integer_sequence<int, positions + kContractionRun - 3>());
    else
      add_terms(t, sum);
    finish(t, sum);
  }

  // Merges the partial sums and stores. Addresses go from row to row, which is less code than rows times a step.
  RT_INLINE static void finish(const ContractionTile& t, Row* sum) {
    const int64_t partial_step = t.partial_step, step = t.out_step;
    for (uint64_t merge = t.merge; merge != 0; merge &= merge - 1) {
      const float* left = t.partials + std::countr_zero(merge) * t.partial_level;
      ((add_left(sum[rows], left), left += partial_step), ...);
    }
    if (t.last) (add_zero(sum[rows]), ...);
    float* out = t.out;
    if (t.columns == kLanes * vectors) {
      ((put(sum[rows], out), out += step), ...);
    } else {
      const Columns columns(t.columns - kLanes * (vectors - 1));
      ((put_part(sum[rows], out, columns), out += step), ...);
    }
  }
};

// Row tap * channels + c of a sliding tile: each a serves all taps, and each vector of b all channels.
template <int taps, int channels, class Channels = std::make_integer_sequence<int, channels>>
struct SlidingTile;

template <int taps, int channels, int... cs>
struct SlidingTile<taps, channels, std::integer_sequence<int, cs...>> {
  using Whole = Tile<taps * channels, 1, Factor::broadcast>;

  template <int c, int first, int last>
  RT_INLINE static void multiply_add(typename Whole::Row* sum, const float* a, const F32* b) {
    const F32 one = broadcast(a[c]);
    RT_UNROLL
    for (int tap = first; tap <= last; ++tap) {
      F32& own = sum[tap * channels + c].v[0];
      own = fma(one, b[tap], own);
    }
  }

  RT_INLINE static void add_terms(const ContractionTile& t, typename Whole::Row* sum, const float* ahead) {
    const ContractionTerm* const end = t.terms + t.term_count;
    for (const ContractionTerm* term = t.terms; term != end; ++term, ahead += kLanes) {
      __builtin_prefetch(ahead);
      const F32 b = load(t.b + term->b);
      (multiply_add<cs, 0, 0>(sum, t.a + term->a, &b), ...);
    }
  }

  // Returns where to fetch from next.
  template <int first, int last>
  RT_INLINE static const float* add_run(const ContractionTile& t, const SlidingRun& run, typename Whole::Row* sum,
                                        const float* ahead) {
    const float *a = t.a + run.a, *from = t.b + run.b;
    for (int32_t i = 0; i < run.count; ++i, a += t.pixel, from += t.b_step, ahead += kLanes) {
      __builtin_prefetch(ahead);
      F32 b[taps];
      RT_UNROLL
      for (int tap = first; tap <= last; ++tap) b[tap] = load(from - t.b_step * tap);
      (multiply_add<cs, first, last>(sum, a, b), ...);
    }
    return ahead;
  }

  template <int first>
  RT_INLINE static const float* add_part(const ContractionTile& t, const SlidingRun& run, typename Whole::Row* sum,
                                         const float* ahead) {
    if constexpr (first + 2 < taps)
      if (run.last == first + 2) return add_run<first, first + 2>(t, run, sum, ahead);
    if constexpr (first + 1 < taps)
      if (run.last == first + 1) return add_run<first, first + 1>(t, run, sum, ahead);
    return add_run<first, first>(t, run, sum, ahead);
  }

  static void run(const ContractionTile& t) {
    typename Whole::Row sum[taps * channels];
    RT_UNROLL
    for (int row = 0; row < taps * channels; ++row) Whole::clear(sum[row]);
    const float* ahead = t.ahead == nullptr ? t.a : t.ahead;
    if constexpr (taps == 1)
      add_terms(t, sum, ahead);
    else
      for (const SlidingRun *run = t.runs, *end = run + t.run_count; run != end; ++run)
        ahead = run->first == 0   ? add_part<0>(t, *run, sum, ahead)
                : run->first == 1 ? add_part<1>(t, *run, sum, ahead)
                                  : add_part<taps - 1>(t, *run, sum, ahead);
    Whole::finish(t, sum);
  }
};

void list_terms(ContractionTerm first, ContractionTerm step, int64_t count, ContractionTerm* to) {
#if RT_SIMD_SCALAR
  for (int64_t i = 0; i < count; ++i, first.a += step.a, first.b += step.b) to[i] = first;
#else
  static constexpr int32_t kIndex[kLanes] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
  const auto pairs = [](ContractionTerm term) {
    const hn::Repartition<int64_t, TagI> wide;
    I32 v;
    RT_EACH(i) v.r[i] = hn::BitCast(TagI(), hn::Set(wide, std::bit_cast<int64_t>(term)));
    return v;
  };
  const I32 steps = pairs(step), eight = steps * I32(8);
  I32 terms = pairs(first) + steps * load_int(kIndex);
  for (int64_t i = 0; i < count; i += 8, terms = terms + eight) store_int(terms, reinterpret_cast<int32_t*>(to + i));
#endif
}

void copy_vectors(const float* from, int64_t from_step, float* to, int64_t to_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) store(load(from + i * from_step), to + i * to_step);
}

// Zero times what is infinite or NaN is NaN, and stays in the sum.
bool has_nonfinite(const float* x, int64_t count) {
  constexpr int chains = 4;
  const F32 zero(0.0f);
  F32 sum[chains] = {zero, zero, zero, zero};
  int64_t i = 0;
  for (; i + chains * kLanes <= count; i += chains * kLanes) {
    RT_UNROLL
    for (int c = 0; c < chains; ++c) sum[c] = fma(load(x + i + c * kLanes), zero, sum[c]);
  }
  for (; i < count; i += kLanes) {
    const int64_t left = count - i;
    sum[0] = fma(left < kLanes ? load_part(x + i, static_cast<int>(left)) : load(x + i), zero, sum[0]);
  }
  const F32 all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  return any(not_equal(all, all));
}

#if !RT_SIMD_SCALAR
void interleave_three(const float* from, int64_t from_step, float* to, int64_t columns) {
  int64_t c = 0;
  for (; c + kRegisterLanes <= columns; c += kRegisterLanes) {
    const float* p = from + c;
    hn::StoreInterleaved3(hn::LoadU(TagF(), p), hn::LoadU(TagF(), p + from_step), hn::LoadU(TagF(), p + 2 * from_step),
                          TagF(), to + 3 * c);
  }
  for (; c < columns; ++c)
    for (int64_t r = 0; r < 3; ++r) to[3 * c + r] = from[r * from_step + c];
}

// Four numbers of each of two rows where a register holds eight, else of the first.
template <class D>
RT_INLINE hn::Vec<D> load_two_rows(D d, const float* low, int64_t high) {
  const hn::CappedTag<float, 4> four;
  if constexpr (hn::MaxLanes(D()) == 8)
    return hn::Combine(d, hn::LoadU(four, low + high), hn::LoadU(four, low));
  else
    return hn::LoadU(d, low);
}

// Four columns of `Lanes(d)` rows, 4 or 8: four rows and, in the upper half of the registers, the four behind them.
template <class D>
RT_INLINE void transpose_four_columns(D d, const float* p, int64_t from_step, float* q, int64_t to_step) {
  const hn::RepartitionToWide<D> two;
  const int64_t high = 4 * from_step;
  const auto x0 = load_two_rows(d, p, high);
  const auto x1 = load_two_rows(d, p + from_step, high);
  const auto x2 = load_two_rows(d, p + 2 * from_step, high);
  const auto x3 = load_two_rows(d, p + 3 * from_step, high);
  const auto a = hn::BitCast(two, hn::InterleaveLower(d, x0, x1)), b = hn::BitCast(two, hn::InterleaveLower(d, x2, x3));
  const auto e = hn::BitCast(two, hn::InterleaveUpper(d, x0, x1)), f = hn::BitCast(two, hn::InterleaveUpper(d, x2, x3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(two, a, b)), d, q);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(two, a, b)), d, q + to_step);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(two, e, f)), d, q + 2 * to_step);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(two, e, f)), d, q + 3 * to_step);
}

// Rows r and up, as many as `lanes` at a time; returns the first that is left.
template <class D>
RT_INLINE int64_t transpose_rows(D d, int64_t r, const float* from, int64_t from_step, float* to, int64_t to_step,
                                 int64_t rows, int64_t columns) {
  const auto lanes = static_cast<int64_t>(hn::MaxLanes(D()));
  for (; r + lanes <= rows; r += lanes) {
    int64_t c = 0;
    for (; c + 4 <= columns; c += 4)
      transpose_four_columns(d, from + r * from_step + c, from_step, to + c * to_step + r, to_step);
    for (; c < columns; ++c)
      for (int64_t i = r; i < r + lanes; ++i) to[c * to_step + i] = from[i * from_step + c];
  }
  return r;
}
#endif

void transpose(const float* from, int64_t from_step, float* to, int64_t to_step, int64_t rows, int64_t columns) {
  int64_t r = 0;
#if !RT_SIMD_SCALAR
  r = transpose_rows(hn::CappedTag<float, 8>(), r, from, from_step, to, to_step, rows, columns);
  r = transpose_rows(hn::CappedTag<float, 4>(), r, from, from_step, to, to_step, rows, columns);
  if (rows == 3 && to_step == 3) return interleave_three(from, from_step, to, columns);
#endif
  for (; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) to[c * to_step + r] = from[r * from_step + c];
}

#if !RT_SIMD_SCALAR
// Groups of as many inputs as outputs that do not straddle a register: one look-up makes a register of lanes.
bool repeat_by_lookup(const RepeatChannels& r, const float* from, float* to) {
  if (r.in_group != r.out_group || kRegisterLanes % r.out_group != 0 || r.channels % kRegisterLanes != 0) return false;
  RawI index[kLanes];
  for (int c = 0; c < r.in_group; ++c) {
    alignas(64) int32_t lane[kRegisterLanes];
    for (int i = 0; i < kRegisterLanes; ++i) lane[i] = static_cast<int32_t>(i / r.out_group * r.out_group + c);
    index[c] = hn::Load(TagI(), lane);
  }
  for (int64_t x = 0; x < r.width; ++x, from += r.channels, to += r.in_group * r.lanes)
    for (int64_t first = 0; first < r.channels; first += kRegisterLanes) {
      const RawF v = hn::LoadU(TagF(), from + first);
      for (int c = 0; c < r.in_group; ++c)
        hn::StoreU(hn::TableLookupLanes(v, hn::IndicesFromVec(TagF(), index[c])), TagF(), to + c * r.lanes + first);
    }
  return true;
}
#endif

void repeat_channels(const RepeatChannels& r, const float* from, float* to) {
#if !RT_SIMD_SCALAR
  if (repeat_by_lookup(r, from, to)) return;
#endif
  for (int64_t x = 0; x < r.width; ++x, from += r.channels)
    for (int64_t c = 0; c < r.in_group; ++c, to += r.lanes) {
      const float* channel = from + c;
      // Each store spills over the lanes of the next group, which are written next.
      for (int64_t lane = 0; lane < r.out_channels; lane += r.out_group, channel += r.in_group)
        store(F32(*channel), to + lane);
    }
}

void tree_sum(const float* from, int64_t step, int64_t pieces, const int64_t* first, float* to, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int lanes = static_cast<int>(count - i < kLanes ? count - i : kLanes);
    F32 level[64];
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const float* p = from + piece * step + i;
      F32 sum = lanes == kLanes ? load(p) : load_part(p, lanes);
      uint64_t merge = static_cast<uint64_t>(first ? first[piece] : piece);
      if (piece + 1 < pieces) {
        int l = first ? std::countr_zero(static_cast<uint64_t>(first[piece + 1] - first[piece])) : 0;
        for (merge >>= l; merge & 1; merge >>= 1) sum = level[l++] + sum;
        level[l] = sum;
      } else {
        for (; merge != 0; merge &= merge - 1) sum = level[std::countr_zero(merge)] + sum;
        Columns(lanes).store_of(sum + F32(0.0f), to + i);
      }
    }
  }
}

template <int vectors, Factor factor, int... index>
constexpr void fill(ContractionKernels::Function* to, std::integer_sequence<int, index...>) {
  ((to[index + 1] = Tile<index + 1, vectors, factor>::run), ...);
}

template <int vectors>
constexpr void fill(ContractionKernels& k) {
  constexpr int most = most_positions(vectors);
  constexpr std::make_integer_sequence<int, most> positions;
  k.most_positions[vectors] = most;
  fill<vectors, Factor::broadcast>(k.broadcast[vectors], positions);
  fill<vectors, Factor::lanewise>(k.lanewise[vectors], positions);
  k.most_run_positions[vectors] = most_run_positions(vectors);
  fill<vectors, Factor::broadcast_run>(k.broadcast_run[vectors],
                                       std::make_integer_sequence<int, most_run_positions(vectors)>());
  if constexpr (!RT_SIMD_SCALAR) {
    fill<vectors, Factor::grouped_by_term>(k.grouped_by_term[vectors], positions);
    // Two rows are too few to hide the latency of a multiply-add.
    if constexpr (most >= 4) k.grouped_by_row[vectors][4] = Tile<4, vectors, Factor::grouped_by_row>::run;
    if constexpr (most >= 8) k.grouped_by_row[vectors][8] = Tile<8, vectors, Factor::grouped_by_row>::run;
  }
}

// Channels of a sliding tile of so many taps; with few registers there is none.
constexpr int most_sliding(int taps) { return kVectorRegisters < 32 || RT_SANITIZED ? 0 : 28 / taps; }

template <int taps, int... index>
constexpr void fill_sliding(ContractionKernels& k, std::integer_sequence<int, index...>) {
  k.most_sliding[taps] = most_sliding(taps);
  ((k.sliding[taps][index + 1] = SlidingTile<taps, index + 1>::run), ...);
}

constexpr ContractionKernels make_kernels() {
  ContractionKernels k{};
  fill<1>(k);
  fill<2>(k);
  fill_sliding<1>(k, std::make_integer_sequence<int, most_sliding(1)>());
  fill_sliding<2>(k, std::make_integer_sequence<int, most_sliding(2)>());
  fill_sliding<3>(k, std::make_integer_sequence<int, most_sliding(3)>());
  k.most_group = RT_SIMD_SCALAR ? 1 : kRegisterLanes < 8 ? kRegisterLanes : 8;
  k.list_terms = list_terms;
  k.copy_vectors = copy_vectors;
  k.has_nonfinite = has_nonfinite;
  k.transpose = transpose;
  k.repeat_channels = repeat_channels;
  k.tree_sum = tree_sum;
  return k;
}

const ContractionKernels* kernels_of_target() {
  static constexpr ContractionKernels kernels = make_kernels();
  return &kernels;
}

RT_TARGET_END

#if HWY_ONCE
namespace retrace {
namespace {
RT_EXPORT_KERNEL(contraction_kernel_table, kernels_of_target);
}

const ContractionKernels& contraction_kernels() { return *contraction_kernel_table.get()(); }

void contract(ContractionKernels::Function kernel, ContractionTile& tile, const ContractionBlocks& blocks,
              int64_t first, int64_t last, int positions, int vectors) {
  const int64_t width = 16 * vectors, level = width * positions;
  float* const partials = static_cast<float*>(thread_scratch(0, kContractionPartialBytes));
  float* const out = tile.out;
  const int64_t out_step = tile.out_step;
  const int columns = tile.columns;
  tile.partials = partials, tile.partial_level = level, tile.partial_step = width;
  for (int64_t block = 0; block < blocks.blocks; ++block) {
    const int64_t begin = std::max<int64_t>(first, block == 0 ? 0 : blocks.ends[block - 1]);
    const int64_t end = std::min<int64_t>(last, blocks.ends[block]);
    tile.terms = blocks.terms + begin;
    tile.term_count = std::max<int64_t>(0, end - begin);
    tile.merge = merges_after(block, blocks.blocks);
    tile.last = block + 1 == blocks.blocks;
    tile.out = tile.last ? out : partials + level * std::popcount(tile.merge);
    tile.out_step = tile.last ? out_step : width;
    tile.columns = tile.last ? columns : static_cast<int>(width);
    kernel(tile);
  }
  tile.out = out, tile.out_step = out_step, tile.columns = columns;
}

void* thread_scratch(int slot, size_t bytes) {
  struct Free {
    void operator()(void* data) const { std::free(data); }
  };
  struct Buffer {
    std::unique_ptr<void, Free> data;
    size_t bytes = 0;
  };
  thread_local Buffer buffers[4];
  Buffer& buffer = buffers[slot];
  if (buffer.bytes < bytes) {
    const size_t rounded = (bytes + 4095) / 4096 * 4096;
    buffer.data.reset();
    buffer.bytes = 0;
    buffer.data.reset(std::aligned_alloc(64, rounded));
    if (!buffer.data) throw std::bad_alloc();
    buffer.bytes = rounded;
  }
  return buffer.data.get();
}
}  // namespace retrace
#endif
