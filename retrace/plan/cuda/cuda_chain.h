#pragma once
// Pointwise chains as CUDA source: one thread an element, one load an argument, the ops' own scalar rules in between.
// Of large arrays of f32 a thread takes four neighbouring elements in loads and stores of 16 bytes.
// Chains that need nothing of each other stand side by side in one kernel: its blocks are shared out among them.

#include <set>
#include <span>
#include <string>

#include "retrace/trace/trace.h"

namespace retrace {

// Whether a node is computed so: a fused chain, an op by its rule on f32, bool and u8, or on i32, bool and u8, or a
// conversion between them.
bool is_chain(const Trace& trace, const Node& node);
// Whether others may be computed beside it by one thread: it reports no errors.
bool joins_chains(const Trace& trace, const Node& node);
// Whether it is such a chain that computes in f32 alone.
bool is_float_chain(const Trace& trace, const Node& node);
// Whether the kernel of a node takes an ErrorTarget: the op has a value_error, which a rule has for integers only.
bool reports_errors(const Trace& trace, const Node& node);
// The first node of a body that does; null: none.
const Node* reporting_node(const Trace& body);
// The nodes of a chain, over inputs in the order of the node's.
Trace chain_body(const Trace& trace, const Node& node);

// A part of a source: the function of a chain's elements, or a kernel.
struct CudaChain {
  std::string name, source;
  std::set<std::string> headers;  // that stand before it
};

// Whether a thread of such a chain can take four elements: large results of f32, and arguments of f32 that are one
// number or whose elements lie side by side for each four of the result. Its arrays must begin at multiples of 16
// bytes, too.
bool takes_four(const Trace& body);

// The function of a chain's elements: the same body has the same name. Of each element it reads all arguments before it
// writes a result; of inputs with as many elements as the results it reads that one element. Its argument is a struct
// of the addresses of the body's inputs and outputs, in order, an ErrorTarget if its node reports errors (it has no
// other node then), and the number of elements as a long long; where takes_four(body), as an unsigned, and another one
// behind it that says how many a thread takes: 1 or 4.
CudaChain generate_chain(const Trace& body);

// So many chains of one name, with arguments of their own.
struct ChainRun {
  std::string name;
  size_t chains;
};

// A kernel of runs of chains: the same runs have the same name. Its argument is a struct of the chains' arguments, in
// order, and for each chain the number of its first block as an unsigned.
struct CudaChainKernel {
  std::string name, source;
};
CudaChainKernel generate_kernel(std::span<const ChainRun> runs);

}  // namespace retrace
