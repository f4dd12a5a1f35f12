#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "retrace/base/options.h"
#include "retrace/plan/pass_changes.h"
#include "retrace/plan/passes/passes.h"
#include "retrace/plan/plan.h"

namespace retrace {
namespace {

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
// Done while the plan is laid out, and switched like the others.
constexpr std::string_view kPlaceMemory = "place_memory";

std::vector<std::string>& off_names() {
  static std::vector<std::string> names;
  return names;
}
std::mutex off_mutex;

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

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

void set_passes_off(const std::vector<std::string>& names) {
  check_names(names);
  std::lock_guard lock(off_mutex);
  off_names() = names;
}

bool pass_is_on(std::string_view name) {
  static const bool read_once = [] {
    const auto names = environment_list(EnvironmentVariable::passes_off);
    check_names(names);
    std::lock_guard lock(off_mutex);
    if (off_names().empty()) off_names() = names;
    return true;
  }();
  (void)read_once;
  std::lock_guard lock(off_mutex);
  return std::find(off_names().begin(), off_names().end(), name) == off_names().end();
}

Trace optimise(const Trace& recorded, std::vector<PassReport>* report) {
  Trace trace = recorded;
  auto* const changes = PassChanges::current();
  if (changes) changes->begin(trace);
  const bool cuda = device_of(recorded) > 0;
  for (const auto& pass : kPasses) {
    if (cuda && !pass.cuda) continue;
    PassReport line{pass.name, pass.required || pass_is_on(pass.name), 0, trace.nodes.size(), trace.nodes.size()};
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
