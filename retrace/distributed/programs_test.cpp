// Random programs of several workers: messages, collectives, queues, futures and loops in any order, and errors and
// cancellations in between. Whatever happens first, nothing is lost, changed or done twice, and nobody waits for ever.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <atomic>
#include <map>
#include <thread>

#include "retrace/distributed/data_queue.h"
#include "retrace/distributed/parallel_for.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

// A step of a program that all workers know.
struct Action {
  enum Kind { send, receive, sum, gather, ring, tell, count } kind = send;
  int from = 0, to = 0, tag = 0, size = 0;
};

struct Program {
  int workers = 1;
  std::vector<Action> actions;
  int failing = -1;  // the worker that fails, at that action
  size_t at = 0;
};

// What is received has been sent before, so that no order of the workers can end in a deadlock.
Program random_program() {
  Program program;
  program.workers = *rc::gen::inRange(1, 6);
  std::map<std::pair<int, int>, int> under_way;  // to whom, with which tag
  const auto worker = [&] { return *rc::gen::inRange(0, program.workers); };
  const int length = *rc::gen::inRange(1, 40);
  for (int i = 0; i < length; ++i) {
    Action action{static_cast<Action::Kind>(*rc::gen::inRange<int>(0, Action::count)), worker(), worker(),
                  *rc::gen::inRange(0, 2), *rc::gen::inRange(0, 3000)};
    int& waiting = under_way[{action.to, action.tag}];
    if (action.kind == Action::receive && waiting == 0) action.kind = Action::send;
    waiting += (action.kind == Action::send) - (action.kind == Action::receive);
    program.actions.push_back(action);
  }
  if (*rc::gen::inRange(0, 3) == 0)
    program.failing = worker(), program.at = *rc::gen::inRange<size_t>(0, program.actions.size() + 1);
  return program;
}

// What a worker says of an action.
struct Told {
  int worker = 0;
  size_t action = 0;
};

std::string text_of(int from, size_t number, int size) {
  return std::to_string(from) + " " + std::to_string(number) + std::string(static_cast<size_t>(size), 'x');
}

// One worker in its program.
class Actor {
 public:
  Actor(Worker& worker, const DataQueue<Told>& told, std::atomic<int>& wrong)
      : worker_(worker), told_(told), wrong_(wrong) {}

  void run(const Program& program) {
    for (size_t i = 0; i < program.actions.size(); ++i)  // others may be ahead of this one
      if (const Action& a = program.actions[i]; a.kind == Action::send && a.to == worker_.index())
        sent_[{a.from, a.tag}].push_back(text_of(a.from, i, a.size));
    for (size_t i = 0; i <= program.actions.size(); ++i) {
      if (program.failing == worker_.index() && program.at == i) throw Error(ErrorKind::bad_data, 501, "no such file");
      if (i < program.actions.size()) act(program.actions[i], i);
    }
  }

 private:
  void require(bool right) { wrong_ += !right; }

  void act(const Action& action, size_t i) {
    const int own = worker_.index(), size = worker_.size();
    switch (action.kind) {
      case Action::send:
        if (own == action.from) worker_.send(text_of(own, i, action.size), action.to, action.tag);
        break;
      case Action::receive:
        if (own == action.to) receive(action.tag);
        break;
      case Action::sum: require(worker_.sum(own + 1) == size * (size + 1) / 2); break;
      case Action::gather: {
        const auto all = worker_.all_gather(text_of(own, i, own * action.size));
        for (int r = 0; r < size; ++r) require(all[static_cast<size_t>(r)] == text_of(r, i, r * action.size));
        break;
      }
      case Action::ring: {
        const int next = (own + 1) % size, last = (own + size - 1) % size;
        require(worker_.send_receive(text_of(own, i, action.size), next, last, 9) == text_of(last, i, action.size));
        break;
      }
      case Action::tell:
        if (own == action.from) told_.send({own, i});
        break;
      case Action::count: break;
    }
  }

  // The oldest message of whoever comes first.
  void receive(int tag) {
    Worker::Sender sender;
    const auto text = worker_.receive<std::string>(Worker::any_worker, tag, &sender);
    auto& sent = sent_[{sender.worker, sender.tag}];
    require(sender.tag == tag && !sent.empty() && sent.front() == text);
    if (!sent.empty()) sent.erase(sent.begin());
  }

  Worker& worker_;
  const DataQueue<Told>& told_;
  std::atomic<int>& wrong_;
  std::map<std::pair<int, int>, std::vector<std::string>> sent_;  // to this worker, and not received
};

TEST(Programs, LoseNothingAndEndWithTheFirstError) {
  rc::check("programs", [] {
    const Program program = random_program();
    std::atomic<int> wrong{0};
    std::map<int, std::vector<size_t>> seen;
    const DataQueue<Told> told;
    told.after_each([&](const Told& item) { seen[item.worker].push_back(item.action); });
    const std::string text = error_of([&] {
      Pool::local(program.workers, {.timeout = 20}).spmd([&](Worker& worker) {
        Actor(worker, told, wrong).run(program);
      });
    });
    RC_LOG() << text;
    RC_ASSERT(text.find(program.failing < 0 ? "no error" : "no such file") != std::string::npos);
    RC_ASSERT(wrong == 0);
    for (int w = 0; w < program.workers; ++w) {
      std::vector<size_t> expected;
      for (size_t i = 0; i < program.actions.size(); ++i)
        if (program.actions[i].kind == Action::tell && program.actions[i].from == w) expected.push_back(i);
      RC_ASSERT(seen[w].size() <= expected.size());
      RC_ASSERT(std::equal(seen[w].begin(), seen[w].end(), expected.begin()));
      RC_ASSERT((program.failing >= 0 || seen[w].size() == expected.size()));
    }
  });
}

// Work is done once or not at all, and its future says which; that of a pool that has ended is over.
TEST(Programs, CancelFuturesAtAnyTime) {
  rc::check("futures", [] {
    constexpr int kMost = 30;
    std::array<std::atomic<int>, kMost> ran{};
    std::vector<Future<int>> futures, after;
    std::vector<bool> fails;
    const int count = *rc::gen::inRange(1, kMost);
    {
      auto pool = Pool::local(*rc::gen::inRange(1, 5));
      for (int i = 0; i < count; ++i) {
        fails.push_back(*rc::gen::inRange(0, 4) == 0);
        futures.push_back(pool.submit([&ran, i, fail = bool{fails.back()}, turns = *rc::gen::inRange(0, 200)] {
          ++ran[static_cast<size_t>(i)];
          for (int turn = 0; turn < turns; ++turn) std::this_thread::yield();
          if (fail) throw Error(ErrorKind::bad_data, 501, "no such file");
          return i;
        }));
        after.push_back(futures.back().then([](int x) { return -x; }));
        const auto& other = futures[*rc::gen::inRange<size_t>(0, futures.size())];
        const int action = *rc::gen::inRange(0, 6);
        if (action == 0 && other.cancel()) RC_ASSERT(other.ready());
        if (action == 1) other.wait(1e-4);
        if (action == 2) RC_ASSERT(futures[wait_any(futures)].ready());
      }
    }
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      RC_ASSERT(futures[at].ready());
      int value = 0;
      const int code = code_of([&] { value = futures[at].get(); });
      RC_ASSERT((code == 669 || code == (fails[at] ? 501 : 0)));
      RC_ASSERT((ran[at] == (code == 669 ? 0 : 1)));
      RC_ASSERT((code != 0 || value == i));
      RC_ASSERT(code_of([&] { value = after[at].get(); }) == code);
      RC_ASSERT((code != 0 || value == -i));
    }
  });
}

// The items begin in order, each once; the lowest that fails is the one that is told.
TEST(Programs, EndLoopsWithTheLowestItemThatFails) {
  rc::check("loops", [] {
    auto pool = Pool::local(*rc::gen::inRange(1, 6));
    const int64_t n = *rc::gen::inRange<int64_t>(0, 60), first = *rc::gen::inRange<int64_t>(0, 90);
    const int64_t every = *rc::gen::inRange<int64_t>(1, 10);
    const DataQueue<int64_t> told;
    std::vector<int> seen(static_cast<size_t>(n));
    told.after_each([&](int64_t i) { ++seen[static_cast<size_t>(i)]; });
    std::vector<int64_t> results;
    const std::string text = error_of([&] {
      results = parallel_for(pool, n, [&](int64_t i) {
        told.send(i);
        if (i >= first && (i - first) % every == 0) throw Error(ErrorKind::bad_data, 501, "no such file");
        return i * i;
      });
    });
    for (int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(i);
      RC_ASSERT(seen[at] <= 1);
      RC_ASSERT((seen[at] == 1 || i > first));
      RC_ASSERT((first < n || results[at] == i * i));
    }
    const std::string expected = "item " + std::to_string(first) + ": no such file";
    RC_ASSERT((first < n ? text.find(expected) != std::string::npos : text == "no error"));
  });
}

}  // namespace
}  // namespace retrace
