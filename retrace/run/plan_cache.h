#pragma once
// Plans by content.

#include <list>
#include <memory>
#include <optional>
#include <unordered_map>

#include "retrace/plan/plan.h"
#include "retrace/run/plan_settings.h"

namespace retrace {

// A recorded trace that was planned before finds its plan here. One cache for each thread.
class PlanCache {
 public:
  // The plan of `trace` by the options of this thread, made now if there is none. Holds at most 128; the least
  // recently used goes.
  std::shared_ptr<const Plan> find_or_make(const Trace& trace);
  size_t size() const { return entries_.size(); }
  int64_t hits() const { return hits_; }
  int64_t misses() const { return misses_; }
  void clear();

 private:
  struct Entry {
    uint64_t hash, options;  // plan_options_number()
    int threads;
    Mode mode;    // in which it runs
    Trace trace;  // compared in full: a hash decides nothing
    std::shared_ptr<const Plan> plan;
  };
  std::list<Entry> entries_;  // most recently used first
  std::unordered_multimap<uint64_t, std::list<Entry>::iterator> index_;
  int64_t hits_ = 0, misses_ = 0;
};

// This thread's cache.
PlanCache& plan_cache();

// Turns the cache on or off for this thread alone, for its lifetime.
class PlanCacheScope {
 public:
  explicit PlanCacheScope(bool on);
  ~PlanCacheScope();
  PlanCacheScope(const PlanCacheScope&) = delete;
  PlanCacheScope& operator=(const PlanCacheScope&) = delete;

 private:
  std::optional<bool> before_;
};

// The last plan that this thread ran, for tests and tools; null before the first.
std::shared_ptr<const Plan> last_plan();

// Called after a plan has run.
void set_last_plan(const std::shared_ptr<const Plan>& plan);

}  // namespace retrace
