#include "retrace/device/cpu/threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "retrace/base/error.h"
#include "retrace/base/fp_environment.h"
#include "retrace/base/sanitizers.h"

namespace retrace {
namespace {

// Restores the number of threads.
class Threads : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    before_ = thread_count();
    if (GetParam() > 0) set_thread_count(GetParam());
  }
  void TearDown() override { set_thread_count(before_); }

 private:
  int before_ = 1;
};

std::vector<int> calls_per_piece(int64_t count) {
  std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
  run_pieces(count, [&](int64_t piece) { calls.at(static_cast<size_t>(piece)).fetch_add(1); });
  return {calls.begin(), calls.end()};
}

TEST_P(Threads, RunsEachPieceOnce) {
  for (const int64_t count : {0, 1, 2, 3, 7, 64, 1000})
    EXPECT_EQ(calls_per_piece(count), std::vector<int>(static_cast<size_t>(count), 1)) << count;
}

TEST_P(Threads, RunsEachPieceOnceInManyCallsOfOneRegion) {
  const ParallelRegion region, nested;
  for (int call = 0; call < 3000; ++call) {
    const int64_t count = 2 + call % 5;
    ASSERT_EQ(calls_per_piece(count), std::vector<int>(static_cast<size_t>(count), 1)) << call;
  }
}

TEST_P(Threads, HelpersThatSleepAreWokenAndRegionsReopen) {
  for (int round = 0; round < 20; ++round) {
    const ParallelRegion region;
    EXPECT_EQ(calls_per_piece(16), std::vector<int>(16, 1));
    std::this_thread::sleep_for(std::chrono::microseconds(round % 2 ? 300 : 10));
    EXPECT_EQ(calls_per_piece(16), std::vector<int>(16, 1));
  }
}

TEST_P(Threads, CallInsideAPieceIsSerialAndInOrder) {
  std::vector<std::vector<int64_t>> orders(8);
  std::atomic<int> strangers{0};
  run_pieces(8, [&](int64_t outer) {
    const auto self = std::this_thread::get_id();
    const ParallelRegion region;
    run_pieces(5, [&](int64_t inner) {
      strangers += std::this_thread::get_id() != self;
      orders[static_cast<size_t>(outer)].push_back(inner);
    });
  });
  EXPECT_EQ(strangers, 0);
  for (const auto& order : orders) EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

TEST_P(Threads, LowestExceptionIsRethrownAndTheCrewLivesOn) {
  for (int round = 0; round < 50; ++round) {
    std::string text;
    try {
      run_pieces(100, [&](int64_t piece) {
        if (piece % 10 == 3) throw std::runtime_error(std::to_string(piece));
      });
    } catch (const std::runtime_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "3");
    EXPECT_EQ(calls_per_piece(10), std::vector<int>(10, 1));
  }
}

TEST_P(Threads, SeveralUserThreadsAtTheSameTime) {
  std::vector<std::thread> users;
  std::atomic<int> wrong{0};
  for (int user = 0; user < 3; ++user)
    users.emplace_back([&] {
      for (int call = 0; call < 200; ++call) {
        const ParallelRegion region;
        wrong += calls_per_piece(6) != std::vector<int>(6, 1);
      }
    });
  for (auto& user : users) user.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Threads, PiecesHaveOurFloatingPointEnvironmentAndTheCallerKeepsHis) {
#if defined(__x86_64__)
  const auto settings = [] { return floating_point_control() & ~uint64_t{0x3f}; };  // without flags
#else
  const auto settings = [] { return floating_point_control(); };
#endif
  const uint64_t ours = [&] {
    const FloatingPointScope scope;
    return settings();
  }();
  const uint64_t before = floating_point_control();
#if defined(__x86_64__)
  const uint64_t strange = before | 0x8040 | 0x6000;  // FTZ, DAZ, towards zero
#else
  const uint64_t strange = before | (1u << 24) | (3u << 22);
#endif
  set_floating_point_control(strange);
  std::atomic<int> wrong{0};
  for (const int64_t count : {1, 50}) run_pieces(count, [&](int64_t) { wrong += settings() != ours; });
  const uint64_t after = floating_point_control();
  set_floating_point_control(before);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(after, strange);
}

INSTANTIATE_TEST_SUITE_P(Counts, Threads, testing::Values(0, 1, 2, 3, 8));

TEST(ThreadCount, IsLimited) {
  const int before = thread_count();
  EXPECT_GE(before, 1);
  EXPECT_THROW(set_thread_count(0), Error);
  EXPECT_THROW(set_thread_count(257), Error);
  EXPECT_EQ(thread_count(), before);
  set_thread_count(5);
  EXPECT_EQ(thread_count(), 5);
  set_thread_count(before);
}

// A piece that waits for another one can only end if two threads work at the same time.
TEST(Pieces, TwoThreadsReallyWorkTogether) {
  const int before = thread_count();
  set_thread_count(2);
  std::atomic<int> arrived{0};
  std::atomic<bool> together{false};
  run_pieces(2, [&](int64_t) {
    ++arrived;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    together = arrived == 2;
  });
  set_thread_count(before);
  EXPECT_TRUE(together);
}

// Kernel threads of this process now.
int64_t threads_of_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

class Helpers : public testing::Test {
 protected:
  Helpers() : before_(thread_count()) { set_thread_count(4); }
  ~Helpers() override { set_thread_count(before_); }

 private:
  int before_;
};

TEST_F(Helpers, OfThreadsThatEndedServeTheNext) {
  const std::vector<int> once(16, 1);
  for (int user = 0; user < 500; ++user) std::thread([&] { ASSERT_EQ(calls_per_piece(16), once); }).join();
  EXPECT_LT(threads_of_process(), 60);
}

// More than are kept: 120 users with 3 helpers each at the same time.
TEST_F(Helpers, OfManyThreadsAtOnceEnd) {
  constexpr int kUsers = 120;
  std::atomic<int> arrived{0}, wrong{0};
  std::vector<std::thread> users;
  for (int user = 0; user < kUsers; ++user)
    users.emplace_back([&] {
      wrong += calls_per_piece(8) != std::vector<int>(8, 1);
      ++arrived;
      while (arrived < kUsers) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  for (auto& user : users) user.join();
  EXPECT_EQ(wrong, 0);
  for (int wait = 0; wait < 2000 && threads_of_process() > 270; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_LE(threads_of_process(), 270);
}

// Signals that are sent to the process are for the threads of its author.
TEST_F(Helpers, BlockSignals) {
  std::atomic<int> open{0};
  const auto self = std::this_thread::get_id();
  run_pieces(64, [&](int64_t) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    if (std::this_thread::get_id() != self) open += !sigismember(&blocked, SIGINT) || sigismember(&blocked, SIGSEGV);
  });
  EXPECT_EQ(open, 0);
  sigset_t mine;
  pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  EXPECT_FALSE(sigismember(&mine, SIGINT));
}

// The child has none of its parent's helpers, and starts its own.
// ThreadSanitizer lets no child of a process with threads start threads.
constexpr bool kForks = !RT_THREAD_SANITIZER;

TEST_F(Helpers, AreStartedAnewAfterFork) {
  if (!kForks) GTEST_SKIP() << "ThreadSanitizer ends children that start threads";
  const std::vector<int> once(64, 1);
  ASSERT_EQ(calls_per_piece(64), once);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that hangs
    bool right = true;
    for (int round = 0; round < 50; ++round) right = right && calls_per_piece(64) == once;
    ::_exit(right && threads_of_process() >= 4 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(calls_per_piece(64), once);
}

TEST_F(Helpers, DoNotKeepTheProcessFromItsEnd) {
  if (!kForks) GTEST_SKIP() << "ThreadSanitizer ends children that start threads";
  const auto work_and_exit = [] {
    ::alarm(20);
    calls_per_piece(64);
    std::thread([] { calls_per_piece(64); }).join();
    std::exit(7);
  };
  EXPECT_EXIT(work_and_exit(), testing::ExitedWithCode(7), "");
}

// Where they sleep, they take no processor time.
TEST_F(Helpers, SleepBetweenCalls) {
  calls_per_piece(64);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  timespec start{}, end{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  EXPECT_LT(end.tv_sec - start.tv_sec + 1e-9 * static_cast<double>(end.tv_nsec - start.tv_nsec), 0.05);
}

}  // namespace
}  // namespace retrace
