#pragma once
// Shared by all reductions: axes, the walk through memory, and the division of the work into pieces. The order of the
// additions is in reduce_tree.h, reduce_column.h and reduce_row.h; nothing here changes a bit of a result.

#include <array>

#include "retrace/base/function_ref.h"
#include "retrace/ops/op.h"

namespace retrace {

// The number of elements of x that become one.
int64_t reduced_count(const Shape& x, const Shape& axes);
// The spec of x without the axes of the attribute "axes" (with size 1 if the attribute "keep" is 1), in that type.
TensorSpec infer_reduced(const InferCall& call, DType type);
// A result of a reduction of x, without the reduced axes, as a tensor that broadcasts against x.
Tensor with_reduced_axes(const Tensor& reduced, const Tensor& x, const Shape& axes, Place place);

// f(i, kept, reduced) for each element i of x in ascending order: the row-major index over the kept axes (the element
// of the result) and the one over the reduced axes.
void for_each_reduced(const Shape& x, const Shape& axes, FunctionRef<void(int64_t i, int64_t kept, int64_t reduced)> f);

// A reduction's input as [outer][positions][channels]: positions are the reduced axes, row-major; channels are the kept
// axes that follow all reduced ones (1 by the row rule). `run` positions follow each other without a gap.
struct ReduceShape {
  ReduceShape(const Shape& x, const Shape& axes);
  int64_t outer_offset(int64_t o) const { return offset(outer_dimensions, o); }
  int64_t segment_offset(int64_t segment) const { return offset(segment_dimensions, segment); }
  // The element of x at position p of a kept element.
  int64_t element(int64_t kept, int64_t p) const {
    return outer_offset(kept / channels) + (run == 0 ? 0 : segment_offset(p / run) + p % run * channels) +
           kept % channels;
  }
  bool contiguous_positions() const { return run == positions; }
  bool contiguous() const { return contiguous_positions() && outer_dimensions.count <= 1; }

  bool by_column = false;  // the last axis is kept
  int64_t outer = 1, positions = 1, channels = 1, run = 1;

  // The kept axes in front of reduced ones, and the reduced axes in front of a run.
  struct Dimension {
    int64_t size, stride;
  };
  struct Dimensions {
    std::array<Dimension, kMaxRank> all;
    size_t count = 0;
  };
  Dimensions outer_dimensions, segment_dimensions;

 private:
  static int64_t offset(const Dimensions& dimensions, int64_t index);
};

// Where the products a[i] * b[i] lie.
struct Factors {
  const float *a, *b;
  Factors operator+(int64_t i) const { return {a + i, b + i}; }
};

// A source of products whose factors a sum reads apart: it multiplies them in its registers.
class FactorSource : public TileSource {
 public:
  // The factors of elements begin..begin+count-1. `made` has room for `count` elements of one that is not in memory.
  virtual Factors factors(int64_t begin, int64_t count, float* made) const = 0;
};

// `run`, `rows` and `columns` of ReduceKernels for products. Memory from x.a up to `end` may be read, and as much of b.
struct ProductKernels {
  void (*run)(Factors x, const float* end, int64_t positions, int64_t channels, int64_t stride, float* slot);
  void (*rows)(Factors x, int64_t distance, int64_t rows, int64_t positions, float* const* out);
  void (*columns)(Factors x, const float* end, int64_t outer, int64_t distance, int64_t positions, int64_t channels,
                  int64_t stride, float* const* out);
};

// The vector kernels of one reduction by one rule. A run is an aligned subtree of items (strips of 16 positions, blocks
// of 256); its result is a slot of floats.
struct ReduceKernels {
  int64_t item;                            // positions of an item: 16 or 256
  int64_t (*slot_size)(int64_t channels);  // floats, a multiple of 16
  // x[p * stride + c]; memory from x up to `end` may be read.
  void (*run)(const float* x, const float* end, int64_t positions, int64_t channels, int64_t stride, float* slot);
  // Combines `runs` slots, slot_size floats apart, by the tree (each of run_positions positions, but the last) into the
  // outputs' channels.
  void (*combine)(const float* slots, int64_t slot_size, int64_t runs, int64_t run_positions, int64_t positions,
                  int64_t channels, float* const* out);
  // The same by column for aligned subtrees of different sizes: the slot of strip s holds the 2^levels[s] strips from s
  // on; where that is more than one, those of the following strips hold nothing. A short last strip stands alone.
  void (*combine_subtrees)(const float* slots, int64_t slot_size, const int8_t* levels, int64_t positions,
                           int64_t channels, float* const* out);
  // The same of one channel for whole rows of at most a run each, `distance` apart: row r into out[i][r].
  void (*rows)(const float* x, int64_t distance, int64_t rows, int64_t positions, float* const* out);
  int64_t most_row_positions = INT64_MAX;  // of `rows`
  // By column of 1 to `item` positions: x[o * distance + p * stride + c] into out[i][o * channels + c]; memory from x
  // up to `end` may be read.
  void (*columns)(const float* x, const float* end, int64_t outer, int64_t distance, int64_t positions,
                  int64_t channels, int64_t stride, float* const* out) = nullptr;
  // `run` of one channel whose positions lie in segments of `length`, `stride` apart, from the beginning of one on.
  // False, and nothing is written: not for that length.
  bool (*segments)(const float* x, int64_t length, int64_t stride, int64_t positions, float* slot) = nullptr;
  // Of a sum; null: it reads no FactorSource but its products.
  const ProductKernels* products = nullptr;
};

// Computes a reduction of input 0 (f32, or call.source) into the outputs out[0], out[1], ... in pieces on all threads.
// `call.workspace` has reduce_workspace(...) bytes.
void run_reduction(const KernelCall& call, const ReduceShape& shape, const ReduceKernels& kernels, float* const* out);
int64_t reduce_workspace(const ReduceShape& shape, const ReduceKernels& kernels);

}  // namespace retrace
