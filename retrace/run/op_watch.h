#pragma once
// What accelerated functions compute on the way, value by value: finds the op from which two computations differ.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrace/tensor/tensor.h"
#include "retrace/trace/trace.h"

namespace retrace {

struct WatchedValue {
  std::string op;      // that made it; empty for an input of the function
  std::string made;    // where that op was called; of an input: its name, or empty
  std::string text;    // "f32[5,5,1,16]"; of a number also its value: "f32[] 0.5"
  uint64_t print = 0;  // its fingerprint
  std::string reader;  // of an input: the first op that reads it, and where that was called

  bool operator==(const WatchedValue&) const = default;
  // "conv2d at layers.cpp:41, f32[128,32,32,32]"
  std::string description() const;
};

class OpWatch {
 public:
  // Computes every value of a recorded trace from its inputs, in the order of recording, a part at a time. The trace is
  // planned anew for each part; the bits are those of any other plan. inputs[i] may be undefined where nothing reads
  // it.
  void look(const Trace& trace, std::span<const Tensor> inputs);

  // Names of the first inputs of the functions that are looked at next.
  std::vector<std::string> names = {};
  // The values that are made, of one function after the other, and each input before the first op that reads it.
  std::vector<WatchedValue> values = {};

 private:
  void add_inputs(const Trace& trace, std::span<const Tensor> inputs, const Node& node);
};

// While it lives, all that accelerated functions replay on this thread is looked at; null: nothing is.
class OpWatchScope {
 public:
  explicit OpWatchScope(OpWatch* watch);
  ~OpWatchScope();
  OpWatchScope(const OpWatchScope&) = delete;
  OpWatchScope& operator=(const OpWatchScope&) = delete;

  static OpWatch* current();

 private:
  OpWatch* before_;
};

// Where two computations part, for people: the op of the first value that differs, all values before it being equal;
// or the first ops of which one recorded another. Nothing: all values are equal.
std::optional<std::string> first_difference(const OpWatch& a, const OpWatch& b);

}  // namespace retrace
