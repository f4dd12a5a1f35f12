// Mini-batches that are made ahead of time are those that are made when they are needed.
#include "retrace/data/prefetcher.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "retrace/data/array_store.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/data/transform.h"
#include "retrace/device/cpu/fast_mode.h"
#include "retrace/distributed/pool.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/square/square.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

using std::chrono::milliseconds;

// What a source was asked, and what it does then.
struct Asked {
  std::atomic<int64_t> observations{0};
  std::atomic<int> at_once{0}, most_at_once{0};
  std::atomic<bool> on_this_thread{false};
  std::atomic<int64_t> broken{-1};  // an observation that cannot be read
  milliseconds needs{0};            // for each gather()
  const std::thread::id user = std::this_thread::get_id();
};

// Observations of which each is its index and its pass.
class Slow : public DataSource {
 public:
  Slow(int64_t size, Asked& asked, bool subsettable = true) : size_(size), asked_(asked), subsettable_(subsettable) {}
  int64_t size() const override { return size_; }
  int variables() const override { return 2; }
  bool is_subsettable() const override { return subsettable_; }
  Observation get(int64_t index, int64_t pass) const override {
    ++asked_.observations;
    if (std::this_thread::get_id() == asked_.user) asked_.on_this_thread = true;
    if (index == asked_.broken) throw Error(ErrorKind::bad_data, 999, "the file is torn");
    return {Tensor::scalar(static_cast<int32_t>(index)), Tensor::scalar(static_cast<float>(pass))};
  }
  std::vector<Tensor> gather(std::span<const int64_t> indices, int64_t pass, int variables) const override {
    const int now = ++asked_.at_once;
    if (now > asked_.most_at_once) asked_.most_at_once = now;
    std::this_thread::sleep_for(asked_.needs);
    --asked_.at_once;
    return DataSource::gather(indices, pass, variables);
  }

 private:
  int64_t size_;
  Asked& asked_;
  bool subsettable_;
};

Datastore slow_store(int64_t size, Asked& asked) { return Datastore(std::make_shared<Slow>(size, asked)); }

// The same with draws.
Datastore drawing_store(int64_t size, Asked& asked) {
  return transform(slow_store(size, asked), [](const Observation& one, TransformContext& context) {
    return Observation{one[0], Tensor::scalar(one[1].item<float>() + context.random.uniform())};
  });
}

MiniBatchQueue queue_of(const Datastore& store, int threads, int64_t size = 3) {
  return MiniBatchQueue(store, {.mini_batch_size = size, .seed = 4, .prefetch_threads = threads});
}

std::vector<double> values_of(const std::vector<Tensor>& batch) {
  std::vector<double> values;
  for (int32_t x : batch[0].to_vector<int32_t>()) values.push_back(x);
  if (batch.size() > 1)
    for (float x : batch[1].to_vector<float>()) values.push_back(static_cast<double>(x));
  return values;
}

// One random step of a program over a queue: what it delivers.
std::vector<double> act(MiniBatchQueue& queue, int action, int64_t number, const QueuePosition& saved) {
  switch (action) {
    case 0: queue.reset(); return {};
    case 1: queue.shuffle(); return {};
    case 2: queue.restore(saved); return {};
    case 3: queue.set_mini_batch_size(1 + number % 5); return {};
    case 4: queue = MiniBatchQueue(queue); return {};
    case 5: return queue.has_data() ? values_of({queue.next<1>()[0]}) : std::vector<double>();
    default: return queue.has_data() ? values_of(queue.next()) : std::vector<double>();
  }
}

TEST(Prefetch, ChangesNoBit) {
  EXPECT_TRUE(rc::check([] {
    Asked asked;
    const Datastore store = drawing_store(*rc::gen::inRange<int64_t>(0, 20), asked);
    std::vector<MiniBatchQueue> queues;
    for (int threads : {0, 1, 2, 4}) queues.push_back(queue_of(store, threads));
    QueuePosition saved;
    for (int i = 0; i < 30; ++i) {
      const int action = *rc::gen::inRange(0, 20);
      const auto number = *rc::gen::inRange<int64_t>(0, 100);
      const std::vector<double> expected = act(queues[0], action, number, saved);
      for (size_t q = 1; q < queues.size(); ++q) RC_ASSERT(act(queues[q], action, number, saved) == expected);
      if (number % 4 == 0) saved = queues[0].position();
    }
  }));
}

TEST(Prefetch, SharesAndPartsAreTheSame) {
  Asked asked;
  const Datastore store = drawing_store(22, asked);
  for (int workers : {1, 3, 4})
    Pool::local(workers).spmd([&](Worker& worker) {
      auto now = queue_of(store, 0, 10).share(worker, 4), ahead = queue_of(store, 2, 10).share(worker, 4);
      for (int epoch = 0; epoch < 3; ++epoch) {
        while (now.has_data()) EXPECT_EQ(values_of(ahead.next()), values_of(now.next()));
        now.shuffle();
        ahead.shuffle();
      }
    });
  auto now = queue_of(store, 0).partition(2, 1), ahead = queue_of(store, 1).partition(2, 1);
  while (now.has_data()) EXPECT_EQ(values_of(ahead.next()), values_of(now.next()));
}

// At the mini-batch that it belongs to, with the place of its next(); the queue stays there.
TEST(Prefetch, ErrorsComeWhereTheyBelong) {
  for (int threads : {0, 1, 3}) {
    Asked asked;
    asked.broken = 7;
    MiniBatchQueue queue = queue_of(slow_store(12, asked), threads);
    EXPECT_EQ(values_of(queue.next())[0], 0);
    EXPECT_EQ(values_of(queue.next())[0], 3);
    for (int turn = 0; turn < 2; ++turn) {
      const std::string text = error_of([&] { queue.next({"train.cpp", 41}); });
      EXPECT_EQ(text, "error[RT0999]: the file is torn\n  where:    train.cpp:41") << threads;
      EXPECT_EQ(queue.position().next, 6);
    }
    asked.broken = -1;
    EXPECT_EQ(values_of(queue.next())[0], 6);
    EXPECT_EQ(values_of(queue.next())[0], 9);
    EXPECT_FALSE(queue.has_data());
  }
}

// Sources and functions throw what they like.
TEST(Prefetch, OtherExceptionsPass) {
  Asked asked;
  const auto store = transform(slow_store(4, asked), [](const Observation&, TransformContext&) -> Observation {
    throw std::runtime_error("no network");
  });
  MiniBatchQueue queue = queue_of(store, 1);
  EXPECT_THROW(queue.next(), std::runtime_error);
  EXPECT_THROW(queue.next(), std::runtime_error);
}

// It is that of the thread that takes the mini-batches, whatever the process has.
TEST(Prefetch, IsInTheModeOfItsUser) {
  const auto seen = [](std::optional<Mode> own) {
    const OwnModeScope scope(own);
    Prefetcher prefetcher(2, 2);
    std::atomic<int> fast = 0;
    prefetcher.begin(
        [&](int64_t) {
          fast += is_fast();
          return Prefetcher::Batch{};
        },
        4);
    while (prefetcher.take()) {}
    return fast.load();
  };
  EXPECT_EQ(seen(Mode::fast_bf16), 4);
  EXPECT_EQ(seen(std::nullopt), 0);
  set_mode_of_process(Mode::fast);
  EXPECT_EQ(seen(Mode::reproducible), 0);
  EXPECT_EQ(seen(std::nullopt), 4);
  set_mode_of_process(Mode::reproducible);
}

TEST(Prefetch, StopsAnywhere) {
  Asked asked;
  asked.needs = milliseconds(2);
  for (int threads : {1, 4})
    for (int steps = 0; steps < 5; ++steps) {
      auto queue = std::make_unique<MiniBatchQueue>(queue_of(slow_store(30, asked), threads));
      for (int i = 0; i < steps; ++i) queue->next();
      MiniBatchQueue copy = *queue;
      queue.reset();
      EXPECT_EQ(values_of(copy.next())[0], 3 * steps);
      copy.shuffle();
      copy.reset();
    }
  EXPECT_EQ(asked.at_once, 0) << "no thread is left";
}

TEST(Prefetch, StaysWithinItsBound) {
  Asked asked;
  MiniBatchQueue queue = queue_of(slow_store(300, asked), 1);
  for (int64_t taken = 1; taken <= 3; ++taken) {
    queue.next();
    const int64_t most = (taken + 2) * 3;
    for (int i = 0; i < 200 && asked.observations < most; ++i) std::this_thread::sleep_for(milliseconds(5));
    std::this_thread::sleep_for(milliseconds(10));
    EXPECT_EQ(asked.observations, most);
  }
}

// An epoch takes about the longer of reading and computing, not the sum.
TEST(Prefetch, ReadsWhileStepsCompute) {
  const auto epoch = [](int threads, milliseconds step) {
    Asked asked;
    asked.needs = milliseconds(10);
    MiniBatchQueue queue = queue_of(slow_store(60, asked), threads);
    const auto start = std::chrono::steady_clock::now();
    while (queue.has_data()) {
      queue.next();
      std::this_thread::sleep_for(step);
    }
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  };
  // The best of several: the machine has other work.
  const auto best = [&](int threads, milliseconds step) {
    return std::min({epoch(threads, step), epoch(threads, step), epoch(threads, step)});
  };
  const double sum = best(0, milliseconds(10));
  EXPECT_GE(sum, 400);
  EXPECT_LT(best(1, milliseconds(10)), 0.8 * sum);  // about 210
  EXPECT_LT(best(4, milliseconds(1)), 0.5 * sum);   // about 50
}

TEST(Prefetch, IsOnForWhatIsNotInMemory) {
  Asked asked;
  MiniBatchQueue queue(slow_store(9, asked), {.mini_batch_size = 3});
  while (queue.has_data()) queue.next();
  EXPECT_FALSE(asked.on_this_thread);
}

// Each observation is its index; what it is asked for is 0, 1, 2, ...
class InOrder : public DataSource {
 public:
  int64_t size() const override { return 20; }
  int variables() const override { return 1; }
  bool is_subsettable() const override { return false; }
  Observation get(int64_t index, int64_t) const override {
    EXPECT_TRUE(index == 0 || index == next_) << index << " after " << next_ - 1;
    EXPECT_EQ(++at_once_, 1);
    next_ = index + 1;
    --at_once_;
    if (std::this_thread::get_id() == user_) ++on_users_thread;
    return {Tensor::scalar(static_cast<int32_t>(index))};
  }
  int64_t next() const { return next_; }
  mutable std::atomic<int> on_users_thread{0};

 private:
  mutable std::atomic<int64_t> next_{0};
  mutable std::atomic<int> at_once_{0};
  const std::thread::id user_ = std::this_thread::get_id();
};

TEST(Prefetch, AStreamIsReadInItsOrder) {
  EXPECT_TRUE(rc::check([] {
    const int threads = *rc::gen::inRange(0, 3);
    const auto source = std::make_shared<InOrder>();
    std::vector<int32_t> order(20);
    std::iota(order.begin(), order.end(), 0);
    MiniBatchQueue stream = queue_of(Datastore(source), threads),
                   array = queue_of(array_store({Tensor::from(order, {20})}), 0);
    QueuePosition saved;
    for (int i = 0; i < 20; ++i) {
      const int action = *rc::gen::inRange(0, 10);
      const auto number = *rc::gen::inRange<int64_t>(0, 100);
      if (action == 1 || action == 4) continue;  // it cannot be shuffled; copies would read it at the same time
      const std::vector<double> expected = act(array, action, number, saved);
      RC_ASSERT(act(stream, action, number, saved) == expected);
      if (number % 4 == 0) saved = array.position();
    }
    if (threads > 0) RC_ASSERT(source->on_users_thread == 0);
  }));
}

TEST(Prefetch, AStreamIsReadAhead) {
  const auto source = std::make_shared<InOrder>();
  MiniBatchQueue queue(Datastore(source), {.mini_batch_size = 3});
  queue.next();
  for (int i = 0; i < 200 && source->next() < 9; ++i) std::this_thread::sleep_for(milliseconds(5));
  std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(source->next(), 9);  // two mini-batches ahead
  EXPECT_EQ(source->on_users_thread, 0);
}

// A function may use the ops: what it records belongs to its thread.
TEST(Prefetch, AFunctionMayCompute) {
  const auto squares = [](const std::vector<std::vector<Tensor>>& lists) {
    std::vector<Tensor> results;
    Tensor sum = Tensor::scalar(0.0f);
    for (const Tensor& one : lists[0]) sum = sum + square(one);
    return std::vector<Tensor>{sum};
  };
  const Datastore store = array_store({Tensor::from<float>({1, 2, 3, 4, 5}, {5})});
  MiniBatchQueue queue(store, {.mini_batch_size = 2, .mini_batch_function = squares});
  EXPECT_EQ(queue.next()[0].item<float>(), 5);
  EXPECT_EQ(queue.next()[0].item<float>(), 25);
  EXPECT_EQ(queue.next()[0].item<float>(), 25);
}

TEST(Prefetch, OptionsOutOfRangeAreRefused) {
  Asked asked;
  const Datastore store = slow_store(4, asked);
  EXPECT_TRUE(says(error_of([&] { queue_of(store, -1); }), "mini-batch queue: prefetch_threads is -1"));
  EXPECT_TRUE(says(error_of([&] { MiniBatchQueue(store, {.prefetch_mini_batches = 0}); }),
                   "mini-batch queue: prefetch_mini_batches is 0"));
}

}  // namespace
}  // namespace retrace
