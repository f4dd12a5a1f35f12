#pragma once
// A pass makes a trace from a trace and changes no bit of its results; one that finds nothing to do hands back what it
// was given. It is named, can be switched off (RETRACE_PASSES_OFF=name,name), is timed, and is followed by verify().

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/plan/options.h"
#include "retrace/trace/trace.h"

namespace retrace {

struct Pass {
  std::string_view name;
  std::string_view purpose;
  Trace (*run)(Trace trace, const PlanOptions& options);
  bool required = false;  // cannot be switched off: later passes and the plan rely on it
  bool cuda = false;      // also of traces on a CUDA device; the others make what only the CPU's plan runs
  bool cpu = true;        // also of traces on the CPU
};

// Every pass, in the order of the names. Generated: a pass x is retrace/plan/passes/x.cpp, which defines `Pass
// x_pass()`, with a case x.trace beside it.
void define_all_passes(std::vector<Pass>& passes);

struct PassReport {
  std::string_view name;
  bool on = true;
  double seconds = 0;
  size_t nodes_before = 0, nodes_after = 0;
};

// Copies a trace value by value; what a pass does not mention stays as it is.
class Rewriter {
 public:
  explicit Rewriter(const Trace& from);  // inputs are copied
  const Trace& from() const { return from_; }
  Trace& to() { return to_; }
  // The new id of an old value; replace() says that it is another one's.
  ValueId operator()(ValueId old) const;
  void replace(ValueId old, ValueId made) { map_[static_cast<size_t>(old)] = made; }
  // Copies a node with its inputs mapped.
  void copy(const Node& node);
  // Outputs mapped; the rewriter is spent.
  Trace finish();

 private:
  const Trace& from_;
  Trace to_;
  std::vector<ValueId> map_;
};

// Gives the values of `to` the names of those of `from` that they are (map: per value of `from`, -1 if there is none),
// new values new names. Rewriter::finish() does.
void carry_names(const Trace& from, std::span<const ValueId> map, Trace& to);

// Without the nodes that no output needs. All inputs stay: their order is the plan's interface.
Trace without_dead(Trace trace);

// A pass that leaves a node and what makes an argument of it in two kernels says why; shown by Plan::why().
void say_apart(Trace& trace, size_t node, ValueId argument, std::string_view why);

// The trace of `nodes` (indices, ascending) as a body: its inputs are the values that they read and do not make, in
// order of first use, `first` before all others if it is >= 0; its outputs are given.
struct Extracted {
  Trace body;
  std::vector<ValueId> inputs;          // of the surrounding trace, in the order of body.inputs
  std::vector<std::string_view> apart;  // and why they are inputs, as the nodes say
};
Extracted extract(const Trace& trace, std::span<const size_t> nodes, std::span<const ValueId> outputs,
                  ValueId first = kNoValue);

// Adds `node`, an op with its attributes, that computes `members` (indices, ascending) of the rewriter's trace by the
// body that was extracted of them; it makes what stands for their `outputs`.
void add_whole(Rewriter& rewrite, Node node, Extracted extracted, std::span<const size_t> members,
               std::span<const ValueId> outputs);

}  // namespace retrace
