#include "retrace/plan/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "retrace/base/options.h"
#include "retrace/plan/pass_changes.h"
#include "retrace/plan/passes/memory_share.h"
#include "retrace/plan/passes/passes.h"

namespace retrace {
namespace {

constexpr double kMiB = 1048576;
constexpr double kFirstShare = 0.9, kLastShare = 0.02, kStep = 0.85;  // of the attempts under a memory limit

constexpr Pass kPasses[] = {
    {"lower_composites", "composites become the ops of their definition", lower_composites, true, true},
    {"fold_constants", "what is made of constants alone is computed while planning", fold_constants, false, true},
    {"simplify", "exact rewrites: identity, x*1, x/1, --x", simplify, false, true},
    {"merge_common", "equal nodes are computed once", merge_common, false, true},
    {"remove_dead", "what no output needs is dropped", remove_dead, false, true},
    {"place_exchanges", "sums over workers travel together, while other kernels run", place_exchanges, true, true},
    {"mask_before_unpool", "relu's mask is applied to the pooled gradient", mask_before_unpool, false, true},
    {"recompute_cheap", "a cheap value is computed again where it is read late", recompute_cheap},
    {"fuse_rows", "narrow layers over many rows become one kernel", fuse_rows},
    {"fuse_prologues", "a chain is computed while its reduction reads it", fuse_prologues},
    {"fuse_pointwise", "pointwise neighbours become one kernel", fuse_pointwise, false, true},
    {"fuse_epilogues", "a chain is computed on a contraction's or pooling's tiles", fuse_epilogues},
    {"fuse_samples", "layers and their gradients run on a few samples at a time", fuse_samples},
    {"fuse_reductions", "sums over positions are taken where the array is made", fuse_reductions},
};

void check_names(const std::vector<std::string>& names) {
  std::vector<std::string> known{std::string(kPlaceMemory)};
  for (const auto& pass : kPasses)
    if (!pass.required) known.emplace_back(pass.name);
  for (const auto& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto near = nearest(name, known);
    throw Error(ErrorKind::usage, 230, fmt::format("there is no pass \"{}\" to switch off", name))
        .expected(fmt::format("{}", fmt::join(known, ", ")))
        .help(near.empty() ? "" : fmt::format("did you mean {}?", near));
  }
}

PlanOptions options_of_environment() {
  PlanOptions options;
  options.passes_off = environment_list(EnvironmentVariable::passes_off);
  check_names(options.passes_off);
  options.memory_limit = static_cast<size_t>(environment_number(EnvironmentVariable::memory_limit, 1, 1 << 30, 0))
                         << 20;
  return options;
}

std::mutex options_mutex;

// Under the mutex.
PlanOptions& options_of_process() {
  static PlanOptions options = options_of_environment();
  return options;
}

// In the largest unit of which there is one.
std::string size_text(size_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  if (bytes < kMiB) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / kMiB);
}

[[noreturn]] void cannot_meet(size_t limit, size_t whole, size_t least) {
  throw Error(ErrorKind::usage, 231, fmt::format("the memory limit of {} cannot be met", size_text(limit)))
      .got(fmt::format("{} for the intermediates of a step; {} if values are computed again", size_text(whole),
                       size_text(least)))
      .expected(fmt::format("a limit of {} MiB or more", (least + (size_t{1} << 20) - 1) >> 20))
      .help("raise RETRACE_MEMORY_LIMIT, or make the mini-batch smaller");
}

std::shared_ptr<const Plan> plan_once(const Trace& recorded, const PlanOptions& options) {
  std::vector<PassReport> reports;
  Trace planned = optimise(recorded, options, &reports);
  return std::make_shared<const Plan>(std::move(planned), options, std::move(reports));
}

}  // namespace

PlanOptions plan_options() {
  std::lock_guard lock(options_mutex);
  return options_of_process();
}

void set_passes_off(const std::vector<std::string>& names) {
  check_names(names);
  std::lock_guard lock(options_mutex);
  options_of_process().passes_off = names;
}

void set_memory_limit(size_t bytes) {
  std::lock_guard lock(options_mutex);
  options_of_process().memory_limit = bytes;
}

// What a pass counts is not what fusion and placement make of it: the share is lowered until the arena fits, by the
// same steps for every limit, so that the least that an error names can be had.
std::shared_ptr<const Plan> make_plan(const Trace& recorded, const PlanOptions& options) {
  auto plan = plan_once(recorded, options);
  const size_t most = options.memory_limit, whole = plan->arena_bytes();
  if (most == 0 || whole <= most) return plan;
  size_t least = whole;
  for (double share = kFirstShare; share > kLastShare; share *= kStep) {
    const MemoryShare scope(share);
    plan = plan_once(recorded, options);
    if (plan->arena_bytes() <= most) return plan;
    least = std::min(least, plan->arena_bytes());
  }
  cannot_meet(most, whole, least);
}

std::span<const Pass> all_passes() { return kPasses; }

Trace optimise(const Trace& recorded, const PlanOptions& options, std::vector<PassReport>* report) {
  Trace trace = recorded;
  auto* const changes = PassChanges::current();
  if (changes) changes->begin(trace);
  const bool cuda = device_of(recorded) > 0;
  for (const auto& pass : kPasses) {
    if (cuda && !pass.cuda) continue;
    PassReport line{pass.name, pass.required || options.is_on(pass.name), 0, trace.nodes.size(), trace.nodes.size()};
    if (line.on) {
      const auto start = std::chrono::steady_clock::now();
      trace = pass.run(std::move(trace));
      line.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      line.nodes_after = trace.nodes.size();
      verify(trace, pass.name);
    }
    if (changes) changes->add(line, trace);
    if (report) report->push_back(line);
  }
  return trace;
}

}  // namespace retrace
