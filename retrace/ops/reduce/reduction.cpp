#include "retrace/ops/reduce/reduction.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "retrace/base/range.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/ops/reshape/reshape.h"

namespace retrace {
namespace {

// Elements of a run: 64 KiB, which stays in the second-level cache.
constexpr int64_t kRunElements = 16384;
// Of one that is made or brought together before it is read: 16 KiB beside what it is made of, in the first-level
// cache.
constexpr int64_t kMadeElements = 4096;
// Channels of one piece where all of x lies in memory.
constexpr int64_t kChunkChannels = 256;
// Elements of a piece of short rows or columns that lie in memory, at most, and pieces of each thread where there are
// so many elements: between pieces the processor asks for no memory ahead.
constexpr int64_t kBatchElements = 65'536, kFewestBatches = 8;
constexpr int64_t kPadding = 16;
constexpr int64_t kMostCopied = 128;  // elements of a segment that is copied by vectors

// How a reduction is cut. Any cut gives the same bits: runs are aligned subtrees.
struct ReductionCut {
  ReductionCut(const ReduceShape& shape, const ReduceKernels& kernels, bool whole_positions)
      : width(whole_positions ? shape.channels : std::min(shape.channels, kChunkChannels)),
        chunks(width == 0 ? 0 : divide_up(shape.channels, width)) {
    const int64_t most = whole_positions ? kMadeElements : kRunElements;
    const int64_t items = most / (kernels.item * std::max<int64_t>(width, 1));
    run_positions =
        kernels.item * static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(items, 1))));
    runs = std::max<int64_t>(1, divide_up(shape.positions, run_positions));
    slot = kernels.slot_size(width);
    const int64_t elements = std::max<int64_t>(1, shape.positions * shape.channels);
    if (runs > 1 || chunks > 1) return;
    const int64_t share = whole_positions ? 0 : divide_up(shape.outer, thread_count() * kFewestBatches);
    batch = std::max<int64_t>(1, std::clamp(share, most / elements, kBatchElements / elements));
  }
  int64_t width, chunks;                // channels of a piece, and how many such
  int64_t run_positions = 0, runs = 0;  // per o and chunk
  int64_t slot = 0;                     // floats
  int64_t batch = 1;                    // neighbours o that one piece computes
};

bool needs_buffer(const KernelCall& call, const ReduceShape& shape) {
  return call.source != nullptr || !shape.contiguous_positions();
}

std::vector<float>& buffer_of_thread(size_t which, int64_t floats) {
  thread_local std::array<std::vector<float>, 2> buffers;
  auto& buffer = buffers[which];
  if (buffer.size() < static_cast<size_t>(floats)) buffer.resize(static_cast<size_t>(floats));
  return buffer;
}

// Gives the kernels memory that they can read.
class ReductionReader {
 public:
  template <class X>
  struct Part {
    X x;
    const float* end;  // x, or x.a, may be read up to here
  };
  ReductionReader(const KernelCall& call, const ReduceShape& shape, const ReduceKernels& kernels)
      : shape_(shape),
        source_(call.source),
        factors_(kernels.products && shape.contiguous() ? dynamic_cast<const FactorSource*>(call.source) : nullptr),
        data_(static_cast<const float*>(call.inputs[0].data)),
        count_(call.inputs[0].spec->count()),
        direct_(!needs_buffer(call, shape)) {}

  // All channels of `count` positions of o, then those of the following o (only where `neighbours` > 1).
  Part<const float*> read(int64_t o, int64_t position, int64_t count, int64_t neighbours) const {
    const int64_t step = shape_.positions * shape_.channels;
    if (direct_) return {data_ + shape_.outer_offset(o) + position * shape_.channels, data_ + count_};
    auto& buffer = buffer_of_thread(0, count * neighbours * shape_.channels + kPadding);
    if (shape_.contiguous()) {
      load(shape_.outer_offset(o) + position * shape_.channels, count * neighbours * shape_.channels, buffer.data());
    } else {
      for (int64_t n = 0; n < neighbours; ++n) gather(o + n, position, count, buffer.data() + n * step);
    }
    return {buffer.data(), buffer.data() + buffer.size()};
  }
  // The same of factors, for read_factors().
  bool has_factors() const { return factors_ != nullptr; }
  Part<Factors> read_factors(int64_t o, int64_t position, int64_t count, int64_t neighbours) const {
    const int64_t begin = shape_.outer_offset(o) + position * shape_.channels;
    const int64_t elements = count * neighbours * shape_.channels;
    auto& buffer = buffer_of_thread(0, elements + kPadding);
    const Factors x = factors_->factors(begin, elements, buffer.data());
    return {x, x.a + std::min(elements + kPadding, count_ - begin)};
  }
  // Reduces `count` positions of o where they lie in even segments, without a copy; false: it does not.
  bool reduce_segments(const ReduceKernels& kernels, int64_t o, int64_t position, int64_t count, float* slot) const {
    if (!kernels.segments || !data_in_segments(position) || shape_.channels != 1) return false;
    const int64_t stride = shape_.segment_dimensions.all[0].stride;
    const float* const x = data_ + shape_.outer_offset(o) + position / shape_.run * stride;
    return kernels.segments(x, shape_.run, stride, count, slot);
  }
  // The distance from o to o + 1 in what read(o, 0, positions, 2 or more) gave.
  bool even_distances() const { return !direct_ || shape_.outer_dimensions.count <= 1; }
  int64_t distance(int64_t o, int64_t next) const {
    return direct_ ? shape_.outer_offset(next) - shape_.outer_offset(o)
                   : (next - o) * shape_.positions * shape_.channels;
  }

 private:
  void load(int64_t begin, int64_t count, float* to) const {
    if (count == 0) return;
    if (source_)
      source_->load(begin, count, to);
    else
      std::copy_n(data_ + begin, count, to);
  }
  bool data_in_segments(int64_t position) const {
    return !direct_ && !source_ && position % shape_.run == 0 && shape_.segment_dimensions.count == 1;
  }
  void gather(int64_t o, int64_t position, int64_t count, float* to) const {
    const int64_t base = shape_.outer_offset(o);
    if (data_in_segments(position) && count % shape_.run == 0)
      return gather_segments(base, position / shape_.run, count / shape_.run, to);
    for (int64_t done = 0; done < count;) {
      const int64_t p = position + done, inside = p % shape_.run;
      const int64_t length = std::min(count - done, shape_.run - inside);
      load(base + shape_.segment_offset(p / shape_.run) + inside * shape_.channels, length * shape_.channels,
           to + done * shape_.channels);
      done += length;
    }
  }

  void gather_segments(int64_t base, int64_t first, int64_t segments, float* to) const {
    const int64_t length = shape_.run * shape_.channels;
    if (length <= 4)
      copy_segments<4>(base, first, segments, to);
    else if (length <= 8)
      copy_segments<8>(base, first, segments, to);
    else
      copy_segments<kPadding>(base, first, segments, to);
  }

  // Short segments are copied by vectors, whose ends the next one overwrites.
  template <int64_t vector>
  void copy_segments(int64_t base, int64_t first, int64_t segments, float* to) const {
    const int64_t length = shape_.run * shape_.channels, stride = shape_.segment_dimensions.all[0].stride;
    const float* from = data_ + base + first * stride;
    const float *const to_end = to + segments * length, *const from_end = data_ + count_;
    if (length == vector) {
      for (; to < to_end; to += vector, from += stride) std::memcpy(to, from, vector * sizeof(float));
      return;
    }
    const int64_t padded = (length + vector - 1) / vector * vector;
    for (; to < to_end; to += length, from += stride) {
      if (padded <= kMostCopied && to_end - to >= padded && from_end - from >= padded)
        for (int64_t i = 0; i < padded; i += vector) std::memcpy(to + i, from + i, vector * sizeof(float));
      else
        std::copy_n(from, length, to);
    }
  }

  const ReduceShape& shape_;
  const TileSource* source_;
  const FactorSource* factors_;
  const float* data_;
  int64_t count_;
  bool direct_;
};

// One call of run_reduction.
class Reduction {
 public:
  Reduction(const KernelCall& call, const ReduceShape& shape, const ReduceKernels& kernels, float* const* out)
      : shape_(shape),
        kernels_(kernels),
        cut_(shape, kernels, needs_buffer(call, shape)),
        reader_(call, shape, kernels),
        slots_(static_cast<float*>(call.workspace)),
        out_(out),
        outputs_(call.outputs.size()) {
    ensure(outputs_ <= kMaxOutputs && (cut_.runs == 1 || slots_), "a reduction has its workspace");
  }

  void compute() {
    const int64_t groups = divide_up(shape_.outer, cut_.batch) * cut_.chunks;
    run_pieces(groups * cut_.runs, [&](int64_t piece) {
      if (cut_.runs == 1)
        whole(piece / cut_.chunks * cut_.batch, piece % cut_.chunks);
      else
        part(piece / cut_.runs, piece % cut_.runs);
    });
    if (cut_.runs > 1)
      run_pieces(groups, [&](int64_t group) { combine(group, slots_ + group * cut_.runs * cut_.slot); });
  }

 private:
  static constexpr size_t kMaxOutputs = 2;

  // Where the results of o and a chunk go.
  std::array<float*, kMaxOutputs> outputs_from(int64_t o, int64_t chunk) const {
    std::array<float*, kMaxOutputs> to{};
    for (size_t i = 0; i < outputs_; ++i) to[i] = out_[i] + o * shape_.channels + chunk * cut_.width;
    return to;
  }
  int64_t width(int64_t chunk) const { return std::min(cut_.width, shape_.channels - chunk * cut_.width); }

  void whole(int64_t first, int64_t chunk) {
    const int64_t last = std::min(shape_.outer, first + cut_.batch);
    auto& slot = buffer_of_thread(1, cut_.slot);
    if (whole_segments(first, last, slot.data())) return;
    if (reader_.has_factors())
      whole_of(reader_.read_factors(first, 0, shape_.positions, last - first), *kernels_.products, first, last, chunk);
    else
      whole_of(reader_.read(first, 0, shape_.positions, last - first), kernels_, first, last, chunk);
  }

  // `kernels`: those that read such a part.
  template <class X, class Kernels>
  void whole_of(const ReductionReader::Part<X>& all, const Kernels& kernels, int64_t first, int64_t last,
                int64_t chunk) {
    if (kernels.rows && shape_.channels == 1 && shape_.positions <= kernels_.most_row_positions &&
        reader_.even_distances()) {
      std::array<float*, kMaxOutputs> to{};
      for (size_t i = 0; i < outputs_; ++i) to[i] = out_[i] + first;
      const int64_t distance = last - first > 1 ? reader_.distance(first, first + 1) : 0;
      return kernels.rows(all.x, distance, last - first, shape_.positions, to.data());
    }
    if (kernels.columns && shape_.positions > 0 && shape_.positions <= kernels_.item)
      return short_columns(all, kernels, first, last, chunk);
    auto& slot = buffer_of_thread(1, cut_.slot);
    for (int64_t o = first; o < last; ++o) {
      kernels.run(all.x + (reader_.distance(first, o) + chunk * cut_.width), all.end, shape_.positions, width(chunk),
                  shape_.channels, slot.data());
      combine(o * cut_.chunks + chunk, slot.data());
    }
  }

  // False if the positions do not lie in segments that the kernels read.
  bool whole_segments(int64_t first, int64_t last, float* slot) const {
    for (int64_t o = first; o < last; ++o) {
      if (!reader_.reduce_segments(kernels_, o, 0, shape_.positions, slot)) return false;
      combine(o, slot);
    }
    return true;
  }

  template <class X, class Kernels>
  void short_columns(const ReductionReader::Part<X>& all, const Kernels& kernels, int64_t first, int64_t last,
                     int64_t chunk) const {
    const int64_t together = reader_.even_distances() ? last - first : 1;
    const int64_t distance = together > 1 ? reader_.distance(first, first + 1) : 0;
    for (int64_t o = first; o < last; o += together) {
      const auto to = outputs_from(o, chunk);
      kernels.columns(all.x + (reader_.distance(first, o) + chunk * cut_.width), all.end, together, distance,
                      shape_.positions, width(chunk), shape_.channels, to.data());
    }
  }

  void part(int64_t group, int64_t run) {
    const int64_t o = group / cut_.chunks, chunk = group % cut_.chunks;
    const int64_t position = run * cut_.run_positions;
    const int64_t count = std::min(cut_.run_positions, shape_.positions - position);
    float* const slot = slots_ + (group * cut_.runs + run) * cut_.slot;
    if (reader_.reduce_segments(kernels_, o, position, count, slot)) return;
    if (reader_.has_factors()) {
      const auto piece = reader_.read_factors(o, position, count, 1);
      return kernels_.products->run(piece.x + chunk * cut_.width, piece.end, count, width(chunk), shape_.channels,
                                    slot);
    }
    const auto piece = reader_.read(o, position, count, 1);
    kernels_.run(piece.x + chunk * cut_.width, piece.end, count, width(chunk), shape_.channels, slot);
  }

  void combine(int64_t group, const float* slots) const {
    const int64_t chunk = group % cut_.chunks;
    const auto to = outputs_from(group / cut_.chunks, chunk);
    kernels_.combine(slots, cut_.slot, cut_.runs, cut_.run_positions, shape_.positions, width(chunk), to.data());
  }

  const ReduceShape& shape_;
  const ReduceKernels& kernels_;
  const ReductionCut cut_;
  const ReductionReader reader_;
  float* slots_;
  float* const* out_;
  size_t outputs_;
};

}  // namespace

int64_t reduced_count(const Shape& x, const Shape& axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= x[static_cast<int>(axis)];
  return count;
}

TensorSpec infer_reduced(const InferCall& call, DType type) {
  const auto& x = call.inputs[0];
  const Shape& axes = call.attributes.list("axes");
  if (axes.empty() && x.shape.rank() > 0)
    op_error(call, 137, "no axes are named", x.text(), "at least one axis", "name the axes to reduce, or all of them");
  for (int i = 0; i < axes.rank(); ++i) {
    check_axis(call, axes[i], x.shape.rank());
    if (i > 0 && axes[i] <= axes[i - 1])
      op_error(call, 137, fmt::format("the axes {} are not usable", axes.text()), x.text(),
               "ascending axes, each once");
  }
  const bool keep = call.attributes.integer("keep") != 0;
  TensorSpec result{type, {}, {}, x.part};
  for (int i = 0; i < x.shape.rank(); ++i) {
    const bool reduced = axes.contains(i);
    if (reduced && !x.labels.empty() && x.labels[i] == 'B') result.part = {};
    if (reduced && !keep) continue;
    result.shape.push_back(reduced ? 1 : x.shape[i]);
    if (!x.labels.empty()) result.labels.push_back(x.labels[i]);
  }
  return result;
}

Tensor with_reduced_axes(const Tensor& reduced, const Tensor& x, const Shape& axes, Place place) {
  Shape shape = x.shape();
  for (int64_t axis : axes) shape[static_cast<int>(axis)] = 1;
  return reshape(reduced, shape, x.labels(), place);
}

void for_each_reduced(const Shape& x, const Shape& axes, FunctionRef<void(int64_t, int64_t, int64_t)> f) {
  Shape steps_kept = x, steps_reduced = x;  // how far a step along an axis goes in either index
  int64_t kept_size = 1, reduced_size = 1;
  for (int i = x.rank() - 1; i >= 0; --i) {
    const bool reduced = axes.contains(i);
    steps_kept[i] = reduced ? 0 : kept_size;
    steps_reduced[i] = reduced ? reduced_size : 0;
    (reduced ? reduced_size : kept_size) *= x[i];
  }
  Shape index = x;
  for (int i = 0; i < x.rank(); ++i) index[i] = 0;
  int64_t kept = 0, reduced = 0;
  for (int64_t i = 0, count = x.count(); i < count; ++i) {
    f(i, kept, reduced);
    for (int axis = x.rank() - 1; axis >= 0; --axis) {
      kept += steps_kept[axis];
      reduced += steps_reduced[axis];
      if (++index[axis] < x[axis]) break;
      kept -= steps_kept[axis] * x[axis];
      reduced -= steps_reduced[axis] * x[axis];
      index[axis] = 0;
    }
  }
}

ReduceShape::ReduceShape(const Shape& x, const Shape& axes) : by_column(x.rank() > 0 && !axes.contains(x.rank() - 1)) {
  struct Merged {
    int64_t size, stride;
    bool reduced;
  };
  std::array<Merged, kMaxRank> merged;  // neighbours of one kind as one; sizes of 1 move nothing
  size_t count = 0;
  const Shape strides = row_major_strides(x);
  for (int i = 0; i < x.rank(); ++i) {
    const bool reduced = axes.contains(i);
    (reduced ? positions : outer) *= x[i];
    if (x[i] == 1) continue;
    if (count == 0 || merged[count - 1].reduced != reduced) merged[count++] = {1, 0, reduced};
    merged[count - 1].size *= x[i];
    merged[count - 1].stride = strides[i];
  }
  if (by_column && count > 0 && !merged[count - 1].reduced) {
    channels = merged[--count].size;
    outer = 1;
    for (size_t i = 0; i < count; ++i) outer *= merged[i].reduced ? 1 : merged[i].size;
  }
  if (count > 0 && merged[count - 1].reduced) run = merged[--count].size;
  for (size_t i = 0; i < count; ++i) {
    auto& [all, size] = merged[i].reduced ? segment_dimensions : outer_dimensions;
    all[size++] = {merged[i].size, merged[i].stride};
  }
  if (positions == 0) run = 0;
}

int64_t ReduceShape::offset(const Dimensions& dimensions, int64_t index) {
  int64_t offset = 0;
  for (size_t i = dimensions.count; i-- > 0; index /= dimensions.all[i].size)
    offset += index % dimensions.all[i].size * dimensions.all[i].stride;
  return offset;
}

void run_reduction(const KernelCall& call, const ReduceShape& shape, const ReduceKernels& kernels, float* const* out) {
  if (shape.outer * shape.channels == 0) return;
  Reduction(call, shape, kernels, out).compute();
}

int64_t reduce_workspace(const ReduceShape& shape, const ReduceKernels& kernels) {
  int64_t floats = 0;
  for (bool whole_positions : {false, true}) {
    const ReductionCut cut(shape, kernels, whole_positions);
    if (cut.runs > 1) floats = std::max(floats, shape.outer * cut.chunks * cut.runs * cut.slot);
  }
  return floats * static_cast<int64_t>(sizeof(float));
}

}  // namespace retrace
