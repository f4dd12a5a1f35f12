// What one rank does in tests/mpi_test.sh: mpi_ranks CASE. Exit code 0, 1 if the case failed, or that of the error,
// whose text goes to standard error after "rank N, T ms: ". `times` prints how long collectives take.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "retrace/base/error.h"
#include "retrace/base/warning.h"
#include "retrace/data/array_store.h"
#include "retrace/distributed/data_queue.h"
#include "retrace/distributed/launcher.h"
#include "retrace/distributed/mpi_group.h"
#include "retrace/distributed/parallel_for.h"
#include "retrace/distributed/pool.h"
#include "retrace/retrace.h"

namespace retrace {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

char byte_of(int from, int to, size_t i, size_t round) {
  return static_cast<char>(static_cast<size_t>(from) * 31 + static_cast<size_t>(to) * 7 + i * 13 + i / 255 + round);
}

// Every member sends each other one (and itself) size(from, to) bytes, and looks at what came.
template <class Size>
void exchange_and_look(Group& group, size_t round, const Size& size) {
  const int own = group.rank(), members = group.size();
  std::vector<std::string> out, in;
  std::vector<Sent> sent;
  std::vector<Received> received;
  for (int r = 0; r < members; ++r) {
    out.emplace_back(size(own, r), '\0');
    for (size_t i = 0; i < out.back().size(); ++i) out.back()[i] = byte_of(own, r, i, round);
    in.emplace_back(size(r, own), '?');
  }
  for (size_t r = 0; r < out.size(); ++r) {
    sent.push_back({out[r].data(), out[r].size()});
    received.push_back({in[r].data(), in[r].size()});
  }
  group.exchange(sent, received, "exchange");
  for (int r = 0; r < members; ++r) {
    const std::string& message = in[static_cast<size_t>(r)];
    for (size_t i = 0; i < message.size(); ++i)
      if (message[i] != byte_of(r, own, i, round))
        throw std::runtime_error(fmt::format("round {}: byte {} of {} from {}", round, i, message.size(), r));
  }
}

void exchange(Group& group) {
  for (size_t round = 0; round < 300; ++round)
    exchange_and_look(group, round, [&](int from, int to) {
      const auto seed = round * 64 + static_cast<size_t>(from) * 8 + static_cast<size_t>(to);
      const size_t sizes[] = {0, 1, seed % 100, 3935, 3936, 3937, 4096, 65536, seed * 7919 % 300000};
      return sizes[seed * 2654435761u / 64 % 9];
    });
}

void large(Group& group) {
  for (size_t round = 0; round < 5; ++round) exchange_and_look(group, round, [](int, int) { return size_t{10} << 20; });
  // More than one part, one way only.
  exchange_and_look(group, 9, [](int from, int to) { return from == 0 && to == 1 ? size_t{150} << 20 : size_t{0}; });
}

void barriers(Group& group) {
  for (int i = 0; i < 1000; ++i) group.barrier();
  int mine = group.rank(), all[64] = {};
  group.all_gather(&mine, sizeof mine, all);
  for (int r = 0; r < group.size(); ++r) require(all[r] == r, "all_gather");
}

// Two views of the group, one after the other.
void views(Group& group) {
  barriers(group);
  barriers(*mpi_group(20));
  barriers(group);
}

// Everybody knows where it runs.
void place(Group& group) {
  const Launcher launcher = detect_launcher();
  const MpiPlace place = mpi_place();
  require(launcher.size == group.size() && launcher.rank == group.rank(), "launcher and MPI disagree");
  require(launcher.local_rank == place.local_rank && launcher.local_size == place.local_size,
          "launcher and MPI disagree about this machine");
  require(!place.host.empty(), "no host");
  if (group.rank() == 0) fmt::print("hint: {}\n", launcher_hint());
}

void missing(Group& group) {
  group.barrier();
  if (group.rank() == 2) return sleep_ms(60000);
  group.barrier();
}

// The others have large messages under way.
void missing_large(Group& group) {
  exchange_and_look(group, 0, [](int, int) { return size_t{1} << 20; });
  if (group.rank() == 2) return sleep_ms(60000);
  exchange_and_look(group, 1, [](int, int) { return size_t{1} << 20; });
}

// A process that hangs.
void missing_stopped(Group& group) {
  group.barrier();
  if (group.rank() == 2) std::raise(SIGSTOP);
  group.barrier();
}

// One that computes for longer than the others wait.
void computing(Group& group) {
  group.barrier();
  volatile int turns = 0;
  for (const auto start = Clock::now(); group.rank() == 2 && microseconds(start) < 3e6;) turns = turns + 1;
  group.barrier();
}

// One that has come to its end, and waits there for the others.
void ended(Group& group) {
  group.barrier();
  if (group.rank() != 2) group.barrier();
}

void different(Group& group) {
  group.barrier();
  int all[64] = {};
  if (group.rank() == 1)
    group.all_gather(&all[63], sizeof(int), all, "sum");
  else
    group.all_gather(&all[63], sizeof(int), all, "broadcast");
}

void sizes(Group& group) {
  char mine[100] = {}, all[6400];
  group.all_gather(mine, group.rank() == 1 ? 100 : 50, all);
}

// mpirun ends the others as soon as one has ended; a busy machine may take its time.
void wait_to_be_ended() { sleep_ms(10000); }

// The others wait already.
void failing(Group& group) {
  group.barrier();
  if (group.rank() == 1) {
    sleep_ms(200);
    group.fail("the disk is full");
    return wait_to_be_ended();
  }
  group.barrier();
}

// The others come later; what they send is large.
void failed_before(Group& group) {
  group.barrier();
  if (group.rank() == 1) {
    group.fail("the disk is full");
    return wait_to_be_ended();
  }
  sleep_ms(300);
  exchange_and_look(group, 0, [](int, int) { return size_t{1} << 20; });
}

// From another thread than the one that waits.
void failing_thread(Group& group) {
  group.barrier();
  if (group.rank() == 2) return wait_to_be_ended();
  std::jthread other([&] {
    sleep_ms(200);
    if (group.rank() == 1) group.fail("another thread had enough");
  });
  group.barrier();
}

// The others wait until mpirun ends them.
void aborting(Group& group) {
  group.barrier();
  if (group.rank() == 1) abort_mpi(77);
  group.barrier();
}

void killed(Group& group) {
  group.barrier();
  if (group.rank() == 1) std::raise(SIGKILL);
  group.barrier();
}

// Its work is done, as that of the others, which wait for it.
void stopped_at_end(Group& group) {
  group.barrier();
  if (group.rank() == 1) std::raise(SIGSTOP);
}

// It waits for something else, for longer than the others wait for one that works with them.
void late(Group& group) {
  group.barrier();
  if (group.rank() == 1) sleep_ms(3000);
}

// Messages in any order, large ones among them, and to oneself; what is left over does not keep MPI from ending.
void messages(Group& group) {
  const int size = group.size(), own = group.rank();
  const auto text = [](int from, int to, int i) {
    return std::string(i % 7 == 3 ? size_t{300000} : static_cast<size_t>(i), static_cast<char>('a' + from * 5 + to));
  };
  for (int i = 0; i < 40; ++i)
    for (int to = 0; to < size; ++to) group.send(to, {.tag = i % 2, .kind = "text", .bytes = text(own, to, i)});
  group.barrier();
  for (int odd : {1, 0})
    for (int from = size - 1; from >= 0; --from)
      for (int i = odd; i < 40; i += 2)
        require(group.receive(from, odd).bytes == text(from, own, i), fmt::format("message {} from {}", i, from));
  require(!group.take(kAny, kAny), "no more than was sent");
  group.barrier();
  if (own == 1) group.send(0, {.bytes = std::string(size_t{150} << 20, 'x')});
  if (own == 0 && size > 1) require(group.receive(1, 0).bytes == std::string(size_t{150} << 20, 'x'), "a long one");
  if (own == size - 1) group.send(0, {.bytes = "left over"});
}

// Who sends nothing is named.
void missing_message(Group& group) {
  group.barrier();
  if (group.rank() == 2) return sleep_ms(60000);
  if (group.rank() == 1) group.receive(2, 0);
  group.barrier();
}

// Progress to rank 0, and its answer to all; a loop whose items are shared out.
void queues(Group&) {
  auto pool = Pool::from_environment();
  const DataQueue<int> progress, last(pool.size() - 1);
  const DataQueue<bool> stop;
  int64_t sum = 0;
  progress.after_each([&](int i) {
    sum += i;
    if (i == 30) stop.send(true);
  });
  const int stopped = pool.spmd([&](Worker& worker) {
    for (int i = 1;; ++i) {
      if (worker.index() == worker.size() - 1) progress.send(i);
      if (worker.index() == 0) last.send(i);
      if (worker.sum(stop.length()) > 0) return worker.reduce(i, [](int a, int b) { return a == b ? a : -1; });
    }
  })[0];
  require(stopped >= 30, fmt::format("stopped at {}", stopped));
  require(sum == (pool.is_first() ? int64_t{stopped} * (stopped + 1) / 2 : 0), "all that was sent was told");
  const bool reads = pool.here().first == pool.size() - 1;
  require(last.length() == (reads ? stopped : 0), "items for the last rank");
  for (int i = 1; reads && i <= stopped; ++i) require(last.poll() == i, "items in their order");

  const DataQueue<int64_t> items;
  items.after_each([&](int64_t i) { sum += i; });
  sum = 0;
  const auto texts = parallel_for(pool, 50, [&](int64_t i) {
    items.send(i);
    return std::to_string(i);
  });
  require(sum == (pool.is_first() ? 1225 : 0), "items are told");
  for (size_t i = 0; i < texts.size(); ++i) require(texts[i] == std::to_string(i), "results by index");
}

// Heights x y over a grid of points.
Datastore products() {
  std::vector<float> points, heights;
  for (int i = 0; i < 40; ++i) {
    const float x = static_cast<float>(i % 8) / 4 - 1, y = static_cast<float>(i / 8) / 2 - 1;
    points.insert(points.end(), {x, y});
    heights.push_back(x * y);
  }
  return array_store({Tensor::from(points, {40, 2}, "BC"), Tensor::from(heights, {40, 1}, "BC")});
}

// A run of train_network() by all ranks is replayed by all ranks, and by the first one alone; another loss shows.
void replay(Group&) {
  auto pool = Pool::from_environment();
  const nn::Sequential layers{nn::linear(8), nn::relu(), nn::linear(1)};
  const char* folder = std::getenv("RUN_FOLDER");
  require(folder, "RUN_FOLDER names a folder");
  TrainNetworkOptions options{.training = {.max_epochs = 3,
                                           .mini_batch_size = 16,
                                           .shards = 3,
                                           .initial_learn_rate = 0.01,
                                           .checkpoint_iterations = 4,
                                           .checkpoint_seconds = 0,
                                           .fingerprint_iterations = 1},
                              .validation_data = products(),
                              .seed = 3,
                              .pool = &pool,
                              .out = std::string(folder) + "/run"};
  const Loss loss = [](const Tensor& y, const Tensor& t) { return mean(abs(y - t)); };
  const auto trained = train_network(products(), layers, loss, options);
  const auto check = [&](const Loss& replayed, ReplaySteps steps, const std::string& expected) {
    const auto found = replay_network(options.out, products(), layers, replayed, options, steps);
    std::string text = fmt::format("up to {}: ", found.last);
    text += found.difference ? fmt::format("step {}, {}", found.difference->iteration, found.difference->what)
                             : fmt::format("equal, {}", found.weights ? "with weights" : "without weights");
    if (pool.is_first())
      require(text == expected && found.first <= std::max<int64_t>(steps.first, 1), "replayed: " + text);
    require(pool.is_first() || !found.difference, "only the first rank answers");
  };
  check(loss, {}, "up to 9: equal, with weights");
  check(loss, {.first = 5, .last = 7}, "up to 7: equal, without weights");
  check(loss, {.first = 9, .last = 9}, "up to 9: equal, with weights");
  check("mean-squared-error", {}, "up to 1: step 1, loss");
  if (pool.is_first()) {
    options.pool = nullptr;
    const auto alone = replay_network(options.out, products(), layers, loss, options);
    require(!alone.difference && alone.weights, "the first rank alone");
  }
  pool.spmd([](Worker& worker) { worker.barrier(); });
  require(trained.info.iterations == 9, "9 steps");
}

void failing_item(Group&) {
  auto pool = Pool::from_environment();
  parallel_for(pool, 50, [&](int64_t i) {
    if (i == 20) throw Error(ErrorKind::bad_data, 501, "no such file");
    sleep_ms(1);
  });
}

// A loop over small trainings; rank 0 prints their fingerprints. A rank is killed with its first item; the others take
// their time, so that it gets one.
void train_side_by_side(bool killed) {
  auto pool = Pool::from_environment();
  const Datastore data = datasets::peaks(Split::train, 8);
  const auto networks = parallel_for(pool, 20, [&](int64_t i) {
    if (killed && pool.here().first == 1) std::raise(SIGKILL);
    if (killed) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const nn::Sequential layers{nn::linear(4), nn::relu(), nn::linear(1)};
    const TrainNetworkOptions options{.training = {.max_epochs = 2, .mini_batch_size = 16},
                                      .seed = static_cast<uint64_t>(i)};
    return train_network(data, layers, "mean-squared-error", options).network.parameters;
  });
  if (!pool.is_first()) return;
  for (const Tree& parameters : networks) fmt::print("{} ", fingerprint(parameters));
  fmt::print("\n");
}
void trainings(Group&) { train_side_by_side(false); }
void trainings_killed(Group&) { train_side_by_side(true); }
// Points and their products, anew in each pass; counts those of the training that this process makes.
class Points : public DataSource {
 public:
  explicit Points(std::function<void()> before = {}) : before_(std::move(before)) {}
  int64_t size() const override { return 45; }
  int variables() const override { return 2; }
  Observation get(int64_t index, int64_t pass) const override {
    if (pass > 0 && before_) before_();
    made += pass > 0;
    const float x = static_cast<float>(index * 7 % 11 - 5) / 4, y = static_cast<float>((index + pass) % 5 - 2) / 4;
    return {Tensor::from<float>({x, y}, {2}, "C"), Tensor::from<float>({x * y}, {1}, "C")};
  }
  static inline std::atomic<int> made{0};

 private:
  std::function<void()> before_;
};

// Two ranks compute, and the others make mini-batches; every rank has the network.
void train_points(double timeout, std::function<void()> before = {}) {
  Pool pool = Pool::from_environment({.timeout = timeout});
  const auto [network, info] =
      train_network(Datastore(std::make_shared<Points>(std::move(before))),
                    nn::Sequential{nn::linear(6), nn::relu(), nn::linear(1)}, "mean-squared-error",
                    {.training = {.max_epochs = 3, .mini_batch_size = 8, .shards = 2, .shuffle = "every-epoch"},
                     .validation_data = Datastore(std::make_shared<Points>()),
                     .seed = 3,
                     .workers = 0,
                     .pool = &pool});
  require(fingerprint(network.parameters, network.state) == info.fingerprint, "the network is not the result");
  require(info.metrics.size() == 1 && info.epochs == 3, "the result is not whole");
  fmt::print("{} made samples, fingerprint {}, rmse {}\n", Points::made > 0 ? "rank has" : "rank has not",
             info.fingerprint, info.metrics[0].second);
}

void loaders(Group&) { train_points(20); }

void failing_loader(Group& group) {
  train_points(20, [&group] {
    if (group.rank() == 2) throw Error(ErrorKind::bad_data, 1, "the sample is damaged");
  });
}

void silent_loader(Group& group) {
  train_points(3, [&group] {
    if (group.rank() == 2) raise(SIGSTOP);
  });
}

void times(Group& group) {
  const auto median = [&](size_t bytes, int count) {
    std::string mine(bytes, 'x'), all(bytes * static_cast<size_t>(group.size()), ' ');
    std::vector<double> found;
    for (int i = 0; i < count; ++i) {
      const auto start = Clock::now();
      group.all_gather(mine.data(), bytes, all.data());
      found.push_back(microseconds(start));
    }
    std::sort(found.begin(), found.end());
    return found[found.size() / 2];
  };
  for (const size_t bytes : {size_t{0}, size_t{4}, size_t{3936}, size_t{4096}, size_t{16384}, size_t{65536},
                             size_t{340} * 1024, size_t{10} << 20}) {
    const double time = median(bytes, bytes > (1 << 20) ? 50 : 5000);
    if (group.rank() == 0) fmt::print("all_gather of {} bytes from each of {}: {:.1f} us\n", bytes, group.size(), time);
  }
}

int run(const std::string& name) {
  const std::map<std::string, void (*)(Group&)> cases = {{"exchange", exchange},
                                                         {"large", large},
                                                         {"barriers", barriers},
                                                         {"barriers_1", barriers},
                                                         {"views", views},
                                                         {"place", place},
                                                         {"missing", missing},
                                                         {"missing_large", missing_large},
                                                         {"ended", ended},
                                                         {"computing_1", computing},
                                                         {"missing_stopped", missing_stopped},
                                                         {"killed", killed},
                                                         {"stopped_at_end_1", stopped_at_end},
                                                         {"late_1", late},
                                                         {"different", different},
                                                         {"sizes", sizes},
                                                         {"failing", failing},
                                                         {"failed_before", failed_before},
                                                         {"failing_thread", failing_thread},
                                                         {"aborting", aborting},
                                                         {"messages", messages},
                                                         {"missing_message", missing_message},
                                                         {"queues", queues},
                                                         {"failing_item", failing_item},
                                                         {"replay", replay},
                                                         {"trainings", trainings},
                                                         {"trainings_killed", trainings_killed},
                                                         {"loaders", loaders},
                                                         {"failing_loader", failing_loader},
                                                         {"silent_loader", silent_loader},
                                                         {"times", times}};
  int rank = -1;
  auto start = Clock::now();
  set_warning_handler([](const std::string& text) { fmt::print(stderr, "warning: {}\n", text); });
  try {
    const bool soon = name.starts_with("missing") || name.ends_with("_1");
    const auto group = mpi_group(soon ? 1 : 20);
    rank = group->rank();
    start = Clock::now();
    cases.at(name)(*group);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "rank {}, {:.0f} ms: {}\n", rank, microseconds(start) / 1000, error.what());
    sleep_ms(500);  // mpirun ends the others as soon as one has ended
    return exit_code(error.kind());
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank {}: FAILED: {}\n", rank, error.what());
    return 1;
  }
}

}  // namespace
}  // namespace retrace

int main(int count, char** arguments) { return retrace::run(count > 1 ? arguments[1] : ""); }
