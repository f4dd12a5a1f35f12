#include "retrace/ops/max/find_maximum.h"

#include <algorithm>

#include "retrace/device/cpu/threads.h"

namespace retrace {

extern const KernelTable<void (*)(const float*, const float*, int64_t, int64_t, int64_t, int32_t*)>
    find_column_maxima_table;
extern const KernelTable<void (*)(const float*, int64_t, int64_t, int64_t, int32_t*)> find_row_maxima_table;
extern const KernelTable<void (*)(const int32_t*, int64_t, int64_t, int64_t, uint8_t*)> mark_columns_table;

namespace {

constexpr int64_t kFindMaximumPieceElements = 16384, kColumns = 64;

template <class T>
void plain_search(const KernelInput& x, const Shape& axes, size_t count, int32_t* found) {
  const T* values = static_cast<const T*>(x.data);
  std::vector<T> best(count);
  for_each_reduced(x.spec->shape, axes, [&](int64_t i, int64_t kept, int64_t reduced) {
    const auto k = static_cast<size_t>(kept);
    const T v = values[i], old = best[k];
    if (reduced > 0 && !(v > old || (v != v && old == old))) return;
    best[k] = v;
    found[k] = static_cast<int32_t>(reduced);
  });
}

// Whether element a comes before b, which stands in front of it: only by being larger, or a NaN before a number.
bool goes_before(float a, float b) { return !(a <= b) && b == b; }

// f32 whose reduced positions lie without gaps. Kept elements are cut into parts, or each one's positions into runs;
// all threads share them.
class VectorSearch {
 public:
  VectorSearch(const KernelInput& input, const ReduceShape& shape)
      : shape_(shape),
        x_(static_cast<const float*>(input.data)),
        end_(x_ + input.spec->count()),
        run_(std::max<int64_t>(64, kFindMaximumPieceElements / shape.channels)),
        runs_((shape.positions + run_ - 1) / run_),
        even_(!shape.by_column && shape.outer_dimensions.count <= 1) {}

  bool by_runs() const { return runs_ > 1; }

  void compute(int32_t* found) const {
    if (by_runs()) return compute_by_runs(found);
    for_each_part([&](const Part& part) { search(part, found + part.first * shape_.channels + part.channel); });
  }

  // Not by runs.
  void mark(uint8_t* mask) const {
    for_each_part([&](const Part& part) {
      thread_local std::vector<int32_t> found;
      found.resize(static_cast<size_t>((part.last - part.first) * part.channels));
      search(part, found.data());
      for (int64_t o = part.first; o < part.last; ++o)
        mark_columns_table.get()(found.data() + (o - part.first) * part.channels, shape_.positions, shape_.channels,
                                 part.channels, mask + shape_.outer_offset(o) + part.channel);
    });
  }

 private:
  // Some channels of some outer elements; all channels where these are several.
  struct Part {
    int64_t first, last, channel, channels;
  };

  template <class F>
  void for_each_part(F f) const {
    const int64_t wide = std::max(kColumns, kFindMaximumPieceElements / shape_.positions / kColumns * kColumns);
    const int64_t parts = (shape_.channels + wide - 1) / wide;
    const int64_t batch = std::max<int64_t>(1, kFindMaximumPieceElements / (shape_.positions * shape_.channels));
    run_pieces((shape_.outer + batch - 1) / batch * parts, [&](int64_t piece) {
      const int64_t first = piece / parts * batch, channel = piece % parts * wide;
      f(Part{first, std::min(shape_.outer, first + batch), channel, std::min(wide, shape_.channels - channel)});
    });
  }

  void search(const Part& part, int32_t* to) const {
    const float* const from = x_ + shape_.outer_offset(part.first);
    if (even_) {
      const int64_t distance = shape_.outer_offset(part.first + 1) - shape_.outer_offset(part.first);
      return find_row_maxima_table.get()(from, distance, part.last - part.first, shape_.positions, to);
    }
    for (int64_t o = part.first; o < part.last; ++o, to += part.channels)
      search_one(x_ + shape_.outer_offset(o) + part.channel, shape_.positions, part.channels, to);
  }
  void search_one(const float* from, int64_t positions, int64_t channels, int32_t* to) const {
    if (shape_.by_column)
      find_column_maxima_table.get()(from, end_, positions, shape_.channels, channels, to);
    else
      find_row_maxima_table.get()(from, 0, 1, positions, to);
  }

  void compute_by_runs(int32_t* found) const {
    const int64_t count = shape_.outer * shape_.channels;
    std::vector<int32_t> parts(static_cast<size_t>(count * runs_));
    run_pieces(shape_.outer * runs_, [&](int64_t piece) {
      const int64_t first = piece % runs_ * run_;
      search_one(x_ + shape_.outer_offset(piece / runs_) + first * shape_.channels,
                 std::min(run_, shape_.positions - first), shape_.channels, parts.data() + piece * shape_.channels);
    });
    for (int64_t kept = 0; kept < count; ++kept) found[kept] = best_of_runs(kept, parts);
  }

  int32_t best_of_runs(int64_t kept, const std::vector<int32_t>& parts) const {
    const int64_t o = kept / shape_.channels, c = kept % shape_.channels;
    const float* from = x_ + shape_.outer_offset(o) + c;
    int64_t best = 0;
    for (int64_t run = 0; run < runs_; ++run) {
      const int64_t at = run * run_ + parts[static_cast<size_t>((o * runs_ + run) * shape_.channels + c)];
      if (run == 0 || goes_before(from[at * shape_.channels], from[best * shape_.channels])) best = at;
    }
    return static_cast<int32_t>(best);
  }

  const ReduceShape& shape_;
  const float* x_;
  const float* end_;
  int64_t run_, runs_;  // positions of a run, and how many runs
  bool even_;           // rows lie a distance apart
};

}  // namespace

void find_maxima(const KernelInput& x, const Shape& axes, int32_t* found) {
  const ReduceShape shape(x.spec->shape, axes);
  const auto count = static_cast<size_t>(shape.outer * shape.channels);
  if (count == 0) return;
  switch (x.spec->type) {
    case DType::f32:
      if (shape.contiguous_positions()) return VectorSearch(x, shape).compute(found);
      return plain_search<float>(x, axes, count, found);
    case DType::f64: return plain_search<double>(x, axes, count, found);
    case DType::i32: return plain_search<int32_t>(x, axes, count, found);
    case DType::i64: return plain_search<int64_t>(x, axes, count, found);
    case DType::bf16:
    case DType::f16: return;  // record() brings them to f32
    case DType::u8:
    case DType::boolean: return plain_search<uint8_t>(x, axes, count, found);
  }
}

void for_each_maximum(const KernelInput& x, const Shape& axes, FunctionRef<void(int64_t kept, int64_t i)> f) {
  constexpr int64_t kPiece = 4096;
  const ReduceShape shape(x.spec->shape, axes);
  const int64_t count = shape.outer * shape.channels;
  std::vector<int32_t> found(static_cast<size_t>(count));
  find_maxima(x, axes, found.data());
  run_pieces((count + kPiece - 1) / kPiece, [&](int64_t piece) {
    for (int64_t kept = piece * kPiece; kept < std::min(count, (piece + 1) * kPiece); ++kept)
      f(kept, shape.element(kept, found[static_cast<size_t>(kept)]));
  });
}

void mark_maxima(const KernelInput& x, const Shape& axes, uint8_t* mask) {
  const ReduceShape shape(x.spec->shape, axes);
  if (x.spec->type == DType::f32 && shape.contiguous_positions() && shape.outer * shape.channels > 0)
    if (const VectorSearch search(x, shape); !search.by_runs()) return search.mark(mask);
  std::fill_n(mask, x.spec->count(), uint8_t{0});
  for_each_maximum(x, axes, [&](int64_t, int64_t i) { mask[i] = 1; });
}

void check_search(const InferCall& call) {
  const auto& x = call.inputs[0];
  const int64_t count = reduced_count(x.shape, call.attributes.list("axes"));
  if (count < 1)
    op_error(call, 138, "there is no largest of no elements", x.text(), "at least one element along the reduced axes");
  if (count > INT32_MAX)
    op_error(call, 144, fmt::format("{} elements are too many to number", count), x.text(), "fewer than 2^31");
}

void check_smallest(const Tensor& x, const Shape& axes, std::string_view function, Place place) {
  if (reduced_count(x.shape(), axes) < 1)
    throw Error(ErrorKind::usage, 138, fmt::format("{}: there is no smallest of no elements", function))
        .where(place)
        .got(x.spec().text())
        .expected("at least one element along the reduced axes");
}

}  // namespace retrace
