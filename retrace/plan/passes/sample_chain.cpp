#include "retrace/plan/passes/sample_chain.h"

#include <algorithm>
#include <bit>

#include "retrace/plan/programs/samples.h"
#include "retrace/plan/programs/tile_program.h"
#include "retrace/trace/op.h"

namespace retrace {
namespace {

int64_t bytes_of(const Trace& trace, ValueId id) { return static_cast<int64_t>(trace.spec(id).bytes()); }

}  // namespace

int64_t choose_slab(const Trace& trace, std::span<const size_t> members, int64_t samples, const Tuning::Samples& limits,
                    int threads) {
  int64_t least = 1, widest = 1;
  for (size_t n : members) {
    const Node& node = trace.nodes[n];
    int64_t cut = 0, whole = 0;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (is_cut(trace, node, i, samples))
        cut += bytes_of(trace, node.inputs[i]);
      else if (i < node.own_inputs())  // what a fused chain reads is not prepared
        whole += bytes_of(trace, node.inputs[i]);
    const bool sum = by_sample(trace, node, samples) == BySample::sum;
    for (int i = 0; i < node.output_count; ++i) (sum ? whole : cut) += bytes_of(trace, node.first_output + i);
    const int64_t sample = std::max<int64_t>(1, cut / samples);
    widest = std::max(widest, sample);
    least = std::max(least, sum ? subtree_samples(trace, node) : 1);
    if (!is_tile_chain(trace, node)) least = std::max(least, (limits.work * whole + sample - 1) / sample);
  }
  least = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(least)));
  const auto most = static_cast<uint64_t>(std::max<int64_t>(1, limits.slab_bytes / widest));
  int64_t slab = std::max(least, static_cast<int64_t>(std::bit_floor(most)));
  const int64_t slabs = std::max<int64_t>(limits.slabs, threads);
  while (slab > least && samples < slab * 2 * slabs) slab /= 2;
  const int64_t most_bytes = slab == 1 ? limits.most_sample_bytes : limits.most_slab_bytes;
  if (slab * widest > most_bytes) return 0;
  const bool shared_evenly = slab == 1 && samples % threads == 0;  // each thread has as many
  return samples >= slab * slabs || shared_evenly ? slab : 0;
}

void add_sample_chain(Rewriter& rewrite, std::span<const size_t> members, std::span<const ValueId> outputs,
                      int64_t samples, int64_t slab) {
  Node node;
  node.op = &sample_chain_op();
  node.attributes.add("samples", samples);
  node.attributes.add("slab", slab);
  add_whole(rewrite, std::move(node), extract(rewrite.from(), members, outputs), members, outputs);
}

}  // namespace retrace
