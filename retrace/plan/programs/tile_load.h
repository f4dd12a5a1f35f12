#pragma once
// How a tile gets elements of a broadcast input, as f32.

#include "retrace/tensor/dtype.h"
#include "retrace/tensor/shape.h"

namespace retrace {

// One input of a chain seen at the chain's shape.
class BroadcastLoad {
 public:
  // Elements `from` of type f32, bf16, f16, bool or u8, stretched to `to`.
  BroadcastLoad(DType type, const Shape& from, const Shape& to);

  // Elements begin..begin+count-1 of the broadcast.
  void load(const void* from, float* to, int64_t begin, int64_t count) const;

  // Where these elements lie as f32, one behind another; null if they do not.
  const float* in_row(const void* from, int64_t begin, int64_t count) const;

  // A number that is equal for elements begin..begin+count-1 and the same number of others from elsewhere where these
  // repeat the same elements of the input; -1: nothing is known.
  int64_t content(int64_t begin, int64_t count) const;

  // Element i is element i % period() of the broadcast; 0 if it does not repeat.
  int64_t period() const;
  // The elements come in rows of so many equal ones, whose values lie one behind another; 0: in another way.
  int64_t equal_run() const { return equal_run_; }

 private:
  DType type_;
  Shape shape_, strides_;  // of the broadcast, axes merged where they step regularly
  int64_t equal_run_ = 0;  // elements of rows of equal ones,
  int64_t run_ = 0;        // if these are long
  int64_t inner_ = 0;      // elements that repeat along an axis, if some do,
  int64_t outer_ = 0;      // and those of all repetitions
};

}  // namespace retrace
