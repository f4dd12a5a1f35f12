#include "retrace/run/accelerator.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/distributed/courier.h"
#include "retrace/ops/random/random.h"
#include "retrace/run/plan_cache.h"

namespace retrace {
namespace {

constexpr int kManyMisses = 5;  // in a row, and more misses than hits: something in the key changes from call to call

int checked_size(int size, Place place) {
  if (size < 1)
    throw Error(ErrorKind::usage, 255, fmt::format("accelerate: a cache of {} traces is not possible", size))
        .where(place)
        .expected("1 or more")
        .help("enabled(false) runs the function plainly");
  return size;
}

void compute_pending(std::span<const Leaf> leaves, Place place) {
  const bool pending = std::any_of(leaves.begin(), leaves.end(),
                                   [](const Leaf& leaf) { return leaf.tensor && !leaf.tensor->value()->buffer; });
  if (pending) evaluate(place);
}

}  // namespace

Accelerator::Accelerator(AccelerateOptions given, Place place) : options(given), made(place) {
  checked_size(options.cache_size, made);
}

void Accelerator::check_thread() {
  with_place(made, [] { return current_recording().get(); });  // refuses a call after the thread's end
  if (owner_ == std::thread::id()) owner_ = std::this_thread::get_id();
  if (owner_ == std::this_thread::get_id()) return;
  throw Error(ErrorKind::usage, 254, "an accelerated function is called by a second thread")
      .where(made)
      .help("an accelerated function belongs to the thread that calls it first: make one in each thread");
}

bool Accelerator::active() const { return options.enabled && plan_cache_on(); }

void Accelerator::give_back(Call&& call) {
  call.leaves.clear(), call.results.clear();
  scratch_ = std::move(call);
}

std::shared_ptr<RecordedFunction> Accelerator::find(const TraceKey& key) {
  const uint64_t hash = key.hash();
  const auto at = std::find_if(functions_.begin(), functions_.end(),
                               [&](const auto& function) { return function->hash == hash && function->key == key; });
  if (at == functions_.end()) return nullptr;
  std::rotate(functions_.begin(), at, at + 1);
  ++hits, misses_in_a_row_ = 0;
  return functions_.front();
}

void Accelerator::keep(std::shared_ptr<RecordedFunction> function) {
  ++misses, ++misses_in_a_row_;
  missed_ = function->key;
  if (!functions_.empty()) before_miss_ = functions_.front()->key;
  function->hash = function->key.hash();
  functions_.insert(functions_.begin(), std::move(function));
  set_cache_size(options.cache_size);
  warn_if_it_keeps_missing();
}

void Accelerator::compute_for_workers(const Call& call) const {
  if (current_courier() && !CallScope::active()) compute_pending(call.leaves, made);
}

void Accelerator::compute(RecordedFunction& function, Call& call) {
  auto& instance = function.at(call.batch);
  if (CallScope::active()) return splice(function, instance, call.leaves, made, call.results);
  compute_pending(call.leaves, made);
  const Tensor key = function.draws ? random_key(options.seed).tensor(calls) : Tensor();
  with_place(made, [&] { replay(function, instance, call.leaves, key, call.results); });
}

bool Accelerator::refuses_any_batch(const TraceKey& key) const {
  return std::any_of(exact_.begin(), exact_.end(), [&](const auto& one) { return one.first == key; });
}

void Accelerator::check_recordings(const RecordedFunction& kept, const RecordedFunction& again) const {
  const std::string found = difference(kept, again);
  if (found.empty()) return;
  throw Error(ErrorKind::usage, 256, "check mode: an accelerated function records something else than before")
      .where(made)
      .got(found)
      .expected("the same trace for the same argument types, shapes and whole numbers")
      .help("make everything that the function depends on an argument");
}

void Accelerator::set_cache_size(int size) {
  options.cache_size = checked_size(size, made);
  while (functions_.size() > static_cast<size_t>(size)) functions_.pop_back(), ++evictions;
}

void Accelerator::clear() {
  functions_.clear(), exact_.clear();
  hits = misses = evictions = 0;
  misses_in_a_row_ = 0;
  warned_ = false;
  missed_ = before_miss_ = TraceKey();
}

double Accelerator::hit_rate() const {
  return hits ? 100.0 * static_cast<double>(hits) / static_cast<double>(hits + misses) : 0;
}

double Accelerator::occupancy() const {
  return 100.0 * static_cast<double>(functions_.size()) / static_cast<double>(options.cache_size);
}

std::string Accelerator::why() const {
  if (misses == 0) return "";
  if (misses == 1) return "the first call";
  const std::string found = TraceKey::difference(before_miss_, missed_);
  if (found.empty()) return "the trace was dropped: cache_size is too small";
  return exact_.empty() ? found : fmt::format("{} (any_batch does not hold: {})", found, exact_.back().second);
}

void Accelerator::warn_if_it_keeps_missing() {
  if (warned_ || misses_in_a_row_ < kManyMisses || misses <= hits) return;
  warned_ = true;
  warn(fmt::format("the function accelerated at {} was recorded anew {} times in a row; the last time because of {}",
                   made.text(), misses_in_a_row_, why()));
}

RecordingGuard::RecordingGuard(Accelerator& accelerator, const TraceKey& key) : accelerator_(accelerator) {
  for (const TraceKey* other : accelerator.in_progress_)
    if (*other == key)
      throw Error(ErrorKind::usage, 257, "an accelerated function calls itself with the same arguments")
          .where(accelerator.made)
          .help("what ends the recursion must be a whole number, a boolean or a shape: the trace is recorded by those");
  accelerator.in_progress_.push_back(&key);
}

}  // namespace retrace
