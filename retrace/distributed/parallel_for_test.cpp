// Loops whose items are shared out.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "retrace/distributed/parallel_for.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

TEST(ParallelFor, HasResultsByIndex) {
  for (int workers : {1, 2, 5}) {
    auto pool = Pool::local(workers);
    const auto squares = parallel_for(pool, 100, [](int64_t i) { return i * i; });
    ASSERT_EQ(squares.size(), 100u);
    for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(squares[static_cast<size_t>(i)], i * i);
    EXPECT_TRUE(parallel_for(pool, 0, [](int64_t i) { return i; }).empty());
    std::atomic<int64_t> sum{0};
    parallel_for(pool, 1000, [&](int64_t i) { sum += i; });
    EXPECT_EQ(sum, 499500);
  }
}

// A worker with a long item takes fewer of them.
TEST(ParallelFor, GivesItemsToWhoIsFree) {
  auto pool = Pool::local(2);
  std::atomic<int> done{0};
  std::mutex mutex;
  std::map<std::thread::id, int> items;
  parallel_for(pool, 40, [&](int64_t i) {
    while (i == 0 && done < 39) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    ++done, ++items[std::this_thread::get_id()];
  });
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(std::min(items.begin()->second, items.rbegin()->second), 1);
}

TEST(ParallelFor, TakesResultsOfAnyType) {
  struct Own {
    std::map<int, std::string> names;
  };
  auto pool = Pool::local(2);
  const auto made = parallel_for(pool, 3, [](int64_t i) { return Own{{{static_cast<int>(i), "x"}}}; });
  EXPECT_EQ(made[2].names.at(2), "x");
}

TEST(ParallelFor, ThrowsTheErrorOfTheLowestItem) {
  for (int workers : {1, 3}) {
    auto pool = Pool::local(workers);
    std::atomic<int64_t> begun{0};
    const std::string text = error_of([&] {
      parallel_for(pool, 1000, [&](int64_t i) {
        ++begun;
        if (i % 10 == 7) throw Error(ErrorKind::bad_data, 501, "no such file");
        return i;
      });
    });
    EXPECT_TRUE(says(text, "item 7: no such file"));
    EXPECT_LT(begun, 1000);
    EXPECT_EQ(code_of([&] { parallel_for(pool, -1, [](int64_t) {}); }), 627);
    EXPECT_EQ(code_of([&] { pool.spmd([&](Worker&) { parallel_for(pool, 1, [](int64_t) {}); }); }), 615);
  }
}

// A worker's item may have a pool of its own.
TEST(ParallelFor, MayHaveLoopsInside) {
  auto pool = Pool::local(2);
  const auto sums = parallel_for(pool, 4, [](int64_t i) {
    auto inner = Pool::local(2);
    int64_t sum = 0;
    for (const int64_t j : parallel_for(inner, 3, [&](int64_t k) { return 10 * i + k; })) sum += j;
    return sum;
  });
  EXPECT_EQ(sums, (std::vector<int64_t>{3, 33, 63, 93}));
}

}  // namespace
}  // namespace retrace
