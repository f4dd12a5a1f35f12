#pragma once
// Visitors of the parts of arguments and results for accelerate: they read key and leaves, and put other leaves in
// their place.

#include "retrace/run/check_replay.h"
#include "retrace/run/parts.h"

namespace retrace::detail {

// A float in place of an argument: an Operand; everything else as it is.
template <class T>
decltype(auto) plain_argument(const T& argument, Place place) {
  if constexpr (std::is_floating_point_v<T>)
    return Operand(argument, place);
  else
    return (argument);
}
template <class T>
using PlainArgument = decltype(plain_argument(std::declval<const T&>(), Place()));

// Reads key and leaves of the arguments; a visitor of their parts.
class ArgumentReader {
 public:
  ArgumentReader(CallState& call, bool any_batch) : call_(call), any_batch_(any_batch) {}
  // Before the parts of each argument.
  void begin_argument();
  // Every axis B has one size, of 2 or more, and is the whole mini-batch.
  bool one_batch() const { return one_batch_; }

  void tensor(const Tensor& tensor);
  void tree(const Tree& tree);
  void operand(const Operand& operand);
  void number(float value);
  void number(double value);
  void integer(int64_t value);
  void text(std::string_view text);
  void shape(const Shape& shape);
  void open(size_t parts);

 private:
  void leaf(const Tensor& tensor);
  void tree_leaves(const Tree& tree);

  CallState& call_;
  bool any_batch_;
  size_t next_ = 0;     // argument
  bool given_ = false;  // it was moved into the call
  bool one_batch_ = true;
};

// Calls f(tensor) for each leaf of a value that may change; of an argument also for a number, whose tensor is
// undefined.
template <Where where>
struct LeafWriter {
  FunctionRef<void(Tensor&)> f;
  void tensor(Tensor& tensor) {
    if (tensor.defined()) f(tensor);
  }
  void tree(Tree& tree) { tree.visit_leaves(f); }
  void operand(Operand& operand) {
    if (operand.is_integer() || (where == Where::result && !operand.tensor().defined())) return;
    Tensor tensor = operand.tensor();
    const bool number = !operand.is_tensor();
    f(tensor);
    operand = number ? Operand::traced(tensor, operand.place()) : Operand(tensor, operand.place());
  }
  template <class T>
  void number(T) {}
  void integer(int64_t) {}
  void text(std::string_view) {}
  void shape(const Shape&) {}
  void open(size_t) {}
};

template <Where where, class Value>
void write_leaves(Value& value, FunctionRef<void(Tensor&)> f) {
  LeafWriter<where> writer{f};
  visit_parts<where>(value, writer);
}

// The tensor that the function sees in place of the next leaf of its arguments.
Tensor next_argument(FunctionRecorder& recorder);
// Takes the next leaf of the result; leaves something without a value in its place.
void take_result(FunctionRecorder& recorder, Tensor& tensor);

// An argument as f sees it while it is recorded.
template <class T>
decltype(auto) recorded_argument(const T& argument, FunctionRecorder& recorder, Place place) {
  if constexpr (std::is_floating_point_v<T>) {
    return Operand::traced(next_argument(recorder), place);
  } else if constexpr (Plain<T>) {
    return (argument);
  } else {
    T copy = argument;
    write_leaves<Where::argument>(copy, [&](Tensor& tensor) { tensor = next_argument(recorder); });
    return copy;
  }
}
template <class T>
using RecordedArgument =
    decltype(recorded_argument(std::declval<const T&>(), std::declval<FunctionRecorder&>(), Place()));

// Tells the recorder all of a result but its leaves; a visitor of its parts.
struct FormReader {
  FunctionRecorder& recorder;
  void tensor(const Tensor& tensor);
  void tree(const Tree& tree);
  void operand(const Operand& operand) { tensor(operand.tensor()); }
  void number(double value);
  void integer(int64_t value);
  void text(std::string_view text);
  void shape(const Shape& shape);
  void open(size_t parts);
};

template <class R>
NamedResults named_results(const R& result) {
  NamedResults names;
  visit_parts<Where::result>(result, names);
  return names;
}

}  // namespace retrace::detail
