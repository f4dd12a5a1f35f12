// A system that gives fewer threads than asked for: pthread_create fails after so many. Training goes on with what
// there is, with the same bits, and the user is told.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "retrace/device/cpu/threads.h"
#include "retrace/retrace.h"
#include "tests/error_testing.h"

namespace {
std::atomic<int> threads_left{1 << 30};
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                              void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (threads_left.fetch_sub(1) <= 0) return EAGAIN;
  return create(thread, attributes, body, argument);
}

namespace retrace {
namespace {

std::atomic<int> warnings{0};
std::string last_warning;

class ThreadLimit : public testing::Test {
 protected:
  ThreadLimit() : before_(thread_count()) {
    warnings = 0;
    set_warning_handler([](const std::string& text) { ++warnings, last_warning = text; });
  }
  ~ThreadLimit() override {
    threads_left = 1 << 30;
    set_thread_count(before_);
    set_warning_handler(nullptr);
  }

 private:
  int before_;
};

// The sum of the results, each of its own piece, on a new thread: one that has no helpers yet.
int64_t sum_of_squares(int64_t count) {
  std::vector<int64_t> squares(static_cast<size_t>(count));
  run_pieces(count, [&](int64_t i) { squares[static_cast<size_t>(i)] = i * i; });
  int64_t sum = 0;
  for (const int64_t square : squares) sum += square;
  return sum;
}

std::string train(Worker& worker) {
  const auto loss = [](const Tree& p, const Tensor& x) { return mean(square(matmul(x, p["w"]) - 1.0f)); };
  std::vector<float> values(size_t{64} * 100);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 37) % 101) / 50.0f - 1.0f;
  MiniBatchQueue whole(array_store({Tensor::from(values, {64, 100})}), {.mini_batch_size = 32, .formats = {"BC"}});
  MiniBatchQueue queue = worker.size() == 1 ? whole : whole.share(worker, 4);
  const auto step = accelerate(value_and_grad(loss, {.shards = 4, .worker = &worker}));
  Tree parameters{{"w", Tensor::full(0.02, {100, 70})}};
  AdamState adam;
  while (worker.all(queue.has_data())) {
    const auto [x] = queue.next<1>();
    const auto [value, gradients] = step(parameters, x);
    auto updated = adam_update(parameters, gradients, adam);
    parameters = updated.parameters, adam = updated.state;
  }
  return fingerprint(parameters);
}

std::string train_on(int workers, int threads, bool fewer = true) {
  return Pool::local(workers, {.threads = threads, .fewer = fewer}).spmd([](Worker& worker) {
    return train(worker);
  })[0];
}

// First: no helper waits for work yet, and nothing was told.
TEST_F(ThreadLimit, IsToldOnceAndWorkGoesOn) {
  set_thread_count(8);
  threads_left = 2;
  EXPECT_EQ(sum_of_squares(1000), 332833500);
  EXPECT_EQ(last_warning.find("only 3 of 8 threads could be started: "), 0u) << last_warning;
  set_thread_count(7);
  EXPECT_EQ(sum_of_squares(1000), 332833500);
  EXPECT_EQ(warnings, 1);
}

TEST_F(ThreadLimit, ChangesNoBit) {
  const std::string right = train_on(1, 1);
  for (int limit = 0; limit <= 8; ++limit)
    for (const int workers : {1, 2, 4})
      for (const int threads : {1, 3, 8}) {
        SCOPED_TRACE(limit);
        threads_left = limit;
        EXPECT_EQ(train_on(workers, threads), right) << workers << " workers of " << threads << " threads";
      }
}

// One thread for each worker, none for what they send each other.
TEST_F(ThreadLimit, WorkersSendForThemselves) {
  const std::string right = train_on(1, 1);
  threads_left = 3;
  EXPECT_EQ(train_on(3, 1, false), right);
}

TEST_F(ThreadLimit, IsAnErrorForAPoolOfAFixedSize) {
  threads_left = 2;
  const std::string text = error_of([] { Pool::local(3).spmd([](Worker& worker) { worker.barrier(); }); });
  EXPECT_TRUE(says(text, "error[RT0621]: only 2 of 3 workers could be started"));
  EXPECT_TRUE(says(text, "help:"));
  threads_left = 3;
  Pool::local(3).spmd([](Worker& worker) { worker.barrier(); });
}

// Mini-batches are made when they are needed.
TEST_F(ThreadLimit, DataComeWithoutAThread) {
  const auto twice = [](const Observation& one, TransformContext&) {
    return Observation{Tensor::scalar(2 * one[0].item<int32_t>())};
  };
  const Datastore store = transform(array_store({Tensor::from<int32_t>({1, 2, 3, 4, 5}, {5})}), twice);
  for (int limit = 0; limit <= 3; ++limit)
    for (const int threads : {1, 2}) {
      threads_left = limit;
      MiniBatchQueue queue(store, {.mini_batch_size = 2, .prefetch_threads = threads});
      std::vector<int32_t> all;
      while (queue.has_data())
        for (int32_t x : queue.next()[0].to_vector<int32_t>()) all.push_back(x);
      EXPECT_EQ(all, (std::vector<int32_t>{2, 4, 6, 8, 10})) << limit;
    }
}

TEST_F(ThreadLimit, TellsOfFewerWorkers) {
  threads_left = 2;
  const auto sizes = Pool::local(4, {.threads = 1, .fewer = true}).spmd([](Worker& worker) { return worker.size(); });
  EXPECT_EQ(sizes, (std::vector<int>{2, 2}));
  EXPECT_EQ(last_warning.find("only 2 of 4 workers could be started: "), 0u) << last_warning;
  threads_left = 0;
  EXPECT_EQ((Pool::local(4, {.fewer = true}).spmd([](Worker& worker) { return worker.size(); })), std::vector<int>{1});
}

}  // namespace
}  // namespace retrace
