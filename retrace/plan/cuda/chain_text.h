#pragma once
// Parts of the source of generated kernels: where value id is v<id>, and i is the number of an element.

#include <string>
#include <string_view>

#include "retrace/trace/trace.h"
#include "retrace/trace/trace_index.h"

namespace retrace {

const char* memory_type(DType type);
// Index of an argument's element for element i of the result, aligned from the last axis.
std::string index_of(const Shape& shape, const Shape& whole);
// Whether the op of a node makes input 0 in another type, as converted() of retrace/base/convert.h does.
bool is_conversion(const Node& node);
// The header that the text of a node needs: of its rule, of its elements, or of conversions.
std::string_view header_of(const Node& node);
// Element i of a node that makes it of inputs of the body (Op::cuda_element), which are a.in0, a.in1, ...; a.errors is
// where it reports errors.
std::string element_text(const Trace& body, const Node& node);
// The function of a node's rule that ends so, of its arguments as they are.
std::string rule_call(const Node& node, std::string_view what = "rule");

// The values of a body and how its pointwise nodes make them. A value is a float or a rules::Int32: f32 is the one, i32
// and u8 that a node makes are the other, and bool and arguments of u8, which both can hold, are what their node or
// their readers compute in.
class ChainText {
 public:
  explicit ChainText(const Trace& body);

  const char* type(ValueId id) const { return integer_[id] ? "rules::Int32" : "float"; }
  // A value of its element in memory, and the element of a value.
  std::string loaded(ValueId id, const std::string& element) const;
  std::string stored(ValueId id) const;
  // The value that a node makes.
  std::string computed(const Node& node) const;
  // Whether any value is a rules::Int32.
  bool any_integer() const { return any_integer_; }

 private:
  bool computes_in_integers(const Node& node) const;
  std::string conversion(const Node& node) const;
  std::string argument(ValueId id, bool integer) const;

  const Trace& body_;
  ValueMap<bool> integer_;
  bool any_integer_ = false;
};

}  // namespace retrace
