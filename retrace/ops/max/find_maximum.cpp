#include "retrace/ops/max/find_maximum.h"

#include <algorithm>

#include "retrace/device/cpu/threads.h"

namespace retrace {

extern const KernelTable<void (*)(const float*, const float*, int64_t, int64_t, int32_t*)> find_column_maxima_table;
extern const KernelTable<void (*)(const float*, int64_t, int64_t, int64_t, int32_t*)> find_row_maxima_table;

namespace {

constexpr int64_t kFindMaximumPieceElements = 16384;

template <class T>
void plain_search(const KernelInput& x, const Shape& axes, std::vector<int32_t>& found) {
  const T* values = static_cast<const T*>(x.data);
  std::vector<T> best(found.size());
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

// f32 whose reduced positions lie without gaps: each kept element's positions are cut into runs, which all threads
// share.
class VectorSearch {
 public:
  VectorSearch(const KernelInput& input, const ReduceShape& shape)
      : shape_(shape),
        x_(static_cast<const float*>(input.data)),
        end_(x_ + input.spec->count()),
        run_(std::max<int64_t>(64, kFindMaximumPieceElements / shape.channels)),
        runs_((shape.positions + run_ - 1) / run_) {}

  void compute(std::vector<int32_t>& found) {
    if (runs_ == 1) return whole(found.data());
    std::vector<int32_t> parts(found.size() * static_cast<size_t>(runs_));
    run_pieces(shape_.outer * runs_, [&](int64_t piece) {
      const int64_t first = piece % runs_ * run_;
      search(x_ + shape_.outer_offset(piece / runs_) + first * shape_.channels, 0, 1,
             std::min(run_, shape_.positions - first), parts.data() + piece * shape_.channels);
    });
    for (size_t kept = 0; kept < found.size(); ++kept) found[kept] = best_of_runs(static_cast<int64_t>(kept), parts);
  }

 private:
  void search(const float* from, int64_t distance, int64_t rows, int64_t positions, int32_t* to) const {
    if (shape_.by_column)
      find_column_maxima_table.get()(from, end_, positions, shape_.channels, to);
    else
      find_row_maxima_table.get()(from, distance, rows, positions, to);
  }

  void whole(int32_t* found) const {
    const int64_t batch = std::max<int64_t>(1, kFindMaximumPieceElements / (shape_.positions * shape_.channels));
    const bool even = !shape_.by_column && shape_.outer_dimensions.count <= 1;
    run_pieces((shape_.outer + batch - 1) / batch, [&](int64_t piece) {
      const int64_t first = piece * batch, last = std::min(shape_.outer, first + batch);
      if (even)
        return search(x_ + shape_.outer_offset(first), shape_.outer_offset(first + 1) - shape_.outer_offset(first),
                      last - first, shape_.positions, found + first);
      for (int64_t o = first; o < last; ++o)
        search(x_ + shape_.outer_offset(o), 0, 1, shape_.positions, found + o * shape_.channels);
    });
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
};

}  // namespace

std::vector<int32_t> find_maxima(const KernelInput& x, const Shape& axes) {
  const ReduceShape shape(x.spec->shape, axes);
  std::vector<int32_t> found(static_cast<size_t>(shape.outer * shape.channels));
  if (found.empty()) return found;
  switch (x.spec->type) {
    case DType::f32:
      if (shape.contiguous_positions())
        VectorSearch(x, shape).compute(found);
      else
        plain_search<float>(x, axes, found);
      break;
    case DType::f64: plain_search<double>(x, axes, found); break;
    case DType::i32: plain_search<int32_t>(x, axes, found); break;
    case DType::i64: plain_search<int64_t>(x, axes, found); break;
    case DType::bf16:
    case DType::f16: break;  // record() brings them to f32
    case DType::u8:
    case DType::boolean: plain_search<uint8_t>(x, axes, found); break;
  }
  return found;
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
