#pragma once
// A walk over the parts of a value: what an accelerated function takes and returns. A value is a Tensor, a Tree, an
// Operand, a number, a boolean, an enumeration, a text, a Shape, a RandomKey, or a tuple, pair, array, vector or plain
// struct (an aggregate of at most 8 fields) of values.
//
//   visit_parts<Where::argument>(value, visitor);   // calls, in order:
//     visitor.tensor(Tensor&)  .tree(Tree&)  .operand(Operand&)  .number(float& or double&)
//     visitor.integer(x)  .text(string_view)  .shape(Shape&)  .open(count) before the parts of a group

#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "retrace/ops/operators.h"
#include "retrace/ops/ops.h"
#include "retrace/tensor/tree.h"

namespace retrace::detail {

enum class Where { argument, inside_argument, result };

// -- the fields of a plain struct -------------------------------------------------------------------------------

template <class Whole>
struct AnyField {
  template <class T>
    requires(!std::is_same_v<std::decay_t<T>, Whole>)
  operator T() const;
};

template <class T, class... Fields>
consteval int field_count() {
  if constexpr (sizeof...(Fields) < 9 && requires { T{Fields()..., AnyField<T>()}; })
    return field_count<T, Fields..., AnyField<T>>();
  else
    return static_cast<int>(sizeof...(Fields));
}

template <class T, class F>
void for_each_field(T& value, F&& f) {
  constexpr int count = field_count<std::remove_const_t<T>>();
  static_assert(count <= 8, "a struct that is passed to or returned by an accelerated function has at most 8 fields");
  const auto all = [&f](auto&... fields) { (f(fields), ...); };
  if constexpr (count == 1) {
    auto& [a] = value;
    all(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = value;
    all(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = value;
    all(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = value;
    all(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = value;
    all(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, g] = value;
    all(a, b, c, d, e, g);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, g, h] = value;
    all(a, b, c, d, e, g, h);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, g, h, i] = value;
    all(a, b, c, d, e, g, h, i);
  }
}

// -- the walk ---------------------------------------------------------------------------------------------------

template <class T>
constexpr bool is_vector = false;
template <class T>
constexpr bool is_vector<std::vector<T>> = true;

template <class T>
concept TupleLike = requires { std::tuple_size<T>::value; };
template <class T>
concept TextLike = std::is_convertible_v<const T&, std::string_view>;
template <class T>
concept Whole = std::is_integral_v<T> || std::is_enum_v<T>;
// Values without tensors and numbers: they pass to the function as they are.
template <class T>
concept Plain = Whole<T> || TextLike<T> || std::is_same_v<T, Shape> || std::is_same_v<T, RandomKey>;

template <Where where, class Value, class Visitor>
void visit_parts(Value& value, Visitor& visitor) {
  using T = std::remove_const_t<Value>;
  constexpr Where inside = where == Where::argument ? Where::inside_argument : where;
  const auto each = [&visitor](auto&... parts) {
    visitor.open(sizeof...(parts));
    (visit_parts<inside>(parts, visitor), ...);
  };
  if constexpr (std::is_same_v<T, Tensor>) {
    visitor.tensor(value);
  } else if constexpr (std::is_same_v<T, Tree>) {
    visitor.tree(value);
  } else if constexpr (std::is_same_v<T, Operand>) {
    visitor.operand(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    static_assert(where != Where::inside_argument,
                  "a float inside a struct or tuple cannot be an input of a recorded trace: pass it as an argument of "
                  "its own, or hold it as a Tensor or an Operand");
    visitor.number(value);
  } else if constexpr (Whole<T>) {
    visitor.integer(static_cast<int64_t>(value));
  } else if constexpr (TextLike<T>) {
    visitor.text(std::string_view(value));
  } else if constexpr (std::is_same_v<T, Shape>) {
    visitor.shape(value);
  } else if constexpr (std::is_same_v<T, RandomKey>) {
    visitor.integer(static_cast<int64_t>(value.value()));
  } else if constexpr (TupleLike<T>) {
    std::apply(each, value);
  } else if constexpr (is_vector<T>) {
    visitor.open(value.size());
    for (auto& part : value) visit_parts<inside>(part, visitor);
  } else {
    static_assert(std::is_aggregate_v<T> && !std::is_pointer_v<T>,
                  "an accelerated function takes and returns tensors, trees, numbers, enumerations, texts, and plain "
                  "structs, tuples, arrays and vectors of those");
    visitor.open(field_count<T>());
    for_each_field(value, [&visitor](auto& part) { visit_parts<inside>(part, visitor); });
  }
}

}  // namespace retrace::detail
