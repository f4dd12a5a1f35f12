// For chains of rules (rule_chain.h): numbers of which each stands for a row of elements, read where they lie.
#if defined(RETRACE_OPS_RULE_ROWS_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RETRACE_OPS_RULE_ROWS_H
#undef RETRACE_OPS_RULE_ROWS_H
#else
#define RETRACE_OPS_RULE_ROWS_H
#endif

#include "retrace/device/cpu/simd.h"
#include "retrace/ops/rule_chain.h"

RT_TARGET_BEGIN

// Where a batch of elements is among the rows.
struct RowPlace {
  int64_t inside = 0;  // of its first element, in its row
  int64_t row = 0;     // of that element, counted from the first of the call

  RT_INLINE void begin(const ChainRows& rows, int64_t at) {
    inside = (rows.inside + at) % rows.length;
    row = (rows.inside + at) / rows.length;
  }
  RT_INLINE void advance(const ChainRows& rows, int64_t count) {
    const int64_t passed = rows.row_of[inside + count];
    row += passed;
    inside += count - passed * rows.length;
  }
};

// The numbers of all rows that a batch meets, in registers.
class RowNumbers {
 public:
  RT_INLINE RowNumbers(const float* from, const ChainRows& rows, const RowPlace& place)
      : row_of_(rows.row_of + place.inside) {
    for (int i = 0; i < kTables; ++i) table_[i] = load_register(from + place.row + i * kRegisterLanes);
  }

  // Those of elements at..at+15 of the batch.
  RT_INLINE F32 operator()(int at) const {
    F32 made;
    RT_EACH(i) made.r[i] = look_up(row_of_ + at + i * kRegisterLanes);
    return made;
  }

 private:
#if RT_SIMD_SCALAR
  static constexpr int kTables = 2;
  static RT_INLINE RawF load_register(const float* from) { return detail::floats_at(from); }
  RT_INLINE RawF look_up(const uint8_t* row) const { return RawF{at(row[0]), at(row[1]), at(row[2]), at(row[3])}; }
  RT_INLINE float at(uint8_t row) const { return table_[row / kRegisterLanes][row % kRegisterLanes]; }
#else
  static constexpr int kTables = kRegisterLanes == 4 ? 2 : 1;
  static_assert(kTables * kRegisterLanes <= kReadAhead);
  static RT_INLINE RawF load_register(const float* from) { return hn::LoadU(TagF(), from); }
  RT_INLINE RawF look_up(const uint8_t* row) const {
    const TagI d;
    const auto index = hn::PromoteTo(d, hn::LoadU(hn::Rebind<uint8_t, TagI>(), row));
    if constexpr (kTables == 1) return in_table(0, index);
    const auto last = hn::Set(d, kRegisterLanes - 1);
    const auto inner = hn::And(index, last);
    return hn::IfThenElse(hn::RebindMask(TagF(), hn::Gt(index, last)), in_table(kTables - 1, inner),
                          in_table(0, inner));
  }
  RT_INLINE RawF in_table(int table, RawI index) const {
    return hn::TableLookupLanes(table_[table], hn::IndicesFromVec(TagF(), index));
  }
#endif

  RawF table_[kTables];
  const uint8_t* row_of_;
};

RT_TARGET_END

#endif
