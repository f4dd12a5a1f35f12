#pragma once
// The readable form of a trace, for tests, logs and `retrace plan`. Parsing what was printed gives the same trace, for
// recorded traces; the bodies of fused nodes, which only passes make, are printed and not parsed:
//
//   %0 = input f32[2,3] "BC"
//   %1 = exp(%0)
//   %2 = sum(%1) {axes=[0], keep=0}
//   %3, %4 = fused(%1, %0) {
//     %0 = input f32[2,3] "BC"
//     ...
//     return %1, %2
//   }
//   return %2
//
// Specs of nodes are inferred again while parsing. "#" begins a comment.

#include <string>
#include <string_view>

#include "retrace/trace/op.h"

namespace retrace {

// `places`: each node is followed by the user's source place as a comment.
std::string print_trace(const Trace& trace, bool places = false);
// One node of it, with values under the numbers that they keep through the passes.
std::string print_node(const Trace& trace, const Node& node);
// Throws Error(bad_data) with the line for anything that is not a well-formed trace. Bounded: 1 MiB of text.
Trace parse_trace(std::string_view text, const OpTable& table);

}  // namespace retrace
