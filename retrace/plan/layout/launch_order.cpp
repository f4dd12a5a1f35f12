#include "retrace/plan/layout/launch_order.h"

#include <algorithm>

#include "retrace/trace/op.h"

namespace retrace {

bool runs(const Node& node) { return !node.op->view && node.op->inputs != 0; }

std::vector<size_t> number_launches(const Trace& trace, const ValueMap<ValueId>& roots,
                                    FunctionRef<bool(const Node& node)> is_chain) {
  std::vector<size_t> launch(trace.nodes.size());
  ValueMap<size_t> made(trace);  // the number of the launch, from 1
  size_t launches = 0;
  bool open = false;
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    const Node& node = trace.nodes[n];
    if (!runs(node)) continue;
    const bool chain = is_chain(node);
    const bool joins = chain && open && std::none_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
                         return made[roots[id]] == launches;
                       });
    if (!joins) ++launches;
    launch[n] = launches - 1;
    open = chain;
    for (int i = 0; i < node.output_count; ++i) made[node.first_output + i] = launches;
  }
  return launch;
}

}  // namespace retrace
