#include "retrace/distributed/parallel_for.h"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <cstring>
#include <mutex>
#include <thread>

#include "retrace/base/fp_environment.h"
#include "retrace/distributed/group.h"
#include "retrace/distributed/worker_scope.h"

namespace retrace {
namespace {

// The items of one loop, in the process that hands them out.
class Items {
 public:
  explicit Items(int64_t count) : count_(count) {}
  // The next one; none once one has failed.
  std::optional<int64_t> next() {
    const int64_t item = next_++;
    if (failed_ || item >= count_) return {};
    return item;
  }
  void stop() { failed_ = true; }

 private:
  const int64_t count_;
  std::atomic<int64_t> next_{0};
  std::atomic<bool> failed_{false};
};

// Worker 0 of ranks hands items out to the others on a thread of its own, while it works on items itself. A worker asks
// with a message that says whether one of its items has failed.
class ItemServer {
 public:
  ItemServer(Items& items, const Worker& worker) : items_(items), group_(worker.group()) {
    if (worker.index() == 0 && !group_.is_local()) thread_ = std::thread([this] { serve(); });
  }
  ~ItemServer() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  void serve() {
    const FloatingPointScope floating_point;
    try {
      for (int asking = group_.size() - 1; asking > 0;) {
        const Message question = group_.receive(kAny, kNextItemTag);
        if (!question.bytes.empty()) items_.stop();
        const auto item = items_.next();
        if (!item) --asking;
        group_.send(question.from, {.tag = kItemTag, .bytes = item ? std::to_string(*item) : ""});
      }
    } catch (const std::exception&) {
      // A member is lost: the others see it in their next collective.
    }
  }

  Items& items_;
  Group& group_;
  std::thread thread_;
};

// What one worker does of a loop.
class ItemWorker {
 public:
  ItemWorker(Items& items, const Worker& worker) : items_(items), worker_(worker) {}

  void run(FunctionRef<void(int64_t)> body) {
    const WorkerScope outside(false);
    while (const auto item = next()) try {
        body(*item);
        finish_pending_work();
      } catch (Error& error) {
        error.in(fmt::format("item {}", *item));
        fail(*item);
      } catch (...) {
        fail(*item);
      }
  }
  // -1: none.
  int64_t failed() const { return failed_; }
  std::exception_ptr error() const { return error_; }

 private:
  void fail(int64_t item) {
    items_.stop();
    if (failed_ < 0) failed_ = item, error_ = std::current_exception();
  }
  std::optional<int64_t> next() {
    Group& group = worker_.group();
    if (group.is_local() || worker_.index() == 0) return items_.next();
    if (over_) return {};
    group.send(0, {.tag = kNextItemTag, .bytes = failed_ >= 0 ? "failed" : ""});
    const Message answer = group.receive(0, kItemTag);
    over_ = answer.bytes.empty();
    if (over_) return {};
    int64_t item = 0;
    std::from_chars(answer.bytes.data(), answer.bytes.data() + answer.bytes.size(), item);
    return item;
  }

  Items& items_;
  const Worker& worker_;
  int64_t failed_ = -1;
  bool over_ = false;
  std::exception_ptr error_;
};

// All results to all ranks: number, size and bytes of each.
void exchange_results(const Worker& worker, int64_t n, const ItemResults& results) {
  std::string mine;
  const auto add = [&](int64_t number) { mine.append(reinterpret_cast<const char*>(&number), sizeof number); };
  for (int64_t i = 0; i < n; ++i) {
    if (!results.is_here(i)) continue;
    const std::string bytes = results.bytes(i);
    add(i), add(static_cast<int64_t>(bytes.size()));
    mine += bytes;
  }
  for (const std::string& all : worker.all_gather(mine)) {
    for (size_t at = 0; at < all.size();) {
      int64_t head[2];
      ensure(all.size() - at >= sizeof head, "a result arrives with its head");
      std::memcpy(head, all.data() + at, sizeof head);
      at += sizeof head;
      if (!results.is_here(head[0])) results.take(head[0], all.substr(at, static_cast<size_t>(head[1])));
      at += static_cast<size_t>(head[1]);
    }
  }
}

}  // namespace

void check_results_stay(const Pool& pool, Place place) {
  if (pool.here().count == pool.size()) return;
  throw Error(ErrorKind::unavailable, 625, "parallel_for: results of this type stay in their rank")
      .where(place)
      .help("return numbers, text, vectors of them, tensors or trees; or nothing");
}

void share_items(Pool& pool, int64_t n, FunctionRef<void(int64_t item)> body, const ItemResults* results, Place place) {
  if (n < 0)
    throw Error(ErrorKind::usage, 627, fmt::format("parallel_for over {} items", n)).where(place).expected("0 or more");
  Items items(n);
  std::mutex mutex;
  int64_t lowest = n;
  std::exception_ptr error;
  with_place(place, [&] {
    pool.spmd([&](Worker& worker) {
      ItemWorker own(items, worker);
      {
        const ItemServer server(items, worker);
        own.run(body);
      }
      if (own.error()) {
        const std::lock_guard lock(mutex);
        if (own.failed() < lowest) lowest = own.failed(), error = own.error();
      }
      if (worker.group().is_local()) return;
      // Of ranks, that of the lowest item throws, and ends the others.
      int64_t first = n;
      for (const int64_t item : worker.all_gather(lowest)) first = std::min(first, item);
      if (first == lowest && error) std::rethrow_exception(error);
      if (results) exchange_results(worker, n, *results);
    });
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace retrace
