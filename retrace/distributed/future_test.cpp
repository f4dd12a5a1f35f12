// Work beside a program.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "retrace/distributed/pool.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

TEST(Futures, BringResults) {
  auto pool = Pool::local(2);
  std::vector<Future<int>> futures;
  for (int i = 0; i < 50; ++i) futures.push_back(pool.submit([](int x, int y) { return x * y; }, i, 2));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(futures[static_cast<size_t>(i)].get(), 2 * i);
  EXPECT_TRUE(futures[0].ready());
  EXPECT_TRUE(futures[0].wait(0));
  pool.submit([] {}).get();
}

TEST(Futures, RunAsManyAsThereAreWorkers) {
  auto pool = Pool::local(3);
  std::atomic<int> now{0}, most{0};
  std::latch three(3);
  std::vector<Future<void>> futures;
  for (int i = 0; i < 12; ++i)
    futures.push_back(pool.submit([&, i] {
      const int count = ++now;
      for (int seen = most; seen < count && !most.compare_exchange_weak(seen, count);) {}
      if (i < 3) three.arrive_and_wait();
      --now;
    }));
  for (auto& future : futures) future.get();
  EXPECT_EQ(most, 3);
}

TEST(Futures, ThrowWhatTheWorkThrew) {
  auto pool = Pool::local(1);
  auto failing = pool.submit([]() -> int { throw Error(ErrorKind::bad_data, 501, "no such file"); });
  EXPECT_EQ(code_of([&] { failing.get(); }), 501);
  EXPECT_EQ(code_of([&] { failing.then([](int x) { return x; }).get(); }), 501);
  EXPECT_EQ(pool.submit([] { return 1; }).get(), 1);
}

TEST(Futures, CanBeCancelledBeforeTheyBegin) {
  auto pool = Pool::local(1);
  std::latch begun(1), go(1);
  auto first = pool.submit([&] { begun.count_down(), go.wait(); });
  auto second = pool.submit([] { return 2; });
  auto after = second.then([](int x) { return x + 1; });
  begun.wait();
  EXPECT_FALSE(first.cancel());
  EXPECT_FALSE(first.wait(0.01));
  EXPECT_TRUE(second.cancel());
  EXPECT_TRUE(second.ready());
  go.count_down();
  first.get();
  EXPECT_EQ(code_of([&] { second.get(); }), 669);
  EXPECT_EQ(code_of([&] { after.get(); }), 669);
  EXPECT_TRUE(first.cancel());  // is over
}

TEST(Futures, GoOnWithWhatFollows) {
  auto pool = Pool::local(2);
  auto text =
      pool.submit([] { return 20; }).then([](int x) { return x + 1; }).then([](int x) { return std::to_string(x); });
  EXPECT_EQ(text.get(), "21");
  int told = 0;
  pool.submit([] {}).then([&] { ++told; }).get();
  EXPECT_EQ(told, 1);
}

TEST(Futures, TheFirstOfSeveralIsFound) {
  auto pool = Pool::local(2);
  std::latch go(1);
  std::vector<Future<int>> futures{pool.submit([&] { return go.wait(), 0; }), pool.submit([] { return 1; })};
  EXPECT_EQ(wait_any(futures), 1u);
  go.count_down();
  EXPECT_EQ(futures[0].get(), 0);
  EXPECT_EQ(code_of([] { wait_any(std::vector<Future<int>>{}); }), 626);
}

TEST(Futures, OfAPoolThatEndsAreCancelledOrAwaited) {
  std::latch begun(1);
  std::vector<Future<int>> futures;
  {
    auto pool = Pool::local(1);
    futures.push_back(pool.submit([&] {
      begun.count_down();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return 1;
    }));
    futures.push_back(pool.submit([] { return 2; }));
    begun.wait();
  }
  EXPECT_EQ(futures[0].get(), 1);
  EXPECT_EQ(code_of([&] { futures[1].get(); }), 669);
}

TEST(Futures, OfSpmdHaveTheResultsOfAllWorkers) {
  auto pool = Pool::local(3);
  auto indices = pool.spmd_async([](Worker& worker) { return worker.index() + worker.sum(1); });
  auto nothing = pool.spmd_async([](Worker& worker) { worker.barrier(); });
  EXPECT_EQ(indices.get(), (std::vector<int>{3, 4, 5}));
  nothing.get();
  EXPECT_EQ(code_of([&] { pool.spmd([&](Worker&) { pool.submit([] {}); }); }), 615);
}

}  // namespace
}  // namespace retrace
