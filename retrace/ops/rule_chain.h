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
constexpr ChainCode kChainKeep = 2;   // they are kept as well, in the first place for it; + 1: in the second
constexpr ChainCode kChainLoad = 4;   // they become those of operand 0
constexpr ChainCode kNoChainCode = 255;

// The code of a rule one of whose arguments, that at `position`, is in the registers, or all of them are (`alone`).
// kNoChainCode: there is none.
ChainCode chain_code(const PointwiseRule& rule, int position, bool alone);
// Whether the link's operands may be numbers of rows: not those of a choice.
bool reads_rows(ChainCode code);

// How an operand is read: a number for each element, one for all, one for each row of elements, or what was kept.
enum class ChainRead : uint8_t { each, equal, rows, kept_0, kept_1 };
constexpr int kChainReads = 5, kMostKept = 2;

struct ChainLink {
  ChainCode code;        // with chain_code_of() for the first of the others
  ChainRead read[2];     // of the other arguments, in their order
  const float* from[2];  // of rows: that of the first element; kReadAhead numbers can be read from each that is used;
                         // of what was kept: nothing
  float* to;
};
constexpr ChainCode chain_code_of(ChainCode code, ChainRead first) {
  return static_cast<ChainCode>(code + static_cast<ChainCode>(first));
}

// The rows that operands have a number for; all of a call have the same.
struct ChainRows {
  int64_t length = 0;               // elements of a row, at least kFewestInRow; 0: no link reads rows
  const uint8_t* row_of = nullptr;  // of element i of a row, for i < length + kMostChainBatch: i / length
  int64_t inside = 0;               // where in its row the first element is
};
constexpr int64_t kMostChainBatch = 128;
constexpr int64_t kFewestInRow = 10;  // a batch meets no more rows than a register has numbers
constexpr int64_t kReadAhead = 16;

// Computes `count` numbers of all links up to an end; the first one loads. A result may be written where the same
// link, or one before it, reads.
using ChainFunction = void (*)(const ChainLink* links, int64_t count, const ChainRows& rows);
ChainFunction chain_function();

}  // namespace retrace
