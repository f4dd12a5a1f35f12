#pragma once
// Parts of the source of generated kernels: where value id is v<id>, and i is the number of an element.

#include <string>
#include <string_view>

#include "retrace/trace/trace.h"

namespace retrace {

const char* memory_type(DType type);
// Index of an argument's element for element i of the result, aligned from the last axis.
std::string index_of(const Shape& shape, const Shape& whole);
// The element as the rules take it, and value id as it is stored; `integer`: the rules compute with Int32.
std::string loaded(const TensorSpec& spec, const std::string& element, bool integer);
std::string stored(const TensorSpec& spec, ValueId id, bool integer);
// The function of a node's rule that ends so, of its arguments.
std::string rule_call(const Node& node, std::string_view what = "rule");

}  // namespace retrace
