// Messages from worker to worker.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <random>
#include <thread>

#include "retrace/distributed/pool.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

TEST(Messages, GoRoundARing) {
  Pool::local(4).spmd([](Worker& worker) {
    const int next = (worker.index() + 1) % 4, last = (worker.index() + 3) % 4;
    EXPECT_EQ(worker.send_receive(std::string("from ") + std::to_string(worker.index()), next, last),
              "from " + std::to_string(last));
  });
}

TEST(Messages, AreTakenBySourceAndTag) {
  Pool::local(3).spmd([](Worker& worker) {
    if (worker.index() > 0) {
      worker.send(10 * worker.index(), 0, 1);
      worker.send(10 * worker.index() + 1, 0, 2);
      worker.send(10 * worker.index() + 2, 0, 1);
      worker.barrier();
      return;
    }
    worker.barrier();
    EXPECT_TRUE(worker.has_message());
    EXPECT_FALSE(worker.has_message(0));
    EXPECT_FALSE(worker.has_message(1, 7));
    EXPECT_EQ(worker.receive<int>(2, 2), 21);
    EXPECT_EQ(worker.receive<int>(1, 1), 10);
    EXPECT_EQ(worker.receive<int>(1), 11);
    Worker::Sender sender;
    EXPECT_EQ(worker.receive<int>(2, Worker::any_tag, &sender), 20);
    EXPECT_EQ(sender.worker, 2);
    EXPECT_EQ(sender.tag, 1);
    int sum = 0;
    for (int i = 0; i < 2; ++i) sum += worker.receive<int>();
    EXPECT_EQ(sum, 12 + 22);
    EXPECT_FALSE(worker.has_message());
  });
}

TEST(Messages, ToOneselfArrive) {
  Pool::local(1).spmd([](Worker& worker) {
    worker.send(std::vector<double>{1, 2}, 0);
    EXPECT_EQ(worker.receive<std::vector<double>>(), (std::vector<double>{1, 2}));
    EXPECT_EQ(code_of([&] { worker.receive<int>(); }), 666);
  });
}

TEST(Messages, RefuseWhatCannotBe) {
  Pool::local(2).spmd([](Worker& worker) {
    EXPECT_EQ(code_of([&] { worker.send(1, 2); }), 667);
    EXPECT_EQ(code_of([&] { worker.send(1, -1); }), 667);
    EXPECT_EQ(code_of([&] { worker.send(1, 0, -1); }), 667);
    EXPECT_EQ(code_of([&] { worker.receive<int>(2); }), 667);
    EXPECT_EQ(code_of([&] { worker.has_message(0, -2); }), 667);
    worker.send(1.5f, 1 - worker.index());
    EXPECT_EQ(code_of([&] { worker.receive<double>(); }), 667);
  });
}

// A worker that waits for what nobody sends ends, and so do the others.
TEST(Messages, ThatNobodySendsAreAnError) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(code_of([] {
              Pool::local(3).spmd([](Worker& worker) {
                if (worker.index() == 1) worker.receive<int>(2);
                if (worker.index() == 0) worker.receive<int>();
              });
            }),
            666);
  EXPECT_EQ(code_of([] {
              Pool::local(2, {.timeout = 0.3}).spmd([](Worker& worker) { worker.receive<int>(1 - worker.index()); });
            }),
            611);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Messages, OfOneThatFailedAreAnError) {
  EXPECT_TRUE(says(error_of([] {
                     Pool::local(2).spmd([](Worker& worker) {
                       if (worker.index() == 1) throw Error(ErrorKind::bad_data, 501, "the disk is full");
                       worker.receive<int>(1);
                     });
                   }),
                   "worker 1: the disk is full"));
}

// One waits for a message, one in a collective: both name the worker that failed, not the one that heard of it first.
TEST(Messages, TheWorkerThatFailedIsNamedToAllThatWait) {
  for (int round = 0; round < 200; ++round) {
    std::string heard[2];
    const auto hear = [&](Worker& worker, const std::function<void()>& wait) {
      heard[worker.index()] = error_of(wait);
      throw Error(ErrorKind::lost, 610, "it has heard of it");
    };
    const std::string thrown = error_of([&] {
      Pool::local(3).spmd([&](Worker& worker) {
        if (worker.index() == 0) hear(worker, [&] { worker.receive<int>(1); });
        if (worker.index() == 1) hear(worker, [&] { worker.barrier(); });
        throw Error(ErrorKind::bad_data, 501, "the disk is full");
      });
    });
    EXPECT_TRUE(says(thrown, "worker 2: the disk is full"));
    for (const auto& text : heard) ASSERT_TRUE(says(text, "worker 2 failed")) << round;
  }
}

// Random patterns beside collectives: each worker knows what the others send.
TEST(Messages, ArriveInTheirOrderBesideCollectives) {
  constexpr int workers = 4, rounds = 200;
  for (unsigned seed = 0; seed < 5; ++seed) {
    Pool::local(workers).spmd([&](Worker& worker) {
      std::mt19937 plan(seed);  // the same on all
      int64_t sent[workers][workers][2] = {}, received[workers][2] = {};
      for (int round = 0; round < rounds; ++round) {
        const int from = static_cast<int>(plan() % workers), to = static_cast<int>(plan() % workers);
        const int tag = static_cast<int>(plan() % 2), count = static_cast<int>(plan() % 4);
        const bool meet = plan() % 8 == 0;
        for (int i = 0; i < count; ++i) {
          if (worker.index() == from) worker.send(sent[from][to][tag], to, tag);
          ++sent[from][to][tag];
        }
        if (meet) {
          EXPECT_EQ(worker.sum(1), workers);
        }
        for (int i = 0; worker.index() == to && i < count; ++i)
          EXPECT_EQ(worker.receive<int64_t>(from, tag), received[from][tag]++);
      }
    });
  }
}

}  // namespace
}  // namespace retrace
