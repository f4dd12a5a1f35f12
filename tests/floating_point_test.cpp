// No bit of a result depends on the rounding mode of the program around it, nor on whether it flushes subnormal
// numbers.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <functional>

#include "retrace/base/fp_environment.h"
#include "retrace/data/array_store.h"
#include "retrace/data/datasets.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/data/transform.h"
#include "retrace/nn/initializers.h"
#include "retrace/ops/batch_norm/batch_norm.h"
#include "retrace/optim/regularize.h"
#include "retrace/optim/solver.h"
#include "retrace/run/plan_cache.h"
#include "retrace/train/evaluate_network.h"

namespace retrace {
namespace {

#if defined(__x86_64__)
constexpr uint64_t kFlush = 0x8040, kUpward = 0x4000;
#else
constexpr uint64_t kFlush = 1u << 24, kUpward = 1u << 22;
#endif

// What an entry computes, as bytes.
class Bytes {
 public:
  Bytes& add(const Tensor& tensor) {
    const auto* data = static_cast<const char*>(tensor.data());
    text_.append(data, tensor.spec().bytes());
    return *this;
  }
  Bytes& add(const Tree& tree) {
    for (const auto& [path, tensor] : leaves(tree)) add(tensor);
    return *this;
  }
  Bytes& add(double number) {
    const auto bits = std::bit_cast<uint64_t>(number);
    text_.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
    return *this;
  }
  std::string text() const { return text_; }

 private:
  std::string text_;
};

constexpr float kSubnormal = 0x1p-130f;

Tree tree_of(std::vector<float> values) { return {{"w", Tensor::from(values, {static_cast<int64_t>(values.size())})}}; }
Tree numbers() { return tree_of({0.1f, -0.3f, 7.7f}); }
Tree others() { return tree_of({0.7f, 1.1f, -0.9f}); }

std::string sgdm_entry() {
  const auto made =
      sgdm_update(numbers(), others(), {tree_of({0x1p127f, 3, 5})}, {.learn_rate = 0.1, .momentum = kSubnormal});
  return Bytes().add(made.parameters).add(made.state.velocity).text();
}

std::string adam_entry() {
  return Bytes().add(adam_update(numbers(), others(), {}, {.learn_rate = 0.1}).parameters).text();
}

std::string regularize_entry() {
  Bytes bytes;
  for (const Clip method : {Clip::l2_norm, Clip::global_l2_norm, Clip::absolute_value})
    bytes.add(clip_gradients(others(), 0.3, method));
  return bytes.add(l2_regularization(others(), numbers(), 0.1)).text();
}

std::string statistics_entry() {
  const Tensor x = Tensor::from<float>({0.1f, 0.2f, 0.7f, -0.4f, 0.6f, 0.5f}, {3, 2}), ones = Tensor::full(1, {2});
  const Tree moments = batch_norm(x, ones, ones).moments;
  const Tree state{{"mean", ones}, {"variance", ones}};
  return Bytes().add(update_statistics(state, moments, {.mean_decay = 0.3, .variance_decay = 0.7})).text();
}

// The numbers of a definition are rounded while it is planned: here 1 / sqrt(epsilon).
std::string definition_entry() {
  const Tensor zeros = Tensor::zeros({1}), ones = Tensor::full(1, {1}), x = Tensor::full(1, {1, 1});
  Bytes bytes;
  for (const double epsilon : {1e-5, 1e-4, 1e-3, 0.1, 0.3})
    bytes.add(batch_norm_inference(x, ones, zeros, zeros, zeros, {.epsilon = epsilon}));
  return bytes.text();
}

std::string operand_entry() {
  return Bytes().add(Tensor::full(0x1p127, {1}) * kSubnormal).add(Tensor::full(3, {1}) * 0.1).text();
}

std::string initializers_entry() {
  const Shape shape{5, 7};
  return Bytes()
      .add(nn::glorot_uniform(shape, {7, 5}, random_key(1)))
      .add(nn::glorot_uniform_fan_out(shape, {7, 5}, random_key(1)))
      .add(nn::he_normal(shape, {7, 5}, random_key(1)))
      .text();
}

std::string digit_entry() {
  const datasets::Digit digit = datasets::make_digit(1, 5);
  return Bytes().add(digit.angle).text() + std::string(digit.pixels.begin(), digit.pixels.end());
}

std::string peaks_entry() {
  Bytes bytes;
  for (const Split split : {Split::train, Split::test}) {
    Datastore store = datasets::peaks(split, 30);
    for (const auto& observation : store.read_all()) bytes.add(observation[0]).add(observation[1]);
  }
  return bytes.text();
}

std::string queue_entry() {
  const auto tenths = [](const Observation& observation, TransformContext& context) {
    return Observation{Tensor::full(context.random.uniform(0.1, 0.7), {1}, DType::f64), observation[0]};
  };
  const Datastore digits_store = datasets::digits(Split::train, {.count = 2, .seed = 1});
  Datastore drawn = transform(digits_store, tenths, {.variables = 2});
  MiniBatchQueue queue(digits_store, {.mini_batch_size = 2, .outputs = 3});
  const auto batch = queue.next();
  return Bytes().add(batch[0]).add(batch[2]).add(drawn.read()[0]).text();
}

std::string job_text_entry() {
  const Job job = parse_job(
      "[network]\nname = \"peaks\"\n[training]\nsolver = \"sgdm\"\ninitial_learn_rate = 0.0123\nmomentum = 0.7\n",
      "job", {parse_override("training.l2_regularization=0.0037")});
  return Bytes()
      .add(*job.training.initial_learn_rate)
      .add(job.training.options.number("momentum"))
      .add(job.training.l2_regularization)
      .text();
}

// The data of a job and the metrics of its network.
std::string evaluation_entry() {
  const Job job = read_job(std::filesystem::path(RETRACE_SOURCE_DIR) / "tests/golden/1/peaks.toml");
  const nn::Network network = make_job_network(job);
  const JobData data = load_job_data(job, network);
  const auto score = NetworkEvaluator(network, data, 32, false)(network.parameters, network.state);
  Bytes bytes;
  bytes.add(score.loss);
  for (const auto& [name, value] : score.metrics) bytes.add(value);
  Datastore train = data.train;
  for (const auto& observation : train.read_all()) bytes.add(observation[0]).add(observation[1]);
  return bytes.text();
}

std::string image_entry() {
  const ImageSet images = datasets::make_digits(Split::train, {.count = 2, .seed = 1});
  return Bytes().add(image_batch(images, 0, 2)).text();
}

struct Entry {
  const char* name;
  std::string (*run)();
};

class FloatingPointEnvironment : public testing::TestWithParam<Entry> {};

TEST_P(FloatingPointEnvironment, ChangesNoBit) {
  const uint64_t own = floating_point_control(), hostile = own | kFlush | kUpward;
  const std::string expected = GetParam().run();
  plan_cache().clear();
  set_floating_point_control(hostile);
  const std::string found = GetParam().run();
  const uint64_t after = floating_point_control();
  set_floating_point_control(own);
  EXPECT_FALSE(expected.empty());
  EXPECT_TRUE(found == expected);
  EXPECT_EQ(after & (kFlush | kUpward), kFlush | kUpward);
}

INSTANTIATE_TEST_SUITE_P(Entries, FloatingPointEnvironment,
                         testing::Values(Entry{"sgdm_update", sgdm_entry}, Entry{"adam_update", adam_entry},
                                         Entry{"regularize", regularize_entry},
                                         Entry{"update_statistics", statistics_entry},
                                         Entry{"definitions", definition_entry}, Entry{"operands", operand_entry},
                                         Entry{"initializers", initializers_entry}, Entry{"make_digit", digit_entry},
                                         Entry{"peaks", peaks_entry}, Entry{"queue", queue_entry},
                                         Entry{"parse_job", job_text_entry}, Entry{"evaluation", evaluation_entry},
                                         Entry{"image_batch", image_entry}),
                         [](const auto& entry) { return std::string(entry.param.name); });

}  // namespace
}  // namespace retrace
