#include <algorithm>

#include "retrace/device/cpu/threads.h"
#include "retrace/ops/max/find_maximum.h"

namespace retrace {

extern const KernelTable<void (*)(const float*, int64_t, int64_t, int64_t, float*)> row_maxima_table;
extern const KernelTable<void (*)(const float*, const float*, int64_t, int64_t, int64_t, int64_t, float*)>
    column_maxima_table;

namespace {

constexpr int64_t kPieceOfMaxima = 16384;  // elements

// Whether number a replaces b, which stands in front of it: only by being larger, or a NaN a number.
bool replaces(float a, float b) { return !(a <= b) && b == b; }

class MaximaWriter {
 public:
  MaximaWriter(const KernelInput& input, const ReduceShape& shape, float* y)
      : shape_(shape),
        x_(static_cast<const float*>(input.data)),
        end_(x_ + input.spec->count()),
        y_(y),
        even_(shape.outer_dimensions.count <= 1),
        distance_(shape.outer > 1 ? shape.outer_offset(1) : 0),
        run_(std::max<int64_t>(64, kPieceOfMaxima / shape.channels)),
        runs_((shape.positions + run_ - 1) / run_) {}

  void write() const {
    if (runs_ > 1) return by_runs();
    const int64_t batch = std::max<int64_t>(1, kPieceOfMaxima / (shape_.positions * shape_.channels));
    run_pieces((shape_.outer + batch - 1) / batch, [&](int64_t piece) {
      const int64_t first = piece * batch, count = std::min(shape_.outer - first, batch);
      if (even_) return find(x_ + shape_.outer_offset(first), count, shape_.positions, y_ + first * shape_.channels);
      for (int64_t o = first; o < first + count; ++o)
        find(x_ + shape_.outer_offset(o), 1, shape_.positions, y_ + o * shape_.channels);
    });
  }

 private:
  void find(const float* from, int64_t outer, int64_t positions, float* to) const {
    if (shape_.by_column)
      column_maxima_table.get()(from, end_, outer, distance_, positions, shape_.channels, to);
    else
      row_maxima_table.get()(from, distance_, outer, positions, to);
  }

  // Few results of many positions: these are cut into runs, which all threads share.
  void by_runs() const {
    const int64_t results = shape_.outer * shape_.channels;
    std::vector<float> parts(static_cast<size_t>(results * runs_));
    run_pieces(shape_.outer * runs_, [&](int64_t piece) {
      const int64_t first = piece % runs_ * run_;
      find(x_ + shape_.outer_offset(piece / runs_) + first * shape_.channels, 1,
           std::min(run_, shape_.positions - first), parts.data() + piece * shape_.channels);
    });
    for (int64_t k = 0; k < results; ++k) {
      const float* part = parts.data() + k / shape_.channels * runs_ * shape_.channels + k % shape_.channels;
      float best = *part;
      for (int64_t run = 1; run < runs_; ++run)
        if (part += shape_.channels; replaces(*part, best)) best = *part;
      y_[k] = best;
    }
  }

  const ReduceShape& shape_;
  const float* x_;
  const float* end_;
  float* y_;
  bool even_;  // outer elements lie `distance_` apart
  int64_t distance_;
  int64_t run_, runs_;  // positions of a run, and how many runs
};

}  // namespace

bool write_maxima(const KernelInput& x, const Shape& axes, void* y) {
  const ReduceShape shape(x.spec->shape, axes);
  if (x.spec->type != DType::f32 || !shape.contiguous_positions()) return false;
  if (shape.outer * shape.channels > 0) MaximaWriter(x, shape, static_cast<float*>(y)).write();
  return true;
}

}  // namespace retrace
