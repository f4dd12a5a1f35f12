#pragma once
// Visitors of the parts of arguments and results for accelerate: they read key and leaves, and put other leaves in
// their place.

#include <bit>

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

// Key and leaves of the arguments.
struct ArgumentReader {
  Accelerator::Call& call;
  bool any_batch;
  bool given = false;     // the argument was moved into the call
  bool one_batch = true;  // every axis B has one size, of 2 or more, and is the whole mini-batch

  void leaf(const Tensor& tensor) {
    call.leaves.push_back(Leaf::of(tensor));
    call.leaves.back().given = given;
    if (!any_batch || tensor.spec().labels.find('B') != 0) return;
    const int64_t size = tensor.shape()[0];
    one_batch &= size > 1 && tensor.spec().part.whole == 0 && (call.batch == 0 || call.batch == size);
    call.batch = size;
  }
  void tree_leaves(const Tree& tree) {
    if (tree.is_leaf()) leaf(tree.tensor());
    for (const auto& child : tree.children()) tree_leaves(child.second);
  }
  void tensor(const Tensor& tensor) {
    if (!tensor.defined()) return call.key.add_nothing();
    call.key.add_tensor(tensor.spec(), any_batch);
    leaf(tensor);
  }
  void tree(const Tree& tree) {
    call.key.add_tree(tree, any_batch);
    tree_leaves(tree);
  }
  template <class T>
  void number(T value) {
    const Leaf leaf = Leaf::of(value);
    call.key.add_number(leaf.type);
    call.leaves.push_back(leaf);
  }
  void operand(const Operand& operand) {
    if (operand.is_tensor()) return tensor(operand.tensor());
    if (operand.is_integer()) return call.key.add_integer(std::bit_cast<int64_t>(operand.number()));
    if (!operand.is_traced()) return number(operand.number());
    call.key.add_number(operand.type());
    leaf(operand.tensor());
  }
  void integer(int64_t value) { call.key.add_integer(value); }
  void text(std::string_view text) { call.key.add_text(text); }
  void shape(const Shape& shape) {
    call.key.add_group(static_cast<size_t>(shape.rank()));
    for (int64_t size : shape) call.key.add_integer(size);
  }
  void open(size_t parts) { call.key.add_group(parts); }
};

// Calls f(tensor) for each leaf of a value that may change; of an argument also for a number, whose tensor is
// undefined.
template <Where where, class F>
struct LeafWriter {
  F f;
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

template <Where where, class Value, class F>
void write_leaves(Value& value, F f) {
  LeafWriter<where, F> writer{std::move(f)};
  visit_parts<where>(value, writer);
}

// An argument as f sees it while it is recorded.
template <class T>
decltype(auto) recorded_argument(const T& argument, FunctionRecorder& recorder, Place place) {
  if constexpr (std::is_floating_point_v<T>) {
    return Operand::traced(recorder.next_argument(), place);
  } else if constexpr (Plain<T>) {
    return (argument);
  } else {
    T copy = argument;
    write_leaves<Where::argument>(copy, [&](Tensor& tensor) { tensor = recorder.next_argument(); });
    return copy;
  }
}
template <class T>
using RecordedArgument =
    decltype(recorded_argument(std::declval<const T&>(), std::declval<FunctionRecorder&>(), Place()));

// All of a result but its leaves.
struct FormReader {
  TraceKey key;
  void tensor(const Tensor& tensor) { tensor.defined() ? key.add_text("tensor") : key.add_nothing(); }
  void tree(const Tree& tree) { key.add_tree(tree); }
  void operand(const Operand& operand) { tensor(operand.tensor()); }
  void number(double value) { key.add_integer(std::bit_cast<int64_t>(value)); }
  void integer(int64_t value) { key.add_integer(value); }
  void text(std::string_view text) { key.add_text(text); }
  void shape(const Shape& shape) { key.add_text(shape.text()); }
  void open(size_t parts) { key.add_group(parts); }
};

template <class R>
NamedResults named_results(const R& result) {
  NamedResults names;
  visit_parts<Where::result>(result, names);
  return names;
}

}  // namespace retrace::detail
