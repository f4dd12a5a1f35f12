// A replay asks the heap for nothing: every allocation of this process is counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "retrace/base/sanitizers.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/retrace.h"
#include "retrace/train/job_data.h"
#include "retrace/train/training_step.h"

#if !RT_SANITIZED  // a sanitizer has an allocator of its own, and recycles nothing

namespace {
std::atomic<int64_t> allocations{0};

void* counted(size_t bytes, size_t alignment) {
  ++allocations;
  void* memory = nullptr;
  if (posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes) != 0) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(size_t bytes) { return counted(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(size_t bytes, std::align_val_t alignment) { return counted(bytes, static_cast<size_t>(alignment)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
// Buffers and arenas.
extern "C" void* aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

namespace retrace {
namespace {

// The largest number of allocations of one call after the first few, on one thread: each thread has scratch memory of
// its own, which it takes when it first meets a kernel.
template <class F>
int64_t allocations_of(F call) {
  const int threads = thread_count();
  set_thread_count(1);
  int64_t most = 0;
  for (int i = 0; i < 8; ++i) {
    const int64_t before = allocations;
    call();
    if (i >= 4) most = std::max<int64_t>(most, allocations - before);
  }
  set_thread_count(threads);
  return most;
}

struct Case {
  const char* network;
  int64_t allocations = 0;
};
class ReplayAllocationTest : public testing::TestWithParam<Case> {};

// Loss, gradients, update and statistics; the state is moved in, and the new one lies in its memory.
TEST_P(ReplayAllocationTest, NoneForAWholeTrainingStep) {
  const std::string name = GetParam().network;
  const Job job = read_job(RETRACE_SOURCE_DIR "/tests/golden/1/" + name + ".toml");
  const nn::Network network = nn::make_network(random_key(1), {.name = name});
  std::vector<int64_t> sizes(network.sample.begin(), network.sample.end());
  sizes.insert(sizes.begin(), 8);
  const Tensor x = Tensor::full(0.5, Shape(sizes), DType::f32, sizes.size() == 2 ? "BC" : "BSSC");
  Tree targets;
  for (const auto& output : network.outputs) {
    switch (output.kind) {
      case nn::OutputKind::class_scores: targets[output.name] = Tensor::zeros({8}, DType::i32, "B"); break;
      case nn::OutputKind::position_scores:
      case nn::OutputKind::series_scores:
      case nn::OutputKind::series_values:
      case nn::OutputKind::pixel_scores:
      case nn::OutputKind::token_scores: ADD_FAILURE() << "no built-in network has such outputs"; break;
      case nn::OutputKind::image: targets[output.name] = x; break;
      case nn::OutputKind::values: targets[output.name] = Tensor::zeros({8, 1}, DType::f32, "BC"); break;
    }
  }
  const auto step = accelerate(training_step(job.training, job.seed, network));
  TrainingState state = initial_training_state(network, job.training);
  evaluate();
  Tensor loss;
  EXPECT_EQ(allocations_of([&] {
              auto result = step(std::move(state), x, targets, 0.001f);
              state = std::move(result.after), loss = std::move(result.loss);
            }),
            GetParam().allocations);
  EXPECT_GE(step.hits(), 7);
}

// The names of the autoencoder's three transposed convolutions, in three trees: a std::string holds 15 characters.
void PrintTo(const Case& each, std::ostream* out) { *out << each.network; }

INSTANTIATE_TEST_SUITE_P(Networks, ReplayAllocationTest,
                         testing::Values(Case{"digits"}, Case{"peaks"}, Case{"autoencoder", 9}, Case{"cifar10"}),
                         [](const auto& info) { return std::string(info.param.network); });

TEST(ReplayAllocation, NoneWithoutDonation) {
  const auto f = accelerate(value_and_grad([](const Tree& p, const Tensor& x) { return sum(square(x * p["w"])); }));
  const Tree parameters{{"w", Tensor::full(2, {100})}};
  const Tensor x = Tensor::full(1, {3, 100});
  EXPECT_EQ(allocations_of([&] { f(parameters, x); }), 0);
}

TEST(ReplayAllocation, NoneForDrawsAndNumbers) {
  const auto f = accelerate([](const Tensor& x, const Operand& by) { return x * normal({100}) * by; });
  const Tensor x = Tensor::full(1, {100});
  EXPECT_EQ(allocations_of([&] { f(x, 2.0f); }), 0);
}

TEST(ReplayAllocation, IsCounted) {
  EXPECT_GE(allocations_of([] { Tensor::full(1, {100'000}); }), 1);
  EXPECT_EQ(allocations_of([] { std::free(std::aligned_alloc(64, 64)); }), 1);
}

}  // namespace
}  // namespace retrace

#endif
