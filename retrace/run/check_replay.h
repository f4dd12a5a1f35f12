#pragma once
// Check mode: what a replay gave against what the function gives.

#include <string>
#include <vector>

#include "retrace/ops/operators.h"
#include "retrace/run/accelerator.h"

namespace retrace {

// The leaves of a result by name: "result 2 "conv2d_1/weights"". A visitor of its parts.
struct NamedResults {
  std::vector<std::pair<std::string, Tensor>> all;
  int count = 0;

  void tensor(const Tensor& tensor);
  void tree(const Tree& tree);
  void operand(const Operand& operand) { tensor(operand.tensor()); }
  template <class T>
  void number(T) {}
  void integer(int64_t) {}
  void text(std::string_view) {}
  void shape(const Shape&) {}
  void open(size_t) {}
};

// Throws Error(usage) at the first leaf that differs, with the element and the distance in units in the last place.
void check_replay(const NamedResults& replayed, const NamedResults& plain, const AccelerateOptions& options,
                  Place made);

}  // namespace retrace
