#pragma once
// An array that is made of parts of others: what is cut out of one array and joined, or put into zeros, or the sum of
// several that were put into zeros. Each element is written once, in blocks that stay in the first-level cache.

#include <cstdint>
#include <vector>

#include "retrace/trace/op.h"

namespace retrace {

// The op of such a node: its body says what it computes.
const Op& parts_op();

class PartProgram {
 public:
  // The body's one result is
  //   - its inputs joined, or
  //   - one input put into zeros, or
  //   - ((a + b) + c) + ... in f32, of inputs or of what is put into zeros,
  // where each input may be cut first; with steps of 1, and views that change no size in between. The values are those
  // of these ops one by one: sums are added from left to right, the zeros, too.
  explicit PartProgram(const Trace& body);

  // In parallel; inputs[i] are the whole arrays.
  void run(const void* const* inputs, void* output) const;

 private:
  // Of one input the elements from `from` on, at the places from `to` on of the result.
  struct Part {
    size_t input;
    Shape from, to, size;
    Shape source;  // the shape of the input
  };
  void collect(const Trace& body, ValueId id);
  void add_part(const Trace& body, ValueId id, Shape to);
  bool is_whole(int axis) const;
  void merge_axes();
  Part within(const Part& part, int64_t begin, int64_t end) const;
  void fill(int64_t begin, int64_t end, char* to) const;
  void write(const Part& part, const char* from, char* to) const;
  void run_rows(int64_t begin, int64_t end, const void* const* inputs, char* to) const;

  Shape shape_;
  size_t item_;
  TileFunction sum_ = nullptr;  // of a sum
  bool joins_ = false;
  std::vector<Part> parts_;
  Shape common_begin_, common_end_;  // of a sum: the places that all its terms reach
  int axis_ = 0;                     // the first of more than one element: threads share it out
};

}  // namespace retrace
