#pragma once
// Cheap rules one after another, of which each takes what the one before has made. A fused chain is bound by the
// first-level cache, from which each rule by itself reads its arguments and to which it writes its result; here what
// goes from one rule to the next stays in registers.

#include <cstdint>

#include "retrace/trace/op.h"

namespace retrace {

// What a link does to the numbers in the registers: a rule with the place of the argument that they are.
using ChainCode = uint8_t;
constexpr ChainCode kChainEnd = 0;    // nothing: behind the last link
constexpr ChainCode kChainStore = 1;  // they are written to `to`
constexpr ChainCode kChainLoad = 2;   // they become those of operand 0
constexpr ChainCode kChainEqual = 1;  // added to another code: operand 0 is one number that stands for all
constexpr ChainCode kNoChainCode = 255;

// The code of a rule one of whose arguments, that at `position`, is in the registers, or all of them are (`alone`).
// kNoChainCode: there is none.
ChainCode chain_code(const PointwiseRule& rule, int position, bool alone);

struct ChainLink {
  ChainCode code;
  bool equal[2];         // operand i is one number that stands for all
  const float* from[2];  // the other arguments, in their order
  float* to;
};

// Computes `count` numbers of all links up to an end; the first one loads. A result may be written where the same
// link, or one before it, reads.
using ChainFunction = void (*)(const ChainLink* links, int64_t count);
ChainFunction chain_function();

}  // namespace retrace
