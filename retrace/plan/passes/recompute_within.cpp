#include <algorithm>
#include <set>

#include "retrace/plan/pass.h"
#include "retrace/plan/passes/recompute_within.h"
#include "retrace/trace/op.h"
#include "retrace/trace/trace_index.h"

namespace retrace {
namespace {

// When the bytes behind values are in use: from the node that makes them to the last that reads them. What the caller
// gives or gets is not counted.
class Lives {
 public:
  Lives(const Trace& trace, const Tuning& tuning)
      : trace_(trace),
        tuning_(tuning),
        root_(find_roots(trace)),
        readers_(trace.values.size()),
        bytes_(trace.nodes.size()) {
    for (size_t n = 0; n < trace.nodes.size(); ++n) {
      const Node& node = trace.nodes[n];
      if (node.op->view) continue;
      for (ValueId id : node.inputs)
        if (auto& mine = readers_[index(id)]; mine.empty() || mine.back() != n) mine.push_back(n);
    }
    kept_.resize(trace.values.size());
    for (ValueId id : trace.inputs) kept_[index(id)] = true;
    for (ValueId id : trace.outputs) kept_[index(id)] = true;
    for (size_t v = 0; v < trace.values.size(); ++v)
      if (counts(v))
        for (size_t n = made(v); n <= last(v); ++n) bytes_[n] += size(v);
  }

  const Trace& trace() const { return trace_; }
  const Tuning& tuning() const { return tuning_; }
  size_t index(ValueId id) const { return static_cast<size_t>(root_[id]); }
  bool counts(size_t v) const {
    return index(static_cast<ValueId>(v)) == v && !kept_[v] && trace_.values[v].count() >= tuning_.large_elements;
  }
  bool kept(ValueId id) const { return kept_[index(id)]; }
  int64_t size(size_t v) const { return static_cast<int64_t>(trace_.values[v].bytes()); }
  size_t made(size_t v) const { return static_cast<size_t>(trace_.producers[v]); }
  size_t last(size_t v) const { return readers_[v].empty() ? made(v) : readers_[v].back(); }
  const std::vector<size_t>& readers(size_t v) const { return readers_[v]; }
  int64_t peak() const { return bytes_.empty() ? 0 : *std::max_element(bytes_.begin(), bytes_.end()); }
  // Bytes beyond `most`, summed over nodes first..end-1; of one value if `of` is its size.
  int64_t excess(size_t first, size_t end, int64_t most, int64_t of = INT64_MAX) const {
    int64_t sum = 0;
    for (size_t n = first; n < end; ++n) sum += std::clamp<int64_t>(bytes_[n] - most, 0, of);
    return sum;
  }
  int64_t excess(int64_t most) const { return excess(0, bytes_.size(), most); }

 private:
  const Trace& trace_;
  const Tuning& tuning_;
  ValueMap<ValueId> root_;                    // per value: whose bytes it shows
  std::vector<std::vector<size_t>> readers_;  // per root, ascending; no views
  std::vector<bool> kept_;                    // per root
  std::vector<int64_t> bytes_;                // per node
};

// A value that need not live between two of its readers.
struct Gap {
  size_t value, reader;  // the second one
  int64_t gain;
  std::vector<size_t> nodes;  // ascending: what makes the value again
  int contractions;
};

// The nodes that make a value, and the views of it that are read from `reader` on, again there, of what is alive then.
class Again {
 public:
  Again(const Lives& lives, size_t value, size_t reader) : lives_(lives), value_(value), reader_(reader) {
    const Trace& trace = lives.trace();
    for (size_t n = reader; n < trace.nodes.size(); ++n)
      for (ValueId id : trace.nodes[n].inputs)
        if (lives.index(id) == value) possible_ = possible_ && add(id);
    std::sort(nodes_.begin(), nodes_.end());
  }
  bool possible() const { return possible_ && nodes_.size() <= lives_.tuning().restored_ops; }
  const std::vector<size_t>& nodes() const { return nodes_; }
  int contractions() const {
    return static_cast<int>(
        std::count_if(nodes_.begin(), nodes_.end(), [&](size_t n) { return lives_.trace().nodes[n].op->contraction; }));
  }

 private:
  bool at_hand(ValueId id) const {
    const size_t v = lives_.index(id);
    if (v == value_) return false;
    return lives_.kept(id) || !lives_.counts(v) || lives_.last(v) >= reader_;
  }
  bool add(ValueId id) {
    const size_t p = lives_.trace().producer_index(id);
    if (p == kNoNode || p >= reader_ || at_hand(id)) return true;
    const size_t n = p;
    if (std::find(nodes_.begin(), nodes_.end(), n) != nodes_.end()) return true;
    if (nodes_.size() > lives_.tuning().restored_ops) return false;
    nodes_.push_back(n);
    const auto& inputs = lives_.trace().nodes[n].inputs;
    return std::all_of(inputs.begin(), inputs.end(), [&](ValueId input) { return add(input); });
  }

  const Lives& lives_;
  size_t value_, reader_;
  bool possible_ = true;
  std::vector<size_t> nodes_;
};

// Cheap ones first, then those that take most off where too much is alive.
std::vector<Gap> find_gaps(const Lives& lives, int64_t most) {
  std::vector<Gap> gaps;
  for (size_t v = 0; v < lives.trace().values.size(); ++v) {
    if (!lives.counts(v)) continue;
    size_t before = lives.made(v);
    for (size_t reader : lives.readers(v)) {
      const int64_t gain = lives.excess(before + 1, reader, most, lives.size(v));
      before = reader;
      if (gain == 0) continue;
      const Again again(lives, v, reader);
      if (again.possible() && again.contractions() <= lives.tuning().restored_contractions)
        gaps.push_back({v, reader, gain, again.nodes(), again.contractions()});
    }
  }
  std::stable_sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) {
    return a.contractions != b.contractions ? a.contractions < b.contractions : a.gain > b.gain;
  });
  return gaps;
}

// From the reader on, the copies are read.
Trace close(const Trace& trace, const Gap& gap) {
  Rewriter rewrite(trace);
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    if (n == gap.reader)
      for (size_t again : gap.nodes) rewrite.copy(trace.nodes[again]);
    rewrite.copy(trace.nodes[n]);
  }
  return rewrite.finish();
}

}  // namespace

Trace recompute_within(Trace trace, const PlanOptions& options) {
  const Tuning& tuning = options.tuning;
  const auto most = static_cast<int64_t>(options.memory_share * static_cast<double>(Lives(trace, tuning).peak()));
  for (bool better = true; better;) {
    better = false;
    const Lives lives(trace, tuning);
    const int64_t excess = lives.excess(most);
    for (const Gap& gap : find_gaps(lives, most)) {
      Trace closed = close(trace, gap);
      if (Lives(closed, tuning).excess(most) >= excess) continue;
      trace = std::move(closed);
      better = true;
      break;
    }
  }
  return trace;
}

}  // namespace retrace
