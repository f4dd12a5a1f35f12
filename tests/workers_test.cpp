// Workers of a pool: collectives, what becomes of errors, and that their number changes no bit.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include "retrace/ops/all_reduce/all_reduce_op.h"
#include "retrace/plan/compile.h"
#include "retrace/retrace.h"
#include "retrace/trace/call_scope.h"
#include "retrace/trace/record.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

TEST(Pools, RunEveryWorkerOnce) {
  Pool pool = Pool::local(4);
  EXPECT_EQ(pool.size(), 4);
  EXPECT_TRUE(pool.is_first());
  const auto indices = pool.spmd([](Worker& worker) { return 10 * worker.index() + worker.size(); });
  EXPECT_EQ(indices, (std::vector<int>{4, 14, 24, 34}));
  EXPECT_EQ(Pool::from_environment().spmd([](Worker& worker) { return worker.size(); }), (std::vector<int>{1}));
}

// Parts of a sum over shards are not rounded where the workers cut it.
TEST(Pools, GradientsOfHalvesHaveTheSameBitsForAnyWorkers) {
  std::vector<float> numbers;
  for (int i = 0; i < 96; ++i) numbers.push_back(static_cast<float>(i * 37 % 101 - 50) / 32);
  const Datastore data = array_store({Tensor::from(numbers, {12, 8}, "BC")});
  for (const DType type : {DType::bf16, DType::f16}) {
    Tree parameters{{"w", cast(normal({8, 4}, random_key(3)), type)}, {"b", cast(normal({4}, random_key(4)), type)}};
    const auto print = [&](int workers) {
      const auto prints = Pool::local(workers).spmd([&](Worker& worker) {
        MiniBatchQueue queue = MiniBatchQueue(data, {.mini_batch_size = 12}).share(worker, 4);
        const auto step = value_and_grad(
            [&](const Tree& p, const Tensor& batch) {
              const Tensor y = matmul(cast(batch, type), p["w"].tensor()) + p["b"].tensor();
              return WithAux<Tree>{mean(square(cast(y, DType::f32))), Tree(sum_over_shards(sum(y)))};
            },
            {.shards = 4, .worker = &worker});
        const auto found = step(parameters, queue.next<1>()[0]);
        return fingerprint(found.gradients) + fingerprint(found.aux);
      });
      return prints[0];
    };
    const std::string one = print(1);
    for (const int workers : {2, 3, 4}) EXPECT_EQ(print(workers), one) << name_of(type) << ", " << workers;
  }
}

TEST(Pools, ComputeWhatIsPendingBeforeItLeavesItsThread) {
  const Tensor before = Tensor::full(2.0, {3}) + Tensor::full(1.0, {3});
  const auto made = Pool::local(3).spmd([&](Worker& worker) { return before * Tensor::full(worker.index(), {3}); });
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(made[i].to_vector<float>(), std::vector<float>(3, 3.0f * static_cast<float>(i)));
}

TEST(Collectives, GiveEveryWorkerTheSame) {
  Pool::local(3).spmd([](Worker& worker) {
    const int i = worker.index();
    EXPECT_EQ(worker.all_gather(i * i), (std::vector<int>{0, 1, 4}));
    EXPECT_EQ(worker.sum(i + 1), 6);
    EXPECT_EQ(worker.sum(0.5 * i), 1.5);
    EXPECT_EQ(
        worker.reduce(std::string(static_cast<size_t>(i + 1), static_cast<char>('a' + i)), std::plus<std::string>()),
        "abbccc");
    EXPECT_EQ(worker.broadcast(fmt::format("from {}", i), 2), "from 2");
    EXPECT_EQ(worker.all_gather(std::vector<float>(static_cast<size_t>(i), 1.0f))[2].size(), 2u);
    EXPECT_TRUE(worker.all(true));
    EXPECT_FALSE(worker.all(i != 1));
    EXPECT_TRUE(worker.any(i == 1));
    EXPECT_FALSE(worker.any(false));
    worker.barrier();
    EXPECT_EQ(worker.sum(Tensor::full(i, {2})).to_vector<float>(), (std::vector<float>{3, 3}));
    const Tree tree = worker.sum(Tree{{"a", Tensor::full(i, {1})}, {"b", Tree{{"c", Tensor::full(1, {2})}}}});
    EXPECT_EQ(tree["a"].tensor().item<float>(), 3);
    EXPECT_EQ(tree["b"]["c"].tensor().to_vector<float>(), (std::vector<float>{3, 3}));
  });
}

TEST(Collectives, AddAlongTheTree) {
  // (1 + 2^-24) + 2^-24 loses both, 1 + (2^-24 + 2^-24) neither: 1 stands alone where 3 workers are.
  const auto value = [](int i) { return i == 2 ? 1.0f : 0x1p-24f; };
  for (float sum : Pool::local(3).spmd([&](Worker& worker) { return worker.sum(value(worker.index())); }))
    EXPECT_EQ(sum, 1.0f + 0x1p-23f);
}

TEST(Collectives, NameWhoDoesNotCome) {
  const std::string text = error_of([] {
    Pool::local(3, {.timeout = 0.2}).spmd([](Worker& worker) {
      if (worker.index() != 1) worker.barrier();
      if (worker.index() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(400));
    });
  });
  EXPECT_TRUE(says(text, "barrier: not every worker came within 0.2 seconds"));
  EXPECT_TRUE(says(text, "no call and no sign of life from worker 1"));
}

// However long it takes.
TEST(Collectives, WaitForWhoComputes) {
  Pool::local(2, {.timeout = 0.5}).spmd([](Worker& worker) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    volatile int turns = 0;
    while (worker.index() == 1 && std::chrono::steady_clock::now() < end) turns = turns + 1;
    worker.barrier();
  });
}

std::atomic<int> told{0};
std::string& told_text() {
  static std::string text;
  return text;
}

TEST(Collectives, SayForWhomTheyWait) {
  told = 0;
  set_warning_handler([](const std::string& text) { told_text() = text, ++told; });
  Pool::local(3, {.timeout = 2}).spmd([](Worker& worker) {
    if (worker.index() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(900));
    worker.barrier();
  });
  set_warning_handler(nullptr);
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(says(told_text(), "worker 1 has waited for worker 0 in barrier"));
}

TEST(Collectives, NameWhoHasReturned) {
  for (const bool late : {false, true}) {
    const auto start = std::chrono::steady_clock::now();
    const std::string text = error_of([&] {
      Pool::local(3).spmd([&](Worker& worker) {
        worker.barrier();
        if (worker.index() == 1 && late) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        if (worker.index() != 1) worker.all_gather(1);
      });
    });
    EXPECT_TRUE(says(text, "worker 1 has returned while worker "));
    EXPECT_TRUE(says(text, " waits in all_gather"));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  }
}

TEST(Collectives, RefuseDifferentOnes) {
  const std::string text = error_of([] {
    Pool::local(2).spmd([](Worker& worker) { worker.index() == 0 ? worker.barrier() : void(worker.all_gather(1)); });
  });
  EXPECT_TRUE(says(text, "the workers are in different collectives"));
}

TEST(Collectives, RefuseAnAbsentRoot) {
  EXPECT_TRUE(says(error_of([] { Worker().broadcast(1, 1); }), "there is no worker 1 to broadcast"));
}

TEST(Pools, BringTheErrorOfAWorker) {
  const auto start = std::chrono::steady_clock::now();
  const std::string text = error_of([] {
    Pool::local(3).spmd([](Worker& worker) {
      if (worker.index() == 2) Tensor::zeros({2}) + Tensor::zeros({3});
      worker.barrier();
    });
  });
  EXPECT_TRUE(says(text, "worker 2: "));
  EXPECT_TRUE(says(text, "workers_test.cpp"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Pools, BringOtherErrorsToo) {
  const std::string text = error_of([] {
    Pool::local(2).spmd([](Worker& worker) {
      if (worker.index() == 1) throw std::runtime_error("a bad day");
      worker.barrier();
    });
  });
  EXPECT_TRUE(says(text, "worker 1 failed"));
  EXPECT_TRUE(says(text, "a bad day"));
}

TEST(Pools, RefuseOptionsOutOfRange) {
  for (const int threads : {-1, 257, 1'000'000})
    for (const bool local : {true, false}) {
      const auto make = [&] {
        return local ? Pool::local(2, {.threads = threads}) : Pool::from_environment({threads});
      };
      EXPECT_TRUE(says(error_of([&] { make(); }), fmt::format("a pool with {} threads a worker", threads)));
    }
  for (const double seconds :
       {0.0, -1.0, 1e7, 1e10, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(says(error_of([&] { Pool::local(2, {.timeout = seconds}); }), "more than 0 and at most 1000000"));
  Pool::local(2, {.threads = 256, .timeout = 1e6}).spmd([](Worker& worker) { worker.barrier(); });
}

// As where it runs out in one worker alone: the command has a text and an exit code for it.
TEST(Pools, BringThatMemoryRanOutAsItIs) {
  const auto run_out = [] {
    Pool::local(3).spmd([](Worker& worker) {
      if (worker.index() == 2) throw std::bad_alloc();
      worker.barrier();
    });
  };
  EXPECT_THROW(run_out(), std::bad_alloc);
}

// Values of one size and another type, too.
TEST(Collectives, OfDifferentThingsAreRefused) {
  const auto error_with = [](auto first, auto second) {
    return error_of(
        [&] { Pool::local(3).spmd([&](Worker& worker) { worker.index() == 2 ? second(worker) : first(worker); }); });
  };
  const auto sum_of = [](auto value) { return [value](Worker& worker) { worker.sum(value); }; };
  EXPECT_TRUE(says(error_with(sum_of(1.0), sum_of(1.0f)), "worker 2 gives float, worker 0 double"));
  EXPECT_TRUE(says(error_with(sum_of(int64_t{1}), sum_of(1.0)), "worker 2 gives double, worker 0 integer of 8 bytes"));
  const auto vector = [](Worker& worker) { worker.all_gather(std::vector<float>{1}); };
  const auto text = [](Worker& worker) { worker.all_gather(std::string("abcd")); };
  EXPECT_TRUE(says(error_with(vector, text), "worker 2 gives text, worker 0 vector of float"));
  const auto from = [](int worker_from) { return [=](Worker& worker) { worker.broadcast(1.0f, worker_from); }; };
  EXPECT_TRUE(says(error_with(from(0), from(1)), "worker 2 gives float from worker 1, worker 0 float from worker 0"));
  const auto any = [](Worker& worker) { worker.any(true); };
  const auto all = [](Worker& worker) { worker.all(true); };
  EXPECT_NE(error_with(any, all), "");
  const auto zeros = [](int64_t size) { return [=](Worker& worker) { worker.sum(Tensor::zeros({size})); }; };
  EXPECT_TRUE(says(error_with(zeros(1), zeros(2)), "the tensors that the workers sum differ"));
}

TEST(Pools, RefuseWhatCannotWork) {
  EXPECT_TRUE(says(error_of([] { Pool::local(0); }), "a pool of 0 workers is not possible"));
  EXPECT_TRUE(says(error_of([] {
                     Pool pool = Pool::local(2);
                     pool.spmd([&](Worker&) { Pool::local(2).spmd([](Worker&) {}); });
                   }),
                   "spmd inside of spmd"));
}

// Three workers hold 7, 5 and 4 values: one update from merged moments, not one of merged running values.
TEST(BatchNorm, UpdatesOnceFromMergedMoments) {
  const std::vector<std::vector<float>> values{{1, 2, 3, 4, 5, 6, 7}, {3, 4, 5, 6, 7}, {5, 6, 7, 8}};
  const auto variances = Pool::local(3).spmd([&](Worker& worker) {
    const auto& mine = values[static_cast<size_t>(worker.index())];
    const Tensor x = Tensor::from(mine, {static_cast<int64_t>(mine.size()), 1}, "BC");
    const Tree norm{{"scale", Tensor::full(1, {1})}, {"offset", Tensor::zeros({1})}};
    const Tree state{{"norm", Tree{{"mean", Tensor::zeros({1})}, {"variance", Tensor::full(1, {1})}}}};
    const Tree moments{{"norm", batch_norm(x, norm, state["norm"], Phase::train).moments}};
    const Tree merged = worker.reduce(moments, [](const Tree& a, const Tree& b) { return merge_moments(a, b); });
    return update_statistics(state, merged, {.mean_decay = 0.1, .variance_decay = 0.1})["norm"]["variance"]
        .tensor()
        .item<float>();
  });
  for (float variance : variances) EXPECT_NEAR(variance, 1.268359375f, 1e-6f);
}

// A small network with everything that shards combine.
struct Example {
  Tree parameters{{"a", Tensor::from<float>({0.3f, -0.2f, 0.1f, 0.7f, 0.5f, -0.4f}, {2, 3})},
                  {"norm", Tree{{"offset", Tensor::from<float>({0.1f, -0.1f}, {2})},
                                {"scale", Tensor::from<float>({1.1f, 0.9f}, {2})}}}};
  Tree state{{"norm", Tree{{"mean", Tensor::zeros({2})}, {"variance", Tensor::full(1, {2})}}}};

  static WithAux<Tree> loss(const Tree& p, const Tensor& x, const Tree& state) {
    const Tensor hidden = matmul(x, p["a"], {.transpose_b = true});
    const auto normal = batch_norm(relabel(hidden), p["norm"], state["norm"], Phase::train);
    const Tensor y = normal.y * normal.y;
    Tree aux{{"moments", normal.moments}, {"rows", y}};
    aux["mean"] = mean_over_shards(mean(y));
    aux["sum"] = sum_over_shards(sum(x));
    return {mean(exp(y * Tensor::full(0.1, {}))), aux};
  }
  static Tensor relabel(const Tensor& x) { return reshape(x, x.shape(), "BC"); }
};

struct Outcome {
  std::string sums;
  std::vector<float> rows;
};

// What goes on beside a training.
struct Beside {
  int messages = 0;     // round the ring of the workers, after each mini-batch
  int64_t stop = 1000;  // the mini-batch after which one of the workers asks all to stop
};

// Sends so many messages to the next worker; whether those of the last one have come, in their order.
bool send_round(Worker& worker, int messages, int64_t iteration) {
  const int next = (worker.index() + 1) % worker.size(), last = (worker.index() + worker.size() - 1) % worker.size();
  for (int i = 0; i < messages; ++i) worker.send(iteration * 100 + i, next, i % 2);
  bool right = true;
  for (const int odd : {1, 0})
    for (int i = odd; i < messages; i += 2) right = right && worker.receive<int64_t>(last, odd) == iteration * 100 + i;
  return right;
}

// The gradients, the loss and the other results as text, on each of so many workers; rows of all workers joined.
std::vector<Outcome> run(int workers, int shards, int64_t batch, int64_t samples, bool accelerated,
                         const Beside& beside = {}) {
  const DataQueue<bool> stop;
  std::vector<float> values(static_cast<size_t>(samples * 3));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 37) % 101) / 50.0f - 1.0f;
  const Tensor x = Tensor::from(values, {samples, 3});
  return Pool::local(workers).spmd([&](Worker& worker) {
    const Example example;
    MiniBatchQueue whole(array_store({x}), {.mini_batch_size = batch, .formats = {"BC"}, .seed = 3});
    whole.shuffle();
    MiniBatchQueue queue = worker.size() == 1 ? whole : whole.share(worker, shards);
    const auto step = value_and_grad(Example::loss, {.shards = shards, .worker = &worker});
    const auto fast = accelerate(step, {.enabled = accelerated});
    Outcome outcome;
    for (int64_t iteration = 1; worker.all(queue.has_data()); ++iteration) {
      const auto [mine] = queue.next<1>();
      const auto [loss, gradients, aux] = fast(example.parameters, mine, example.state);
      Tree shared = aux;
      const auto rows = shared["rows"].tensor().to_vector<float>();
      for (const auto& part : worker.all_gather(rows))
        outcome.rows.insert(outcome.rows.end(), part.begin(), part.end());
      shared["rows"] = Tensor::zeros({1});
      outcome.sums += fmt::format("{} {} {:a}; ", fingerprint(gradients), fingerprint(shared), loss.item<float>());
      if (!send_round(worker, beside.messages, iteration)) throw std::runtime_error("another message");
      if (iteration == beside.stop && worker.index() == iteration % worker.size()) stop.send(true);
      if (worker.sum(stop.length()) > 0) break;
    }
    return outcome;
  });
}

TEST(Shards, AreTheSameForAnyNumberOfWorkers) {
  rc::check("shards", [] {
    const int shards = *rc::gen::element(1, 2, 3, 4, 5, 6, 7, 8), workers = 1 + *rc::gen::arbitrary<uint8_t>() % shards;
    const int64_t batch = *rc::gen::inRange(1, 20), samples = *rc::gen::inRange<int64_t>(batch, 45);
    const bool accelerated = *rc::gen::arbitrary<bool>();
    const Beside beside{*rc::gen::inRange(0, 5), *rc::gen::inRange<int64_t>(1, 30)};
    RC_TAG(workers);
    const auto alone = run(1, shards, batch, samples, false, {.stop = beside.stop});
    for (const Outcome& outcome : run(workers, shards, batch, samples, accelerated, beside)) {
      RC_ASSERT(outcome.sums == alone[0].sums);
      RC_ASSERT(outcome.rows == alone[0].rows);
    }
  });
}

TEST(Shards, AreTooFewForTheWorkers) {
  const std::string text = error_of([] {
    Pool::local(3).spmd([](Worker& worker) {
      value_and_grad(Example::loss, {.shards = 2, .worker = &worker})(
          Example().parameters, Tensor::zeros({3, 3}, DType::f32, "BC"), Example().state);
    });
  });
  EXPECT_TRUE(says(text, "3 workers share 2 shards"));
}

TEST(Shards, NeedToKnowTheirPlace) {
  const std::string text = error_of([] {
    Pool::local(2).spmd([](Worker& worker) {
      value_and_grad(Example::loss, {.shards = 2, .worker = &worker})(
          Example().parameters, Tensor::zeros({3, 3}, DType::f32, "BC"), Example().state);
    });
  });
  EXPECT_TRUE(says(text, "a batch does not say where it stands in the whole mini-batch"));
}

// Exchanges travel while the rest of a plan runs; a plan that fails meanwhile leaves nothing behind that still writes.
TEST(Exchanges, EndWithAFailedPlan) {
  const std::string text = error_of([] {
    Pool::local(2).spmd([](Worker& worker) {
      const ShardSplit split{2, 2, 2, worker.index()};
      const Tensor part = Tensor::full(worker.index() + 1, {1000});
      const Tensor sum = all_reduce(std::vector<Tensor>{part}, split);
      EXPECT_EQ(sum.to_vector<float>()[999], 3.0f);
      const Tensor again = all_reduce(std::vector<Tensor>{part * part}, split);
      const Tensor index = Tensor::full(worker.index() == 1 ? 7 : 0, {1}, DType::i32);
      const Tensor row = gather_rows(Tensor::zeros({3, 2}), index);
      evaluate();
    });
  });
  EXPECT_TRUE(says(text, "worker 1: "));
}

// The sums of the last layer travel while the gradients of the layers before it are computed, of which there are three.
TEST(Exchanges, BeginBeforeTheBackwardPassEnds) {
  const auto loss = [](const Tree& p, const Tensor& x) {
    return mean(matmul(exp(matmul(exp(matmul(x, p["first"])), p["second"])), p["third"]));
  };
  const Tree parameters{{"first", Tensor::full(0.1, {3, 256})},
                        {"second", Tensor::full(0.2, {256, 256})},
                        {"third", Tensor::full(0.3, {256, 256})}};
  Pool::local(2).spmd([&](Worker& worker) {
    const Tensor x = Tensor::full(1, {3, 3}, DType::f32, "BC").relabelled("BC", {6, 3 * worker.index()});
    RecordingScope scope;
    const CallScope call;
    const auto [value, gradients] = value_and_grad(loss, {.shards = 2, .worker = &worker})(parameters, x);
    const auto plan = make_plan(scope.recording().take_trace(leaf_tensors(gradients)));
    std::vector<std::string_view> names;
    for (const Node& node : plan->trace().nodes) names.push_back(node.op->name);
    const auto start = std::find(names.begin(), names.end(), "exchange_start");
    EXPECT_EQ(std::count(start, names.end(), "matmul"), 3);
  });
}

// Networks that are trained side by side, each by train_network or a loop of its own, depend on their index alone.
TEST(ParallelFor, TrainsNetworksToTheSameBits) {
  const Datastore data = datasets::peaks(Split::train, 8);
  const auto train = [&](int64_t i) {
    const nn::Sequential layers{nn::linear(4), nn::relu(), nn::linear(1)};
    TrainNetworkOptions options{.training = {.max_epochs = 2, .mini_batch_size = 16}, .seed = static_cast<uint64_t>(i)};
    options.workers = i % 2 ? 2 : 1;  // a pool of its own
    options.training.shards = 2;
    return train_network(data, layers, "mean-squared-error", options).network.parameters;
  };
  const auto prints_of = [&](const std::vector<Tree>& networks) {
    std::vector<std::string> prints;
    for (const Tree& parameters : networks) prints.push_back(fingerprint(parameters));
    return prints;
  };
  auto alone = Pool::local(1);
  const auto prints = prints_of(parallel_for(alone, 20, train));
  EXPECT_NE(prints[0], prints[1]);
  for (int workers : {2, 3}) {
    auto pool = Pool::local(workers);
    EXPECT_EQ(prints_of(parallel_for(pool, 20, train)), prints);
  }
  auto pool = Pool::local(2);
  const auto shuffled = prints_of(parallel_for(pool, 20, [&](int64_t i) { return train(i * 7 % 20); }));
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(shuffled[i], prints[i * 7 % 20]);
  std::vector<Future<Tree>> futures;
  for (int64_t i = 19; i >= 0; --i) futures.push_back(pool.submit(train, i));
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(fingerprint(futures[19 - i].get()), prints[i]);
}

// What f leaves recorded is computed on its worker.
TEST(ParallelFor, ComputesWhatIsPending) {
  auto pool = Pool::local(2);
  const Tensor x = Tensor::full(3, {4});
  const auto made = parallel_for(pool, 5, [&](int64_t i) { return x * static_cast<float>(i); });
  for (size_t i = 0; i < 5; ++i)
    EXPECT_EQ(made[i].to_vector<float>(), std::vector<float>(4, 3.0f * static_cast<float>(i)));
}

}  // namespace
}  // namespace retrace
