// The golden networks with plans for any batch: one recording serves every size from 1 to 600 samples, and each step
// has the bits of the step that was recorded and planned for its size.
#include <gtest/gtest.h>

#include <set>

#include "retrace/base/hash.h"
#include "retrace/retrace.h"
#include "retrace/train/job_data.h"
#include "retrace/train/training_step.h"
#include "tests/golden_jobs.h"

namespace retrace {
namespace {

constexpr int64_t kMost = 600;

struct Golden {
  const char* job;
  int64_t stride;  // through the sizes; 0: few small ones
};

#ifdef NDEBUG
constexpr Golden kGolden[] = {{"digits", 13}, {"peaks", 1}, {"autoencoder", 37}, {"cifar10", 61}};
#else  // a sanitizer takes a second for a step of the larger networks
constexpr Golden kGolden[] = {{"digits", kMost}, {"peaks", 7}, {"autoencoder", 0}, {"cifar10", 0}};
#endif

// Around the sizes of vectors, blocks of sums and pieces of work; every stride-th; some in no order.
std::set<int64_t> batch_sizes(const Golden& golden) {
  if (golden.stride == 0) return {1, 2, 16, 33};
  std::set<int64_t> sizes{1, 2, 15, 16, 17, 31, 32, 33};
  for (int64_t n = golden.stride; n <= kMost; n += golden.stride) sizes.insert(n);
#ifdef NDEBUG
  sizes.insert({255, 256, 257, 511, 512, 513, kMost});
  for (uint64_t i = 0; i < 6; ++i) sizes.insert(static_cast<int64_t>(mix64(i) % kMost) + 1);
#endif
  return sizes;
}

// The first n samples, of numbers between -1 and 1 or of classes.
Tensor samples(int64_t n, const Tensor& all) {
  TensorSpec spec = all.spec();
  spec.shape[0] = n;
  return Tensor::from_bytes(all.data(), spec);
}

Tensor numbers(const Shape& sample, uint64_t seed) {
  std::vector<int64_t> shape(sample.begin(), sample.end());
  shape.insert(shape.begin(), kMost);
  std::vector<float> values(static_cast<size_t>(Shape(shape).count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(mix64(seed + i) % 2001) / 1000.0f - 1;
  return Tensor::from(values, Shape(shape), sample.rank() == 3 ? "BSSC" : "BC");
}

Tensor classes() {
  std::vector<int32_t> values(kMost);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(mix64(i) % 10);
  return Tensor::from(values, {kMost}, "B");
}

Tree targets_of(const nn::Network& network) {
  Tree targets;
  for (const auto& output : network.outputs) {
    switch (output.kind) {
      case nn::OutputKind::class_scores: targets[output.name] = classes(); break;
      case nn::OutputKind::position_scores:
      case nn::OutputKind::series_scores:
      case nn::OutputKind::series_values:
      case nn::OutputKind::pixel_scores:
      case nn::OutputKind::token_scores: ADD_FAILURE() << "no built-in network has such outputs"; break;
      case nn::OutputKind::image: targets[output.name] = numbers(network.sample, 2); break;
      case nn::OutputKind::values: targets[output.name] = numbers({1}, 2); break;
    }
  }
  return targets;
}

std::string bits_of(const StepResult& result) {
  const auto& [parameters, state, solver] = result.after;
  std::string all = fingerprint(Tree{{"loss", result.loss}}, Tree());
  for (const Tree* tree : {&parameters, &state, &solver}) all += " " + fingerprint(*tree);
  return all;
}

class AnyBatchGoldenTest : public testing::TestWithParam<Golden> {};

TEST_P(AnyBatchGoldenTest, OneRecordingHasTheBitsOfEverySize) {
  const Job job = read_job(golden_path(GetParam().job));
  const nn::Network network = make_job_network(job);
  const Tensor x = numbers(network.sample, 1);
  const Tree targets = targets_of(network);
  const auto exact = accelerate(training_step(job.training, job.seed, network), {.seed = job.seed});
  const auto any = accelerate(training_step(job.training, job.seed, network), {.any_batch = true, .seed = job.seed});
  TrainingState state = initial_training_state(network, job.training);
  evaluate();
  const auto sizes = batch_sizes(GetParam());
  std::set<std::string> seen;
  for (const int64_t n : sizes) {
    SCOPED_TRACE(n);
    const Tensor inputs = samples(n, x);
    const Tree wanted = map(targets, [n](const Tensor& all) { return samples(n, all); });
    const StepResult of_any = any(state, inputs, wanted, 0.01f), of_size = exact(state, inputs, wanted, 0.01f);
    const std::string bits = bits_of(of_size);
    ASSERT_EQ(bits_of(of_any), bits);
    EXPECT_TRUE(seen.insert(bits).second) << "each size has a result of its own";
    state = of_size.after;
  }
  EXPECT_EQ(any.misses(), 2) << "one recording, and one of a single sample: " << any.why();
  EXPECT_EQ(any.hits(), static_cast<int64_t>(sizes.size()) - 2);
  EXPECT_EQ(exact.misses(), static_cast<int64_t>(sizes.size()));
}

INSTANTIATE_TEST_SUITE_P(Jobs, AnyBatchGoldenTest, testing::ValuesIn(kGolden),
                         [](const auto& info) { return std::string(info.param.job); });

}  // namespace
}  // namespace retrace
