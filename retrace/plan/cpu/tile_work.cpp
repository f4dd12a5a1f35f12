#include "retrace/plan/cpu/tile_work.h"

#include <algorithm>

#include "retrace/device/cpu/threads.h"

namespace retrace {

TileWork::TileWork(StepSite& site, const Body& body, TileProgram::Use use)
    : program_(without_reductions(body), use),
      input_count_(body.trace.inputs.size()),
      addresses_(site.book_addresses(body.trace.inputs.size() + body.trace.outputs.size())) {
  site.book(patterns_, program_.pattern_bytes());
  reductions_.reserve(static_cast<size_t>(body.reductions));  // what is booked must not move
  for (const Node& node : std::span(body.trace.nodes).last(static_cast<size_t>(body.reductions)))
    add_reduction(site, body.trace, node);
}

void TileWork::add_reduction(StepSite& site, const Trace& body, const Node& node) {
  const auto index = [](const std::vector<ValueId>& list, ValueId id) {
    return static_cast<size_t>(std::find(list.begin(), list.end(), id) - list.begin());
  };
  Reduction& reduction = reductions_.emplace_back(
      Reduction{StripReduction(body, node), {}, index(body.outputs, node.first_output), 0, {}});
  for (ValueId id : node.inputs) {
    const size_t input = index(body.inputs, id);
    reduction.inputs.push_back(input < input_count_ ? input : input_count_ + index(body.outputs, id));
  }
  reduction.addresses = site.book_addresses(reduction.inputs.size());
  site.book(reduction.workspace, reduction.work.workspace_bytes());
}

void TileWork::prepare(const StepRun& run) const {
  program_.prepare(inputs(run), static_cast<float*>(run.at(patterns_)));
  for (const Reduction& reduction : reductions_) {
    void** to = run.addresses(reduction.addresses);
    for (size_t from : reduction.inputs) *to++ = inputs(run)[from];
    reduction.work.prepare(reduction.inputs_in(run), run.at(reduction.workspace));
  }
}

void TileWork::compute(const StepRun& run, int64_t begin, int64_t end) const {
  program_.run(begin, end, inputs(run), outputs(run), static_cast<const float*>(run.at(patterns_)));
  for (const Reduction& reduction : reductions_)
    reduction.work.add(begin, end, reduction.inputs_in(run), run.at(reduction.workspace));
}

void TileWork::finish(const StepRun& run) const {
  if (reductions_.empty()) return;
  run_pieces(static_cast<int64_t>(reductions_.size()), [&](int64_t i) {
    const Reduction& reduction = reductions_[static_cast<size_t>(i)];
    reduction.work.finish(reduction.inputs_in(run), outputs(run) + reduction.first_output, run.at(reduction.workspace));
  });
}

}  // namespace retrace
