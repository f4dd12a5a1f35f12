// Memory that runs out at any moment: the N-th allocation of a training fails, alone or with the 49 that follow. What
// follows is an error or the right bits, never an end of the process, and the next training is as if nothing had been.
// RETRACE_FAULT_SEEDS: how many N of each program.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include "retrace/base/json_value.h"
#include "retrace/base/mix64.h"
#include "retrace/base/sanitizers.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/retrace.h"
#include "retrace/run/plan_cache.h"
#include "retrace/trace/attributes.h"
#include "retrace/train/train_job.h"

#if !RT_SANITIZED  // a sanitizer has an allocator of its own

namespace {

std::atomic<bool> counting{false};
std::atomic<int64_t> allocations{0};
std::atomic<int64_t> first_failure{0}, failures{0};  // the numbers of those that fail

bool fails() {
  if (!counting.load(std::memory_order_relaxed)) return false;
  const int64_t number = allocations.fetch_add(1, std::memory_order_relaxed) - first_failure.load();
  return number >= 0 && number < failures.load();
}

void* take(size_t bytes, size_t alignment) {
  void* memory = nullptr;
  if (fails() || posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes) != 0) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return take(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(size_t bytes, std::align_val_t alignment) { return take(bytes, static_cast<size_t>(alignment)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
// Buffers and arenas.
extern "C" void* aligned_alloc(size_t alignment, size_t bytes) {
  void* memory = nullptr;
  return !fails() && posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

namespace retrace {
namespace {

constexpr double kSeconds = 30;  // that workers wait for each other

// What a training ends with: a fingerprint, or the text of an error.
struct Ending {
  std::string fingerprint;
  char error[200] = "";
};

std::string run_folder() { return testing::TempDir() + "retrace-faults-" + std::to_string(::getpid()); }

// One run of a program in which allocations first, ..., first + count - 1 fail.
Ending run_failing(int64_t first, int64_t count, const std::function<std::string()>& program) {
  Ending ending;
  plan_cache().clear();
  allocations = 0, first_failure = first, failures = count;
  counting = true;
  try {
    ending.fingerprint = program();
  } catch (const std::exception& error) {
    std::snprintf(ending.error, sizeof ending.error, "%s", error.what());
  }
  counting = false;
  std::filesystem::remove_all(run_folder());
  return ending;
}

// A loop in which everything has a part: shards, Adam, a queue, cached and accelerated functions.
std::string loop(Worker& worker, bool accelerated) {
  const auto loss = [](const Tree& p, const Tensor& x, const Tensor& t) {
    const Tensor hidden = relu(matmul(x, p["first"]) + p["offset"]);
    return mean_squared_error(matmul(hidden, p["second"]), t);
  };
  std::vector<float> values(size_t{24} * 40);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 37) % 101) / 50.0f - 1.0f;
  const Tensor x = Tensor::from(values, {24, 40}), t = Tensor::full(0.5, {24, 2});
  Tree parameters{{"first", Tensor::full(0.02, {40, 12})},
                  {"offset", Tensor::full(0.1, {12})},
                  {"second", Tensor::full(-0.03, {12, 2})}};
  MiniBatchQueue whole(array_store({x, t}), {.mini_batch_size = 8, .formats = {"BC", "BC"}, .seed = 3});
  MiniBatchQueue queue = worker.size() == 1 ? whole : whole.share(worker, 4);
  const auto step = accelerate(value_and_grad(loss, {.shards = 4, .worker = &worker}), {.enabled = accelerated});
  AdamState adam;
  for (int epoch = 0; epoch < 2; ++epoch) {
    queue.shuffle();
    while (worker.all(queue.has_data())) {
      const auto [mine, wanted] = queue.next<2>();
      const auto [value, gradients] = step(parameters, mine, wanted);
      auto updated = adam_update(parameters, gradients, adam);
      parameters = std::move(updated.parameters), adam = std::move(updated.state);
      value.item<float>();
    }
  }
  return fingerprint(parameters);
}

std::string library(bool accelerated) {
  Worker alone;
  return loop(alone, accelerated);
}

// Every step that fails is made again, with the same objects.
std::string again() {
  const auto loss = [](const Tree& p, const Tensor& x) { return mean(square(matmul(x, p["w"]) - 1.0f)); };
  const auto retry = [](const auto& work) {
    for (;;) try {
        return work();
      } catch (const std::bad_alloc&) {}
  };
  const auto step = accelerate(value_and_grad(loss));
  Tree parameters = retry([] { return Tree{{"w", Tensor::full(0.02, {16, 4})}}; });
  AdamState adam;
  for (int i = 0; i < 6; ++i)
    retry([&] {
      const Tensor x = Tensor::full(0.1 * i, {5 + i % 2, 16});
      const auto [value, gradients] = step(parameters, x);
      const auto updated = adam_update(parameters, gradients, adam);
      evaluate();
      parameters = updated.parameters, adam = updated.state;
    });
  return retry([&] { return fingerprint(parameters); });
}

std::string workers(int n) {
  return Pool::local(n, {.timeout = kSeconds}).spmd([](Worker& worker) { return loop(worker, true); })[0];
}

std::string command(const char* network, int n) {
  const std::string folder = run_folder();
  const Job job = parse_job(std::string("[network]\nname = \"") + network +
                                "\"\n[data]\ntrain_samples = 25\ntest_samples = 9\n[training]\nmax_epochs = 1\n"
                                "mini_batch_size = 8\nshards = 4\n",
                            "faults.toml");
  Pool pool = Pool::local(n, {.timeout = kSeconds});
  return train_job(job, {.pool = &pool, .out = folder}).fingerprint;
}

// Copies of values that hold one of several types: none of an allocation that fails ends the process.
template <class Value>
int failed_copies(const Value& value) {
  for (int failing = 0;; ++failing) {
    const Ending ending = run_failing(failing, 1, [&] { return Value(value), std::string("copied"); });
    if (!ending.error[0]) return failing;
  }
}

TEST(AllocationFaults, CopiesOfVariants) {
  const std::string text(100, 'x');
  EXPECT_EQ(failed_copies(OptionValue(text)), 1);
  EXPECT_EQ(failed_copies(OptionValue(std::vector<std::string>{text, text})), 3);
  EXPECT_EQ(failed_copies(OptionValue(std::vector<double>{1, 2})), 1);
  EXPECT_EQ(failed_copies(AttributeValue(text)), 1);
  EXPECT_EQ(failed_copies(JsonValue(JsonValue::List{JsonValue(text), JsonValue(text)})), 3);
}

struct Program {
  const char* name;
  int seeds;
  std::function<std::string()> run;
  bool goes_on = false;  // after a failure
};
void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

class AllocationFaults : public testing::TestWithParam<Program> {};

TEST_P(AllocationFaults, EndInAnErrorOrTheRightBits) {
  const char* const wanted = std::getenv("RETRACE_FAULT_SEEDS");
  const int seeds = wanted ? std::atoi(wanted) : GetParam().seeds;
  const auto& run = GetParam().run;
  const Ending good = run_failing(0, 0, run);
  const std::string right = good.fingerprint;
  const int64_t cold = allocations;
  ASSERT_EQ(std::string(good.error), "");
  int failed = 0;
  for (int seed = 0; seed < seeds; ++seed)
    for (const int64_t count : {1, 50}) {
      // Threads make the number of allocations vary: the first failure is one that is surely reached.
      const auto first =
          seed == 0 ? cold / 2 : static_cast<int64_t>(mix64(static_cast<uint64_t>(seed)) % static_cast<uint64_t>(cold));
      SCOPED_TRACE("first " + std::to_string(first) + ", so many " + std::to_string(count));
      if (wanted) std::fprintf(stderr, "%s %d: %ld + %ld of %ld\n", GetParam().name, seed, first, count, cold);
      const auto start = std::chrono::steady_clock::now();
      const Ending ending = run_failing(first, count, run);
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::duration<double>(kSeconds)) << ending.error;
      if (ending.error[0]) {
        ++failed;
        EXPECT_TRUE(std::string(ending.error) == "std::bad_alloc" || std::strstr(ending.error, "not enough memory"))
            << ending.error;
      } else {
        EXPECT_EQ(ending.fingerprint, right);
      }
      if (seed % 8 > 0) continue;
      const Ending after = run_failing(0, 0, run);
      EXPECT_EQ(after.fingerprint, right) << "the training after it: " << after.error;
    }
  if (!GetParam().goes_on) {
    EXPECT_GT(failed, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, AllocationFaults,
                         testing::Values(Program{"Loop", 60, [] { return library(false); }},
                                         Program{"AcceleratedLoop", 60, [] { return library(true); }},
                                         Program{"Again", 60, again, true},
                                         Program{"TwoWorkers", 60, [] { return workers(2); }},
                                         Program{"ThreeWorkers", 60, [] { return workers(3); }},
                                         Program{"Peaks", 20, [] { return command("peaks", 1); }},
                                         Program{"PeaksOfThreeWorkers", 20, [] { return command("peaks", 3); }},
                                         Program{"Digits", 1, [] { return command("digits", 1); }},
                                         Program{"DigitsOfThreeWorkers", 1, [] { return command("digits", 3); }}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace retrace

#endif
