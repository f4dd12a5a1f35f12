#include "retrace/plan/cpu/cpu_plan.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <span>
#include <utility>

#include "retrace/base/fp_environment.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/plan/layout/arena.h"
#include "retrace/plan/layout/donation.h"

namespace retrace {
namespace {

// Plans that this thread is running: a step may run one over some of the samples, or for each step of a loop.
thread_local size_t depth = 0;

class DepthScope {
 public:
  DepthScope() { ++depth; }
  ~DepthScope() { --depth; }
};

StepRun::Memory& run_memory() {
  thread_local std::deque<StepRun::Memory> memory;  // each stays where it is
  if (memory.size() < depth) memory.resize(depth);
  return memory[depth - 1];
}

}  // namespace

CpuPlan::CpuPlan(const Trace& trace, const PlanOptions& options, std::vector<bool> steady)
    : trace_(trace), kept_{std::move(steady)} {
  Placement placement(trace, {.joins = [&](const Node& node) { return kind_of(trace, node).joins; },
                              .keeps_results = [](const Node&) { return false; }});
  for (PlacedNode& placed : placement.nodes()) {
    const StepKind& kind = kind_of(trace, *placed.node);
    StepSite site(trace, options, std::move(placed), placement, kept_, addresses_);
    steps_.push_back(kind.make(site));
  }
  arena_bytes_ = placement.finish(options.is_on(kPlaceMemory));
  for (auto& step : steps_) step->complete(placement);
  copies_ = std::move(placement.copies);
  constants_ = std::move(placement.constants);
  add_launches();
}

void CpuPlan::add_launches() {
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = *steps_[i];
    if (step.placed().launch == launches_.size()) launches_.push_back({i, 0, 0, {}});
    Launch& launch = launches_.back();
    ++launch.count;
    launch.pieces += step.pieces();
  }
  for (Launch& launch : launches_)
    if (reads_again(launch)) launch.order = side_by_side(launch);
}

// Whether a step reads an array, as large as what it makes, that a step before it in the launch reads.
bool CpuPlan::reads_again(const Launch& launch) const {
  std::vector<Location> read;
  for (const auto& step : std::span(steps_).subspan(launch.first, launch.count)) {
    const PlacedNode& own = step->placed();
    const size_t before = read.size();
    for (size_t i = 0; i < own.inputs.size(); ++i) {
      if (launch.count == 1 || own.input_specs[i]->bytes() < own.output_specs[0]->bytes()) continue;
      if (std::find(read.begin(), read.begin() + static_cast<long>(before), own.inputs[i]) !=
          read.begin() + static_cast<long>(before))
        return true;
      read.push_back(own.inputs[i]);
    }
  }
  return false;
}

// All steps go through their arrays at the same pace, so that what one has read is in the caches for the next.
std::vector<uint32_t> CpuPlan::side_by_side(const Launch& launch) const {
  std::vector<std::pair<double, uint32_t>> pieces;
  for (const auto& step : std::span(steps_).subspan(launch.first, launch.count))
    for (int64_t i = 0; i < step->pieces(); ++i)
      pieces.emplace_back(static_cast<double>(i) / static_cast<double>(step->pieces()),
                          static_cast<uint32_t>(pieces.size()));
  std::sort(pieces.begin(), pieces.end());
  std::vector<uint32_t> order;
  for (const auto& piece : pieces) order.push_back(piece.second);
  return order;
}

void CpuPlan::run_launch(const Launch& launch, const StepRun& run) const {
  if (launch.count == 1) return steps_[launch.first]->run(run);
  const auto steps = std::span(steps_).subspan(launch.first, launch.count);
  for (const auto& step : steps) step->prepare(run);
  run_pieces(launch.pieces, [&](int64_t at) {
    int64_t piece = launch.order.empty() ? at : launch.order[static_cast<size_t>(at)];
    auto step = steps.begin();
    for (; piece >= (*step)->pieces(); ++step) piece -= (*step)->pieces();
    (*step)->run_piece(run, piece);
  });
  for (const auto& step : steps) step->finish(run);
}

void CpuPlan::run_all(const void* const* inputs, void* const* outputs, std::vector<double>* seconds, KeptFactor kept) {
  const FloatingPointScope environment;
  const ParallelRegion region;
  const DepthScope running;
  StepRun::Memory& memory = run_memory();
  if (memory.addresses.size() < addresses_) memory.addresses.resize(addresses_);
  const StepRun run(inputs, outputs, static_cast<char*>(arena_memory(depth - 1, arena_bytes_)), constants_.data(), kept,
                    memory);
  if (seconds) seconds->resize(launches_.size());
  for (size_t i = 0; i < launches_.size(); ++i) {
    if (!seconds) {
      run_launch(launches_[i], run);
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    run_launch(launches_[i], run);
    (*seconds)[i] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  for (const ResultCopy& copy : copies_)
    if (copy.bytes) std::memcpy(outputs[copy.output], run.at(copy.from), copy.bytes);
}

std::vector<int> CpuPlan::find_donors() const {
  std::vector<const PlacedNode*> nodes;
  for (const auto& step : steps_) nodes.push_back(&step->placed());
  return retrace::find_donors(trace_, nodes, copies_, [&](size_t s, size_t k, FunctionRef<bool(size_t)> free) {
    return own_donor(*steps_[s], k, free);
  });
}

// Of the inputs that the step may overwrite, that which it reads latest: the others may serve an output that is written
// earlier.
int CpuPlan::own_donor(const Step& step, size_t output, FunctionRef<bool(size_t input)> free) {
  const PlacedNode& own = step.placed();
  const auto last_read = [&](const Location& from) {
    int last = -1;
    for (size_t i = 0; i < own.inputs.size(); ++i)
      if (own.inputs[i] == from) last = std::max(last, step.last_read(i));
    return last;
  };
  const int first_write = step.first_write(output);
  int best = -1, latest = -1;
  for (size_t i = 0; i < own.inputs.size(); ++i) {
    const Location& from = own.inputs[i];
    if (from.kind != Location::Kind::input || !free(from.at)) continue;
    if (own.input_specs[i]->bytes() != own.output_specs[output]->bytes()) continue;
    const int read = last_read(from);
    if (read <= latest || read > first_write) continue;
    best = static_cast<int>(from.at);
    latest = read;
  }
  return best;
}

size_t CpuPlan::thread_bytes() const {
  size_t most = 0;
  for (const auto& step : steps_) most = std::max(most, step->thread_bytes());
  return most;
}

std::vector<PlannedCall> CpuPlan::calls() const {
  std::vector<PlannedCall> calls;
  for (const auto& step : steps_) {
    if (step->placed().launch == calls.size()) calls.push_back({{}, calls.size(), 1});
    calls.back().nodes.push_back(&step->node());
  }
  return calls;
}

}  // namespace retrace
