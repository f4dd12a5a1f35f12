#include "retrace/plan/layout/donation.h"

#include <map>

namespace retrace {
namespace {

// When an input is read for the last time.
struct LastRead {
  size_t launch = 0;  // from 1; 0: never
  size_t node = 0;    // the only one of that launch that reads it, or kSeveral
  static constexpr size_t kSeveral = static_cast<size_t>(-1);
};

std::vector<LastRead> find_last_reads(size_t inputs, std::span<const PlacedNode* const> nodes) {
  std::vector<LastRead> last(inputs);
  for (size_t n = 0; n < nodes.size(); ++n)
    for (const Location& from : nodes[n]->inputs) {
      if (from.kind != Location::Kind::input) continue;
      LastRead& read = last[from.at];
      const bool beside = read.launch == nodes[n]->launch + 1 && read.node != n;
      read = {nodes[n]->launch + 1, beside ? LastRead::kSeveral : n};
    }
  return last;
}

// Per input: whether it stays as it is.
std::vector<bool> find_kept(const Trace& trace, std::span<const ResultCopy> copies) {
  const DeviceId device = device_of(trace);
  std::vector<bool> kept;
  for (ValueId id : trace.inputs) kept.push_back(trace.spec(id).device != device);
  for (const ResultCopy& copy : copies)
    if (copy.from.kind == Location::Kind::input) kept[copy.from.at] = true;
  return kept;
}

}  // namespace

std::vector<int> find_donors(const Trace& trace, std::span<const PlacedNode* const> nodes,
                             std::span<const ResultCopy> copies, OwnDonor own_donor) {
  const auto bytes_of = [&](ValueId id) { return trace.spec(id).bytes(); };
  std::vector<int> donors(trace.outputs.size(), -1);
  std::vector<bool> taken = find_kept(trace, copies);
  const auto last = find_last_reads(trace.inputs.size(), nodes);
  std::map<size_t, std::vector<size_t>> by_size;
  for (size_t i = 0; i < last.size(); ++i)
    if (const auto bytes = bytes_of(trace.inputs[i])) by_size[bytes].push_back(i);

  for (size_t n = 0; n < nodes.size(); ++n) {
    const PlacedNode& node = *nodes[n];
    const auto earlier_donor = [&](size_t bytes) {
      for (size_t i : by_size[bytes])
        if (!taken[i] && last[i].launch <= node.launch) return static_cast<int>(i);
      return -1;
    };
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k].kind != Location::Kind::output) continue;
      int& donor = donors[node.outputs[k].at];
      donor = own_donor(n, k, [&](size_t input) { return !taken[input] && last[input].node == n; });
      if (donor < 0) donor = earlier_donor(bytes_of(trace.outputs[node.outputs[k].at]));
      if (donor >= 0) taken[static_cast<size_t>(donor)] = true;
    }
  }
  return donors;
}

}  // namespace retrace
