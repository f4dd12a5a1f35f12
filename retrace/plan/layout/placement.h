#pragma once
// Where the bytes of each value of a trace lie, on any device: a view follows its source, a result goes to its own
// buffer, and the rest shares one arena by lifetime.

#include <span>
#include <utility>
#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/plan/layout/arena.h"
#include "retrace/plan/layout/location.h"
#include "retrace/trace/trace_index.h"

namespace retrace {

// A node that runs, and where its bytes are.
struct PlacedNode {
  const Node* node = nullptr;
  size_t launch = 0;  // ascending; nodes of one launch run at the same time
  std::vector<Location> inputs, outputs;
  std::vector<const TensorSpec*> input_specs, output_specs;
};

// What a run copies at its end: an output that is an input, a constant, or another output.
struct ResultCopy {
  Location from;
  size_t output, bytes;
};

class Placement {
 public:
  static constexpr size_t kSlot = 64;  // bytes of a constant or of a value of the host

  // How a device computes a node that runs.
  struct Device {
    FunctionRef<bool(const Node& node)> joins;          // in one launch with others that need nothing of it
    FunctionRef<bool(const Node& node)> keeps_results;  // in memory of its own
    size_t rest = 0;  // launches that memory of the arena is not used again for, after it was read last
  };
  // Throws Error(usage) for an input of the host that does not fit into a slot, where the trace is one of a CUDA
  // device.
  Placement(const Trace& trace, const Device& device);

  // The nodes that run, in order. Of a location in the arena only the kind is known before finish().
  std::vector<PlacedNode> nodes() const;

  // Bytes of the arena while a launch runs, which rest before it, too: they are few, and launches that need no result
  // of each other would wait for them. The location must not move before finish(), which completes it.
  void book(Location& location, size_t bytes, size_t launch) {
    book(location, bytes, launch < rest_ ? 0 : launch - rest_, launch + rest_);
  }
  // Gives everything in the arena its offset, and returns the bytes of the arena. Without `reuse` all have bytes of
  // their own.
  size_t finish(bool reuse);
  // After finish(): where the bytes of the node's inputs and outputs are.
  void complete(PlacedNode& node) const;

  std::vector<ResultCopy> copies;
  std::vector<char> constants;      // a slot each, computed
  std::vector<size_t> host_inputs;  // a slot each, in this order: inputs of the host, of a trace on another device

 private:
  const TensorSpec& spec(ValueId id) const { return trace_.spec(id); }
  void place_inputs();
  void place_constants();
  void place_outputs();
  void place_arena(FunctionRef<bool(const Node& node)> keeps_results);
  void book(Location& location, size_t bytes, size_t first, size_t last);

  const Trace& trace_;
  const size_t rest_;
  ValueMap<ValueId> roots_;       // the value whose bytes a value has
  std::vector<size_t> launches_;  // per node: when it runs
  ValueMap<Location> locations_;  // of roots
  std::vector<ArenaBlock> blocks_;
  std::vector<Location*> booked_;  // of each block
};

}  // namespace retrace
