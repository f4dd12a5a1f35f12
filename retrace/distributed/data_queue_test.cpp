// Queues from workers to the thread that made them, and back.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "retrace/distributed/data_queue.h"
#include "retrace/distributed/parallel_for.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

struct Progress {
  int worker = 0, iteration = 0;
};

TEST(DataQueues, CallOnTheThreadThatMadeThem) {
  for (int workers : {1, 3}) {
    const DataQueue<Progress> queue;
    const auto home = std::this_thread::get_id();
    std::vector<int> last(static_cast<size_t>(workers), -1);
    int seen = 0, also = 0;
    queue.after_each([&](const Progress& progress) {
      EXPECT_EQ(std::this_thread::get_id(), home);
      EXPECT_EQ(progress.iteration, ++last[static_cast<size_t>(progress.worker)]);
      ++seen;
    });
    queue.after_each([&](const Progress&) { ++also; });
    Pool::local(workers).spmd([&](Worker& worker) {
      for (int i = 0; i < 1000; ++i) queue.send({worker.index(), i});
    });
    EXPECT_EQ(seen, 1000 * workers);
    EXPECT_EQ(also, seen);
    EXPECT_EQ(queue.length(), 0);
  }
}

TEST(DataQueues, KeepItemsUntilSomebodyReads) {
  const DataQueue<std::string> queue;
  EXPECT_FALSE(queue.poll().has_value());
  Pool::local(2).spmd([&](Worker& worker) {
    if (worker.index() == 1) queue.send("one"), queue.send("two"), queue.send("three");
  });
  EXPECT_EQ(queue.length(), 3);
  EXPECT_EQ(queue.poll(), "one");
  std::vector<std::string> seen;
  queue.after_each([&](const std::string& text) { seen.push_back(text); });
  EXPECT_EQ(seen, (std::vector<std::string>{"two", "three"}));
}

// The two queues of a training with a stop button: all workers stop at the same iteration.
TEST(DataQueues, StopAllWorkersAtOneIteration) {
  const DataQueue<Progress> progress;
  const DataQueue<bool> stop;
  progress.after_each([&](const Progress& p) {
    if (p.iteration == 20) stop.send(true);
  });
  const auto iterations = Pool::local(3).spmd([&](Worker& worker) {
    int iteration = 0;
    while (iteration < 100000) {
      ++iteration;
      if (worker.index() == 0) progress.send({0, iteration});
      if (worker.sum(stop.length()) > 0) break;
    }
    return iteration;
  });
  EXPECT_GE(iterations[0], 20);
  EXPECT_LT(iterations[0], 100000);
  EXPECT_EQ(iterations, std::vector<int>(3, iterations[0]));
}

TEST(DataQueues, WaitForAnItem) {
  const DataQueue<int> queue, answers;
  Pool::local(2).spmd([&](Worker& worker) {
    if (worker.index() == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      queue.send(7);
      EXPECT_EQ(answers.poll(30), 14);
    } else {
      answers.send(2 * queue.poll(30).value());
      EXPECT_FALSE(queue.poll(0.01).has_value());
    }
  });
}

TEST(DataQueues, ErrorsOfTheirFunctionsEndTheWorkers) {
  for (int workers : {1, 2}) {
    const DataQueue<int> queue;
    queue.after_each([](int value) {
      if (value == 3) throw Error(ErrorKind::bad_data, 501, "the page cannot be written");
    });
    EXPECT_TRUE(says(error_of([&] {
                       Pool::local(workers).spmd([&](Worker& worker) {
                         for (int i = 0; i < 1000000; ++i) {
                           if (worker.index() == 0) queue.send(i);
                           worker.barrier();
                         }
                       });
                     }),
                     "the page cannot be written"));
  }
  EXPECT_EQ(code_of([] { DataQueue<int>(-1); }), 624);
}

TEST(DataQueues, TellOfLoopsAndOfOneThatEnded) {
  const DataQueue<int64_t> queue;
  int64_t sum = 0;
  queue.after_each([&](int64_t item) { sum += item; });
  auto pool = Pool::local(3);
  parallel_for(pool, 100, [&](int64_t i) { queue.send(i); });
  EXPECT_EQ(sum, 4950);
  pool.submit([=] { queue.send(50); }).get();
  EXPECT_EQ(sum, 5000);
}

}  // namespace
}  // namespace retrace
