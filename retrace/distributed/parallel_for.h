#pragma once
// A loop whose items are shared out over the workers of a pool.

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "retrace/base/function_ref.h"
#include "retrace/distributed/pool.h"

namespace retrace {

// The results of a loop as they travel between ranks.
struct ItemResults {
  FunctionRef<bool(int64_t item)> is_here;
  FunctionRef<std::string(int64_t item)> bytes;
  FunctionRef<void(int64_t item, const std::string& bytes)> take;
};

// The loop behind parallel_for.
void share_items(Pool& pool, int64_t n, FunctionRef<void(int64_t item)> body, const ItemResults* results, Place place);

// Throws Error(unavailable) for ranks.
void check_results_stay(const Pool& pool, Place place);

// f(0), ..., f(n - 1), each on the next worker that is free, and their results by index (nothing for void); n may be
// any number. f has no Worker: it is alone, and may train, also on a pool of its own, with this worker's threads. Which
// worker has which item, and in which order, follows from time; results that follow from the index alone, with
// random_key(seed).split(i) for what is random, are the same for any number of workers. Of ranks, each ends with all
// results, which must be values that workers exchange (see Worker). After an error no further item begins, and the
// error of the lowest item that failed is thrown: "item 3: ...". Throws Error(usage) for n < 0, and inside spmd.
template <class F>
auto parallel_for(Pool& pool, int64_t n, F&& f, Place place = Place::here()) {
  using R = std::invoke_result_t<F&, int64_t>;
  if constexpr (std::is_void_v<R>) {
    share_items(pool, n, [&](int64_t i) { f(i); }, nullptr, place);
  } else {
    std::vector<std::optional<R>> made(static_cast<size_t>(n < 0 ? 0 : n));
    const auto slot = [&](int64_t i) -> std::optional<R>& { return made[static_cast<size_t>(i)]; };
    const auto body = [&](int64_t i) { slot(i).emplace(f(i)); };
    if constexpr (is_portable<R>) {
      const auto is_here = [&](int64_t i) { return slot(i).has_value(); };
      const auto bytes = [&](int64_t i) { return Portable<R>::bytes(*slot(i)); };
      const auto take = [&](int64_t i, const std::string& from) { slot(i).emplace(Portable<R>::value(from)); };
      const ItemResults results{is_here, bytes, take};
      share_items(pool, n, body, &results, place);
    } else {
      check_results_stay(pool, place);
      share_items(pool, n, body, nullptr, place);
    }
    std::vector<R> results;
    for (auto& result : made) results.push_back(std::move(*result));
    return results;
  }
}

}  // namespace retrace
