#include "retrace/plan/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>

#include "retrace/base/joined.h"
#include "retrace/base/options.h"
#include "retrace/base/warning.h"
#include "retrace/device/cpu/fast_mode.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/plan/cuda/cuda_epilogue.h"
#include "retrace/plan/options_scope.h"
#include "retrace/plan/pass_changes.h"

namespace retrace {
namespace {

constexpr double kMiB = 1048576;

// The order is part of what the passes do.
constexpr std::string_view kOrder[] = {
    "lower_composites", "fold_constants",     "simplify",        "merge_common",    "merge_loops", "remove_dead",
    "place_exchanges",  "mask_before_unpool", "sink_views",      "recompute_cheap", "fuse_parts",  "fuse_rows",
    "fuse_prologues",   "fuse_pointwise",     "fuse_epilogues",  "fuse_samples",    "fuse_lines",  "fuse_line_kernels",
    "fuse_reductions",  "fuse_results",       "order_by_memory",
};

std::vector<Pass> passes_in_order() {
  std::vector<Pass> table, passes;
  define_all_passes(table);
  for (const auto name : kOrder) {
    const auto at = std::find_if(table.begin(), table.end(), [&](const Pass& pass) { return pass.name == name; });
    ensure(at != table.end(), "a pass of the order is NAME.cpp with a case NAME.trace in plan/passes");
    passes.push_back(*at);
  }
  ensure(passes.size() == table.size(), "every pass of plan/passes has its place in the order");
  return passes;
}

void check_names(const std::vector<std::string>& names) {
  std::vector<std::string> known{std::string(kPlaceMemory)};
  for (const auto& pass : all_passes())
    if (!pass.required) known.emplace_back(pass.name);
  for (const auto& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto near = nearest(name, known);
    throw Error(ErrorKind::usage, 230, fmt::format("there is no pass \"{}\" to switch off", name))
        .expected(joined(known, ", "))
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
std::atomic<uint64_t> process_number{0};  // of the options of the process
thread_local const PlanOptionsScope* innermost_scope = nullptr;

// Under the mutex: all options that there were so far, by their numbers. At first those of the environment.
std::deque<PlanOptions>& known_options() {
  static std::deque<PlanOptions> known{options_of_environment()};
  return known;
}

// Under the mutex.
uint64_t number_of(PlanOptions options) {
  options.threads = 1, options.mode = Mode::reproducible;
  auto& known = known_options();
  const auto at = std::find(known.begin(), known.end(), options);
  const auto number = static_cast<uint64_t>(at - known.begin());
  if (at == known.end()) known.push_back(std::move(options));
  return number;
}

// Changes the options of the process.
template <class F>
void change_options(const F& change) {
  const std::lock_guard lock(options_mutex);
  PlanOptions options = known_options()[process_number];
  change(options);
  process_number = number_of(std::move(options));
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

bool has_cuda_epilogues(const Trace& planned) {
  return device_of(planned) > 0 && std::any_of(planned.nodes.begin(), planned.nodes.end(), has_epilogue);
}

Trace apply_passes(const Trace& recorded, const PlanOptions& options, PassChanges* changes,
                   std::vector<PassReport>* report) {
  Trace trace = recorded;
  if (changes) changes->begin(trace);
  const bool cuda = device_of(recorded) > 0;
  for (const auto& pass : all_passes()) {
    if (cuda ? !pass.cuda : !pass.cpu) continue;
    PassReport line{pass.name, pass.required || options.is_on(pass.name), 0, trace.nodes.size(), trace.nodes.size()};
    if (line.on) {
      const auto start = std::chrono::steady_clock::now();
      const Node* const given = trace.nodes.data();
      trace = pass.run(std::move(trace), options);
      line.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      line.nodes_after = trace.nodes.size();
      // What it hands back is as sound as what it was given.
      if (trace.nodes.data() != given) verify(trace, pass.name);
    }
    if (changes) changes->add(line, trace);
    if (report) report->push_back(line);
  }
  return trace;
}

// The bodies of loops go through the passes, too.
Trace plan_loops(Trace trace, const PlanOptions& options) {
  for (Node& node : trace.nodes) {
    if (!node.op->loop) continue;
    for (Attribute& attribute : node.attributes.entries())
      if (auto* body = std::get_if<std::shared_ptr<const Trace>>(&attribute.value))
        *body = std::make_shared<const Trace>(plan_loops(apply_passes(**body, options, nullptr, nullptr), options));
  }
  return trace;
}

// Where a contraction's kernel cannot be compiled with its chain, the chains stay kernels of their own.
std::shared_ptr<const Plan> plan_once(const Trace& recorded, const PlanOptions& options) {
  std::vector<PassReport> reports;
  Trace planned = optimise(recorded, options, &reports);
  if (!has_cuda_epilogues(planned))
    return std::make_shared<const Plan>(std::move(planned), options, std::move(reports));
  try {
    return std::make_shared<const Plan>(planned, options, std::move(reports));
  } catch (const EpilogueError& error) {
    warn(error.what());
    PlanOptions apart = options;
    apart.passes_off.emplace_back("fuse_epilogues");
    return plan_once(recorded, apart);
  }
}

}  // namespace

PlanOptionsScope::PlanOptionsScope(PlanOptions options) : outer_(innermost_scope), options_(std::move(options)) {
  check_names(options_.passes_off);
  {
    const std::lock_guard lock(options_mutex);
    number_ = number_of(options_);
  }
  innermost_scope = this;
}

PlanOptionsScope::~PlanOptionsScope() { innermost_scope = outer_; }

const PlanOptionsScope* PlanOptionsScope::current() { return innermost_scope; }

uint64_t plan_options_number() { return innermost_scope ? innermost_scope->number() : process_number.load(); }

PlanOptions plan_options() {
  PlanOptions options;
  if (innermost_scope) {
    options = innermost_scope->options();
  } else {
    const std::lock_guard lock(options_mutex);
    options = known_options()[process_number];
  }
  options.threads = thread_count(), options.mode = mode_of_thread();
  return options;
}

void set_plan_options(const PlanOptions& options) {
  check_names(options.passes_off);
  change_options([&](PlanOptions& all) { all = options; });
}

void set_passes_off(const std::vector<std::string>& names) {
  check_names(names);
  change_options([&](PlanOptions& all) { all.passes_off = names; });
}

void set_memory_limit(int64_t bytes) {
  if (bytes < 0)
    throw Error(ErrorKind::usage, 241, fmt::format("set_memory_limit: {} bytes", bytes)).expected("0 or more");
  change_options([&](PlanOptions& all) { all.memory_limit = static_cast<size_t>(bytes); });
}

int64_t memory_limit() { return static_cast<int64_t>(plan_options().memory_limit); }

// What a pass counts is not what fusion and placement make of it: the share is lowered until the arena fits, by the
// same steps for every limit, so that the least that an error names can be had.
std::shared_ptr<const Plan> make_plan(const Trace& recorded, const PlanOptions& options) {
  auto plan = plan_once(recorded, options);
  const size_t most = options.memory_limit, whole = plan->arena_bytes();
  if (most == 0 || whole <= most) return plan;
  size_t least = whole;
  PlanOptions within = options;
  for (double share = options.tuning.first_share; share > options.tuning.last_share;
       share *= options.tuning.share_step) {
    within.memory_share = std::min(share, options.memory_share);
    plan = plan_once(recorded, within);
    if (plan->arena_bytes() <= most) return plan;
    least = std::min(least, plan->arena_bytes());
  }
  cannot_meet(most, whole, least);
}

std::span<const Pass> all_passes() {
  static const std::vector<Pass> passes = passes_in_order();
  return passes;
}

Trace optimise(const Trace& recorded, const PlanOptions& options, std::vector<PassReport>* report) {
  return plan_loops(apply_passes(recorded, options, PassChanges::current(), report), options);
}

}  // namespace retrace
