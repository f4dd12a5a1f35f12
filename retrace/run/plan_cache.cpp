#include "retrace/run/plan_cache.h"

#include <atomic>
#include <optional>

#include "retrace/base/options.h"
#include "retrace/device/cpu/fast_mode.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/plan/compile.h"
#include "retrace/plan/options_scope.h"

namespace retrace {
namespace {

constexpr size_t kMostPlans = 128;

std::atomic<int>& switch_state() {
  static std::atomic<int> state{environment_switch(EnvironmentVariable::plan_cache, true) ? 1 : 0};
  return state;
}

thread_local std::optional<bool> own_switch;  // none: as the process

std::shared_ptr<const Plan>& last() {
  thread_local std::shared_ptr<const Plan> plan;
  return plan;
}

}  // namespace

std::shared_ptr<const Plan> PlanCache::find_or_make(const Trace& trace) {
  const uint64_t hash = trace.hash(), options = plan_options_number();
  const int threads = thread_count();
  const Mode mode = mode_of_thread();
  const auto [first, end] = index_.equal_range(hash);
  for (auto at = first; at != end; ++at)
    if (at->second->options == options && at->second->threads == threads && at->second->mode == mode &&
        at->second->trace == trace) {
      ++hits_;
      entries_.splice(entries_.begin(), entries_, at->second);
      return at->second->plan;
    }
  ++misses_;
  auto plan = make_plan(trace);  // an entry is stored only when planning succeeded
  entries_.push_front({hash, options, threads, mode, trace, plan});
  index_.emplace(hash, entries_.begin());
  if (entries_.size() > kMostPlans) {
    const auto oldest = std::prev(entries_.end());
    const auto [from, to] = index_.equal_range(oldest->hash);
    for (auto at = from; at != to; ++at)
      if (at->second == oldest) {
        index_.erase(at);
        break;
      }
    entries_.pop_back();
  }
  return plan;
}

void PlanCache::clear() {
  entries_.clear();
  index_.clear();
  hits_ = misses_ = 0;
}

PlanCache& plan_cache() {
  thread_local PlanCache cache;
  return cache;
}

bool plan_cache_enabled() { return own_switch.value_or(switch_state() != 0); }
void set_plan_cache_enabled(bool on) { switch_state() = on ? 1 : 0; }

PlanCacheScope::PlanCacheScope(bool on) : before_(own_switch) { own_switch = on; }
PlanCacheScope::~PlanCacheScope() { own_switch = before_; }

std::shared_ptr<const Plan> last_plan() { return last(); }
void set_last_plan(const std::shared_ptr<const Plan>& plan) {
  if (auto& before = last(); before != plan) before = plan;  // a copy counts its owners
}

}  // namespace retrace
