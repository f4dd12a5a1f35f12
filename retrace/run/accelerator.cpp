#include "retrace/run/accelerator.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "retrace/base/warning.h"
#include "retrace/distributed/courier.h"
#include "retrace/ops/random/random.h"
#include "retrace/plan/compile.h"
#include "retrace/run/call_parts.h"
#include "retrace/run/call_state.h"
#include "retrace/run/plan_cache.h"

namespace retrace::detail {
namespace {

constexpr int kManyMisses = 5;  // in a row, and more misses than hits: something in the key changes from call to call

int64_t checked_size(int64_t size, Place place) {
  if (size < 1)
    throw Error(ErrorKind::usage, 255, fmt::format("accelerate: a cache of {} traces is not possible", size))
        .where(place)
        .expected("1 or more")
        .help("set_enabled(false) runs the function plainly");
  return size;
}

void compute_pending(std::span<const Leaf> leaves, Place place) {
  const bool pending = std::any_of(leaves.begin(), leaves.end(),
                                   [](const Leaf& leaf) { return leaf.tensor && !leaf.tensor->value()->buffer; });
  if (pending) evaluate(place);
}

// While it lives, a function is recorded for this key; a call with the same key meanwhile is an Error(usage).
class RecordingGuard {
 public:
  RecordingGuard(std::vector<const TraceKey*>& in_progress, const TraceKey& key, Place made)
      : in_progress_(in_progress) {
    for (const TraceKey* other : in_progress)
      if (*other == key)
        throw Error(ErrorKind::usage, 257, "an accelerated function calls itself with the same arguments")
            .where(made)
            .help(
                "what ends the recursion must be a whole number, a boolean or a shape: the trace is recorded by "
                "those");
    in_progress.push_back(&key);
  }
  ~RecordingGuard() { in_progress_.pop_back(); }
  RecordingGuard(const RecordingGuard&) = delete;
  RecordingGuard& operator=(const RecordingGuard&) = delete;

 private:
  std::vector<const TraceKey*>& in_progress_;
};

}  // namespace

struct Accelerator::Cache {
  std::vector<std::shared_ptr<RecordedFunction>> functions = {};  // most recently used first
  // Keys whose calls are recorded for each size of the batch, and why.
  std::vector<std::pair<TraceKey, std::string>> exact = {};
  std::vector<const TraceKey*> in_progress = {};
  Owned<CallState> idle = {};  // of a call that ended
  std::thread::id owner = {};
  TraceKey missed = {}, before_miss = {};  // keys of the last miss and of the call before it
  bool warned = false;
  int misses_in_a_row = 0;

  void check_thread(Place made) {
    with_place(made, [] { return current_recording().get(); });  // refuses a call after the thread's end
    if (owner == std::thread::id()) owner = std::this_thread::get_id();
    if (owner == std::this_thread::get_id()) return;
    throw Error(ErrorKind::usage, 254, "an accelerated function is called by a second thread")
        .where(made)
        .help("an accelerated function belongs to the thread that calls it first: make one in each thread");
  }

  // The function recorded for this key; null if there is none.
  const std::shared_ptr<RecordedFunction>* find(const TraceKey& key) {
    if (functions.empty()) return nullptr;
    if (!(functions.front()->key == key)) {  // most calls have the key of the call before
      const uint64_t hash = key.hash();
      const auto at = std::find_if(functions.begin() + 1, functions.end(), [&](const auto& function) {
        return function->hash == hash && function->key == key;
      });
      if (at == functions.end()) return nullptr;
      std::rotate(functions.begin(), at, at + 1);
    }
    misses_in_a_row = 0;
    return &functions.front();
  }

  bool refuses_any_batch(const TraceKey& key) const {
    return std::any_of(exact.begin(), exact.end(), [&](const auto& one) { return one.first == key; });
  }

  RecordedFunction record(const CallState& call, const TypedCall& typed, int64_t batch, Place made) {
    const RecordingGuard guard(in_progress, call.key, made);
    FunctionRecorder recorder(call.leaves, batch, made);
    auto prototype = typed.record(recorder);
    RecordedFunction function = recorder.finish();
    function.prototype = std::move(prototype);
    return function;
  }

  // "", or why there is none.
  std::string find_batch_rule(RecordedFunction& function, const CallState& call, const TypedCall& typed, Place made) {
    const auto sizes = probe_sizes(function.instances[0].trace.values);
    std::vector<RecordedFunction> probes;
    try {
      for (int64_t size : sizes) probes.push_back(record(call, typed, size, made));
    } catch (const Error& error) {
      return error.message();  // what suits this size only
    }
    return function.find_rule(probes, sizes);
  }
};

Accelerator::Accelerator(const AccelerateOptions& given, Place place) : options(given), made(place), cache_(new Cache) {
  checked_size(options.cache_size, made);
}
Accelerator::~Accelerator() = default;

bool Accelerator::active() const { return options.enabled && plan_cache_enabled(); }

void Accelerator::run_plainly(FunctionRef<void()> run) const {
  if (CallScope::active()) return run();
  {
    const CallScope scope;
    const DrawScope draws(function_key(options.seed, options.name).tensor(calls));
    run();
  }
  evaluate(made);
}

void Accelerator::set_cache_size(int64_t size) {
  options.cache_size = checked_size(size, made);
  while (cache_->functions.size() > static_cast<size_t>(size)) {
    cache_->functions.pop_back();
    ++evictions;
  }
}

void Accelerator::clear() {
  cache_->functions.clear();
  cache_->exact.clear();
  hits = misses = evictions = 0;
  cache_->misses_in_a_row = 0;
  cache_->warned = false;
  cache_->missed = cache_->before_miss = TraceKey();
}

double Accelerator::hit_rate() const {
  return hits ? 100.0 * static_cast<double>(hits) / static_cast<double>(hits + misses) : 0;
}

double Accelerator::occupancy() const {
  return 100.0 * static_cast<double>(cache_->functions.size()) / static_cast<double>(options.cache_size);
}

std::string Accelerator::why() const {
  if (misses == 0) return "";
  if (misses == 1) return "the first call";
  const std::string found = TraceKey::difference(cache_->before_miss, cache_->missed);
  if (found.empty()) return "the trace was dropped: cache_size is too small";
  return cache_->exact.empty() ? found
                               : fmt::format("{} (any_batch does not hold: {})", found, cache_->exact.back().second);
}

void Accelerator::keep(std::shared_ptr<RecordedFunction> function) {
  ++misses;
  ++cache_->misses_in_a_row;
  auto& functions = cache_->functions;
  cache_->missed = function->key;
  if (!functions.empty()) cache_->before_miss = functions.front()->key;
  function->hash = function->key.hash();
  functions.insert(functions.begin(), std::move(function));
  set_cache_size(options.cache_size);
  if (cache_->warned || cache_->misses_in_a_row < kManyMisses || misses <= hits) return;
  cache_->warned = true;
  warn(fmt::format("the function accelerated at {} was recorded anew {} times in a row; the last time because of {}",
                   made.text(), cache_->misses_in_a_row, why()));
}

AcceleratedCall::AcceleratedCall(Accelerator& accelerator, const std::type_info& arguments, std::span<const bool> given)
    : accelerator_(accelerator) {
  state_ = std::move(accelerator.cache_->idle);
  if (!state_) state_ = Owned(new CallState);
  state_->open.emplace(accelerator.made);
  accelerator.cache_->check_thread(accelerator.made);
  state_->arguments = &arguments;
  state_->given = given;
  state_->donates = accelerator.options.check_mode == Check::off;
}

AcceleratedCall::~AcceleratedCall() {
  state_->open.reset();
  state_->leaves.clear();
  state_->results.clear();
  state_->function.reset();
  accelerator_.cache_->idle = std::move(state_);
}

void AcceleratedCall::count() {
  if (!CallScope::active()) ++accelerator_.calls;
}

bool AcceleratedCall::read(const TypedCall& typed, bool any_batch) {
  const DrawScope* const draws = DrawScope::current();
  state_->leaves.clear();
  state_->batch = 0;
  state_->key.begin(*state_->arguments, draws && draws->in_shard());
  ArgumentReader reader(*state_, any_batch);
  typed.read(reader);
  return reader.one_batch() && state_->batch > 0;
}

void AcceleratedCall::record_new(const TypedCall& typed) {
  auto& cache = *accelerator_.cache_;
  const Place made = accelerator_.made;
  auto function = std::make_shared<RecordedFunction>(cache.record(*state_, typed, 0, made));
  function->instances[0].batch = state_->batch;
  if (const std::string problem = state_->batch ? cache.find_batch_rule(*function, *state_, typed, made) : "";
      !problem.empty()) {
    cache.exact.emplace_back(state_->key, problem);
    read(typed, false);
  }
  function->key = state_->key;
  if (!CallScope::active()) function->instances[0].plan = make_plan(function->instances[0].trace);
  accelerator_.keep(function);
  state_->function = std::move(function);
}

const void* AcceleratedCall::compute(const TypedCall& typed) {
  auto& cache = *accelerator_.cache_;
  const Place made = accelerator_.made;
  const bool any_batch = accelerator_.options.any_batch && read(typed, true);
  if (!any_batch || cache.refuses_any_batch(state_->key)) read(typed, false);
  const auto* const found = cache.find(state_->key);
  state_->hit = found != nullptr;
  if (state_->hit) {
    state_->function = *found;
    ++accelerator_.hits;
  } else {
    // Before a recording on one of several workers, which compare pending arguments.
    if (current_courier() && !CallScope::active()) compute_pending(state_->leaves, made);
    record_new(typed);
  }
  RecordedFunction& function = *state_->function;
  auto& instance = function.at(state_->batch);
  if (CallScope::active()) {
    splice(function, instance, state_->leaves, made, state_->results);
  } else {
    compute_pending(state_->leaves, made);
    const Tensor key =
        function.draws ? function_key(accelerator_.options.seed, accelerator_.options.name).tensor(accelerator_.calls)
                       : Tensor();
    with_place(made, [&] { replay(function, instance, state_->leaves, key, state_->results); });
  }
  return function.prototype.get();
}

std::shared_ptr<const Plan> AcceleratedCall::plan(const TypedCall& typed) {
  read(typed, false);
  return make_plan(accelerator_.cache_->record(*state_, typed, 0, accelerator_.made).instances[0].trace);
}

Tensor* AcceleratedCall::results() { return state_->results.data(); }

bool AcceleratedCall::wants_plain_result(const TypedCall& typed) {
  if (!state_->hit) return false;
  if (!CallScope::active()) return true;
  const auto again = accelerator_.cache_->record(*state_, typed, 0, accelerator_.made);
  const std::string found = difference(*state_->function, again);
  if (found.empty()) return false;
  throw Error(ErrorKind::usage, 256, "check mode: an accelerated function records something else than before")
      .where(accelerator_.made)
      .got(found)
      .expected("the same trace for the same argument types, shapes and whole numbers")
      .help("make everything that the function depends on an argument");
}

std::string text_of(const Plan& plan) { return plan.text() + plan.why(); }

}  // namespace retrace::detail
