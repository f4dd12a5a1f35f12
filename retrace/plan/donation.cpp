// Which output may be made in the memory of which input.

#include <algorithm>
#include <map>

#include "retrace/plan/plan.h"

namespace retrace {
namespace {

// When an input is read for the last time.
struct LastRead {
  size_t launch = 0;  // from 1; 0: never
  size_t step = 0;    // the only one of that launch that reads it, or kSeveral
  static constexpr size_t kSeveral = static_cast<size_t>(-1);
};

}  // namespace

void Plan::find_donors() {
  donors_.assign(trace_.outputs.size(), -1);
  if (!pass_is_on("place_memory")) return;
  std::vector<LastRead> last(trace_.inputs.size());
  for (size_t s = 0; s < steps_.size(); ++s)
    for (const auto& from : steps_[s].inputs) {
      if (from.kind != Location::Kind::input) continue;
      LastRead& read = last[from.at];
      const bool beside = read.launch == steps_[s].launch + 1 && read.step != s;
      read = {steps_[s].launch + 1, beside ? LastRead::kSeveral : s};
    }
  std::vector<bool> taken(trace_.inputs.size());
  for (const auto& copy : copies_)  // at the end of a run
    if (copy.from.kind == Location::Kind::input) taken[copy.from.at] = true;
  std::map<size_t, std::vector<size_t>> by_size;
  for (size_t i = 0; i < last.size(); ++i)
    if (const auto bytes = trace_.values[static_cast<size_t>(trace_.inputs[i])].bytes()) by_size[bytes].push_back(i);

  for (size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = steps_[s];
    const auto earlier_donor = [&](size_t output) {
      for (size_t i : by_size[step.output_specs[output]->bytes()])
        if (!taken[i] && last[i].launch <= step.launch) return static_cast<int>(i);
      return -1;
    };
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      if (step.outputs[k].kind != Location::Kind::output) continue;
      int donor = own_donor(step, k, [&](size_t input) { return !taken[input] && last[input].step == s; });
      if (donor < 0) donor = earlier_donor(k);
      if (donor >= 0) taken[static_cast<size_t>(donor)] = true;
      donors_[step.outputs[k].at] = donor;
    }
  }
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
      if (step.inputs[i].kind == from.kind && step.inputs[i].at == from.at)
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

}  // namespace retrace
