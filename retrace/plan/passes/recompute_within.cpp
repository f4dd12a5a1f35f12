#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

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
        users_(trace.values.size()),
        kept_(trace.values.size()),
        sizes_(trace.values.size()),
        bytes_(trace.nodes.size() + 1) {
    for (size_t n = 0; n < trace.nodes.size(); ++n) {
      const Node& node = trace.nodes[n];
      for (ValueId id : node.inputs) {
        if (auto& all = users_[index(id)]; all.empty() || all.back() != n) all.push_back(n);
        if (node.op->view) continue;
        if (auto& mine = readers_[index(id)]; mine.empty() || mine.back() != n) mine.push_back(n);
      }
    }
    for (ValueId id : trace.inputs) kept_[index(id)] = true;
    for (ValueId id : trace.outputs) kept_[index(id)] = true;
    for (size_t v = 0; v < trace.values.size(); ++v) {
      const auto& value = trace.values[v];
      if (index(static_cast<ValueId>(v)) != v || kept_[v] || value.count() < tuning.large_elements) continue;
      sizes_[v] = static_cast<int64_t>(value.bytes());
      bytes_[made(v)] += sizes_[v], bytes_[last(v) + 1] -= sizes_[v];
    }
    std::partial_sum(bytes_.begin(), bytes_.end(), bytes_.begin());
  }

  const Trace& trace() const { return trace_; }
  const Tuning& tuning() const { return tuning_; }
  size_t index(ValueId id) const { return static_cast<size_t>(root_[id]); }
  bool counts(size_t v) const { return sizes_[v] > 0; }
  bool kept(ValueId id) const { return kept_[index(id)]; }
  int64_t size(size_t v) const { return sizes_[v]; }
  size_t made(size_t v) const { return static_cast<size_t>(trace_.producers[v]); }
  size_t last(size_t v) const { return readers_[v].empty() ? made(v) : readers_[v].back(); }
  const std::vector<size_t>& readers(size_t v) const { return readers_[v]; }
  const std::vector<size_t>& users(size_t v) const { return users_[v]; }
  // In use at each node.
  const std::vector<int64_t>& bytes() const { return bytes_; }
  int64_t peak() const { return *std::max_element(bytes_.begin(), bytes_.end()); }

 private:
  const Trace& trace_;
  const Tuning& tuning_;
  ValueMap<ValueId> root_;                    // per value: whose bytes it shows
  std::vector<std::vector<size_t>> readers_;  // per root, ascending; no views
  std::vector<std::vector<size_t>> users_;    // with views
  std::vector<bool> kept_;                    // per root
  std::vector<int64_t> sizes_;                // per root: 0 of those that do not count
  std::vector<int64_t> bytes_;                // per node, and none after the last
};

// Bytes beyond `most`, summed over nodes first..end-1; of one value if `of` is its size.
int64_t excess(std::span<const int64_t> bytes, size_t first, size_t end, int64_t most, int64_t of = INT64_MAX) {
  int64_t sum = 0;
  for (size_t n = first; n < end; ++n) sum += std::clamp<int64_t>(bytes[n] - most, 0, of);
  return sum;
}

// A value that need not live between two of its readers.
struct Gap {
  size_t value, before, reader;  // nodes: the reader, or the maker, before the gap, and the reader after it
  int64_t gain;
  std::vector<size_t> nodes;  // ascending: what makes the value again
  int contractions;
};

// The nodes that make a value, and the views of it that are read from `reader` on, again there, of what is alive then.
class Again {
 public:
  Again(const Lives& lives, size_t value, size_t reader) : lives_(lives), value_(value), reader_(reader) {
    const auto& users = lives.users(value);
    for (auto n = std::lower_bound(users.begin(), users.end(), reader); n != users.end(); ++n)
      for (ValueId id : lives.trace().nodes[*n].inputs)
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
      const size_t first = std::exchange(before, reader);
      const int64_t gain = excess(lives.bytes(), first + 1, reader, most, lives.size(v));
      if (gain == 0) continue;
      const Again again(lives, v, reader);
      if (again.possible() && again.contractions() <= lives.tuning().restored_contractions)
        gaps.push_back({v, first, reader, gain, again.nodes(), again.contractions()});
    }
  }
  std::stable_sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) {
    return a.contractions != b.contractions ? a.contractions < b.contractions : a.gain > b.gain;
  });
  return gaps;
}

// Chooses gaps that share no value, so that each takes off what it takes off alone.
class Choice {
 public:
  Choice(const Lives& lives, int64_t most)
      : lives_(lives), most_(most), bytes_(lives.bytes()), touched_(lives.trace().values.size()) {}

  // Takes the gap if that lowers the excess.
  void offer(const Gap& gap) {
    const std::vector<size_t> roots = roots_of(gap);
    if (std::any_of(roots.begin(), roots.end(), [&](size_t v) { return touched_[v]; })) return;
    if (excess(bytes_, gap.before + 1, gap.reader, most_, lives_.size(gap.value)) <= excess_of_copies(gap)) return;
    for (size_t v : roots) touched_[v] = true;
    for (size_t n = gap.before + 1; n < gap.reader; ++n) bytes_[n] -= lives_.size(gap.value);
    chosen_.push_back(&gap);
  }
  const std::vector<const Gap*>& chosen() const { return chosen_; }

 private:
  // The values of a node that are no views.
  std::vector<size_t> made_by(size_t n) const {
    const Node& node = lives_.trace().nodes[n];
    std::vector<size_t> made;
    for (size_t i = 0; i < static_cast<size_t>(node.output_count) && !node.op->view; ++i)
      made.push_back(static_cast<size_t>(node.first_output) + i);
    return made;
  }
  std::vector<size_t> roots_of(const Gap& gap) const {
    std::vector<size_t> roots{gap.value};
    for (size_t n : gap.nodes) {
      for (ValueId id : lives_.trace().nodes[n].inputs) roots.push_back(lives_.index(id));
      for (size_t v : made_by(n)) roots.push_back(v);
    }
    return roots;
  }
  // Beyond the limit at the nodes that make the value again, before its reader: what lives across them, and copies
  // until they are read there for the last time.
  int64_t excess_of_copies(const Gap& gap) const {
    int64_t alive = bytes_[gap.reader] - lives_.size(gap.value), sum = 0;
    for (size_t v : made_by(gap.reader)) alive -= lives_.size(v);
    std::vector<int64_t> ends(gap.nodes.size() + 1);
    for (size_t k = 0; k < gap.nodes.size(); ++k) {
      for (size_t v : made_by(gap.nodes[k])) {
        alive += lives_.size(v);
        if (v != gap.value) ends[last_reader(gap, k, v) + 1] += lives_.size(v);
      }
      sum += std::max<int64_t>(0, alive - most_);
      alive -= ends[k + 1];
    }
    return sum;
  }
  // The position of the last copy from `k` on that reads a value.
  size_t last_reader(const Gap& gap, size_t k, size_t v) const {
    size_t last = k;
    for (size_t later = k + 1; later < gap.nodes.size(); ++later)
      for (ValueId id : lives_.trace().nodes[gap.nodes[later]].inputs)
        if (lives_.index(id) == v) last = later;
    return last;
  }

  const Lives& lives_;
  const int64_t most_;
  std::vector<int64_t> bytes_;  // without the gaps that are taken
  std::vector<bool> touched_;   // per root
  std::vector<const Gap*> chosen_;
};

// From their readers on, the copies are read.
Trace close(const Trace& trace, std::vector<const Gap*> gaps) {
  std::stable_sort(gaps.begin(), gaps.end(), [](const Gap* a, const Gap* b) { return a->reader < b->reader; });
  Rewriter rewrite(trace);
  auto gap = gaps.begin();
  for (size_t n = 0; n < trace.nodes.size(); ++n) {
    for (; gap != gaps.end() && (*gap)->reader == n; ++gap)
      for (size_t again : (*gap)->nodes) rewrite.copy(trace.nodes[again]);
    rewrite.copy(trace.nodes[n]);
  }
  return rewrite.finish();
}

// Closes gaps that cost as few contractions as the first that helps; false where none helps.
bool close_some(Trace& trace, const Tuning& tuning, int64_t most) {
  const Lives lives(trace, tuning);
  const int64_t before = excess(lives.bytes(), 0, lives.bytes().size(), most);
  const std::vector<Gap> gaps = find_gaps(lives, most);
  Choice choice(lives, most);
  for (const Gap& gap : gaps)
    if (choice.chosen().empty() || choice.chosen().front()->contractions == gap.contractions) choice.offer(gap);
  if (choice.chosen().empty()) return false;
  Trace closed = close(trace, choice.chosen());
  const Lives after(closed, tuning);
  if (excess(after.bytes(), 0, after.bytes().size(), most) >= before) return false;
  trace = std::move(closed);
  return true;
}

}  // namespace

Trace recompute_within(Trace trace, const PlanOptions& options) {
  const Tuning& tuning = options.tuning;
  const auto most = static_cast<int64_t>(options.memory_share * static_cast<double>(Lives(trace, tuning).peak()));
  while (close_some(trace, tuning, most)) continue;
  return trace;
}

}  // namespace retrace
