#include "retrace/plan/donation.h"

#include <algorithm>
#include <map>
#include <set>

#include "retrace/plan/plan.h"

namespace retrace {
namespace {

// When an input is read for the last time.
struct LastRead {
  size_t launch = 0;  // from 1; 0: never
  size_t step = 0;    // the only one of that launch that reads it, or kSeveral
  static constexpr size_t kSeveral = static_cast<size_t>(-1);
};

std::vector<LastRead> find_last_reads(size_t inputs, std::span<const DonationStep> steps) {
  std::vector<LastRead> last(inputs);
  for (size_t s = 0; s < steps.size(); ++s)
    for (const auto& from : steps[s].inputs) {
      if (from.kind != Location::Kind::input) continue;
      LastRead& read = last[from.at];
      const bool beside = read.launch == steps[s].launch + 1 && read.step != s;
      read = {steps[s].launch + 1, beside ? LastRead::kSeveral : s};
    }
  return last;
}

}  // namespace

std::vector<int> find_donors(const Trace& trace, std::span<const DonationStep> steps, std::vector<bool> taken,
                             OwnDonor own_donor) {
  const auto bytes_of = [&](ValueId id) { return trace.values[static_cast<size_t>(id)].bytes(); };
  std::vector<int> donors(trace.outputs.size(), -1);
  const auto last = find_last_reads(trace.inputs.size(), steps);
  std::map<size_t, std::vector<size_t>> by_size;
  for (size_t i = 0; i < last.size(); ++i)
    if (const auto bytes = bytes_of(trace.inputs[i])) by_size[bytes].push_back(i);

  for (size_t s = 0; s < steps.size(); ++s) {
    const DonationStep& step = steps[s];
    const auto earlier_donor = [&](size_t bytes) {
      for (size_t i : by_size[bytes])
        if (!taken[i] && last[i].launch <= step.launch) return static_cast<int>(i);
      return -1;
    };
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      if (step.outputs[k].kind != Location::Kind::output) continue;
      int& donor = donors[step.outputs[k].at];
      donor = own_donor(s, k, [&](size_t input) { return !taken[input] && last[input].step == s; });
      if (donor < 0) donor = earlier_donor(bytes_of(trace.outputs[step.outputs[k].at]));
      if (donor >= 0) taken[static_cast<size_t>(donor)] = true;
    }
  }
  return donors;
}

void Plan::find_donors() {
  donors_.assign(trace_.outputs.size(), -1);
  if (!pass_is_on("place_memory")) return;
  std::vector<DonationStep> steps;
  for (const Step& step : steps_) steps.push_back({step.launch, step.inputs, step.outputs});
  std::vector<bool> kept(trace_.inputs.size());
  for (const auto& copy : copies_)  // at the end of a run
    if (copy.from.kind == Location::Kind::input) kept[copy.from.at] = true;
  donors_ = retrace::find_donors(
      trace_, steps, std::move(kept),
      [&](size_t s, size_t k, FunctionRef<bool(size_t)> free) { return own_donor(steps_[s], k, free); });
}

// A chain, also an epilogue, reads an element before it writes it. Of the inputs that it may overwrite, that which it
// reads latest: the others may serve an output that is written earlier.
int Plan::own_donor(const Step& step, size_t output, FunctionRef<bool(size_t input)> free) {
  const bool epilogue = step.raw_spec != nullptr;
  const bool raw_lies_there =
      step.raw.kind == Location::Kind::output && step.raw.at == step.outputs[output].at;  // before the chain reads
  const bool read_again = !step.reductions.empty();                                       // once a range is done
  if ((!step.chain && !epilogue) || raw_lies_there || read_again) return -1;
  const size_t first = epilogue ? step.own_inputs : 0;  // of the chain's inputs; an epilogue's own first is the raw one
  const auto last_read = [&](const Location& from) {
    int last = -1;
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (step.inputs[i] == from)
        last = std::max(last, i < first ? TileProgram::kAlways : step.program->last_read(i - first + epilogue));
    return last;
  };
  int best = -1, latest = -1;
  for (size_t i = first; i < step.inputs.size(); ++i) {
    const auto& from = step.inputs[i];
    if (from.kind != Location::Kind::input || !free(from.at)) continue;
    if (step.input_specs[i]->bytes() != step.output_specs[output]->bytes()) continue;
    const int read = last_read(from);
    if (read > latest && read <= step.program->first_write(output)) best = static_cast<int>(from.at), latest = read;
  }
  return best;
}

std::vector<int> CudaPlan::find_donors() const {
  if (!pass_is_on("place_memory")) return std::vector<int>(trace_.outputs.size(), -1);
  std::vector<DonationStep> steps;
  for (const Step& step : steps_) steps.push_back({step.launch, step.inputs, step.outputs});
  std::vector<bool> kept;
  for (ValueId id : trace_.inputs) kept.push_back(trace_.values[static_cast<size_t>(id)].device == 0);
  for (const auto& copy : copies_)  // at the end of a run
    if (copy.from.kind == Location::Kind::input) kept[copy.from.at] = true;
  return retrace::find_donors(trace_, steps, std::move(kept), [&](size_t s, size_t k, FunctionRef<bool(size_t)> free) {
    return own_donor(steps_[s], k, free);
  });
}

// A thread reads all arguments of its element before it writes a result. State keeps its place: of the outputs that are
// left, the first takes the first input that is left, the second the second, in the order of the trace.
int CudaPlan::own_donor(const Step& step, size_t output, FunctionRef<bool(size_t input)> free) const {
  if (!is_chain(trace_, *step.node)) return -1;
  const auto bytes = [](const std::vector<const TensorSpec*>& specs, size_t i) { return specs[i]->bytes(); };
  size_t before = 0;
  for (size_t k = output + 1; k < step.outputs.size(); ++k)
    before += step.outputs[k].kind == Location::Kind::output && step.outputs[k].at < step.outputs[output].at &&
              bytes(step.output_specs, k) == bytes(step.output_specs, output);
  std::set<size_t> left;
  for (size_t i = 0; i < step.inputs.size(); ++i)
    if (step.inputs[i].kind == Location::Kind::input && step.input_specs[i]->count() == step.count() &&
        bytes(step.input_specs, i) == bytes(step.output_specs, output) && free(step.inputs[i].at))
      left.insert(step.inputs[i].at);
  return before < left.size() ? static_cast<int>(*std::next(left.begin(), static_cast<std::ptrdiff_t>(before))) : -1;
}

}  // namespace retrace
