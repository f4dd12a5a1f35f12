#pragma once
// How a recorded trace depends on the size of the mini-batch.

#include <span>
#include <string>
#include <vector>

#include "retrace/trace/trace.h"

namespace retrace {

// The numbers in a trace (sizes, attributes) as functions of the mini-batch's size, found by recording one function at
// several sizes.
class BatchRule {
 public:
  // Three traces of one function, recorded at three sizes. "" if they are one trace whose numbers are whole-number
  // multiples of the size plus a constant; else the first thing that is not. Only then at() may be called.
  std::string fit(std::span<const Trace> traces, std::span<const int64_t> sizes);
  // The trace for a size.
  Trace at(int64_t size) const;

 private:
  struct Number {  // slope * size + constant; a real number that does not change: real
    int64_t slope = 0, constant = 0;
    double real = 0;
  };
  Trace base_;
  std::vector<Number> numbers_;
};

// Three sizes, ascending and far apart, so that a function that distinguishes large from small is found out; none is a
// size in these specs, so that no two axes agree by chance.
std::vector<int64_t> probe_sizes(std::span<const TensorSpec> specs);

}  // namespace retrace
