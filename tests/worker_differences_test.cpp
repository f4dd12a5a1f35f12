// Workers that do not do the same: every kind of difference ends all of them before the first step, with its name. And
// what may differ does not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "retrace/retrace.h"
#include "retrace/train/job_digest.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;

// -- jobs: every key is changed on one worker ----------------------------------------------------------------------

const std::string kJob = "[network]\nname = \"digits\"\n[data]\ntrain_samples = 64\ntest_samples = 36\n";

// The key that is changed, and what belongs to it.
const std::map<std::string, std::string> kOther{{"seed", "2"},
                                                {"network.name", "autoencoder"},
                                                {"network.width", "8"},
                                                {"network.heads", "class"},
                                                {"data.source", "peaks"},
                                                {"data.train_samples", "63"},
                                                {"data.test_samples", "25"},
                                                {"training.solver", "sgdm"},
                                                {"training.max_epochs", "2"},
                                                {"training.mini_batch_size", "16"},
                                                {"training.shards", "4"},
                                                {"training.initial_learn_rate", "0.01"},
                                                {"training.schedule", "linear"},
                                                {"training.drop_factor", "0.2"},
                                                {"training.drop_period", "3"},
                                                {"training.l2_regularization", "0.5"},
                                                {"training.momentum", "0.8"},
                                                {"training.gradient_decay", "0.8"},
                                                {"training.squared_gradient_decay", "0.9"},
                                                {"training.epsilon", "1e-7"},
                                                {"training.shuffle", "never"},
                                                {"training.partial_mini_batch", "discard"},
                                                {"data.transforms", "salt-and-pepper"},
                                                {"data.noise_share", "0.5"},
                                                {"validation.data", "none"},
                                                {"validation.frequency", "2"}};
// Keys that change no bit.
const std::map<std::string, std::string> kFree{{"name", "other"},          {"device", "cpu"},
                                               {"threads", "3"},           {"workers", "2"},
                                               {"data.path", "elsewhere"}, {"training.acceleration", "plain"},
                                               {"training.timeout", "7"}};

// A job in which the key has a meaning, and the same with another value.
std::pair<Job, Job> jobs_that_differ_in(const std::string& key, const std::string& value) {
  std::vector<JobOverride> both;
  if (key.find("drop_") != std::string::npos) both.push_back({"training.schedule", "piecewise", "test"});
  if (key == "data.noise_share") both.push_back({"data.transforms", "salt-and-pepper", "test"});
  if (key == "training.momentum") both.push_back({"training.solver", "sgdm", "test"});
  if (key == "data.path") both.push_back({"network.heads", "class", "test"});
  if (key == "data.path")
    both.push_back({"data.source", "mnist", "test"}), both.push_back({"data.path", "here", "test"});
  const Job job = parse_job(kJob, "job.toml", both);
  both.push_back({key, value, "test"});
  if (key == "data.source") both.push_back({"network.name", "peaks", "test"});
  return {job, parse_job(kJob, "job.toml", both)};
}

std::string digest_error(const NamedValues& first, const NamedValues& second) {
  return error_of([&] {
    Pool::local(3).spmd(
        [&](Worker& worker) { worker.require_same("the job or its data", worker.index() == 1 ? second : first); });
  });
}

TEST(Jobs, EveryKeyIsComparedOrFree) {
  for (const auto& key : job_keys()) EXPECT_TRUE(kOther.contains(key) != kFree.contains(key)) << key;
}

TEST(Jobs, ThatDifferAreNamed) {
  for (const auto& [key, value] : kOther) {
    const auto [job, other] = jobs_that_differ_in(key, value);
    const std::string text = digest_error(job_identity(job), job_identity(other));
    EXPECT_TRUE(says(text, "error[RT0605]: the workers differ in the job or its data")) << key;
    EXPECT_TRUE(says(text, fmt::format("worker 1 has {} = ", key)));
    EXPECT_TRUE(says(text, ", worker 0 has "));
  }
}

TEST(Jobs, MayDifferInWhatChangesNoBit) {
  for (const auto& [key, value] : kFree) {
    const auto [job, other] = jobs_that_differ_in(key, value);
    EXPECT_EQ(digest_error(job_identity(job), job_identity(other)), "no error") << key;
  }
}

TEST(Lists, NameAllThatDiffer) {
  const std::string text = digest_error({{"a", "1"}, {"b", "2"}, {"c", "3"}}, {{"a", "1"}, {"b", "4"}, {"c", "5"}});
  EXPECT_TRUE(says(text, "worker 1 has b = 4, worker 0 has 2\n"));
  EXPECT_TRUE(says(text, "worker 1 has c = 5, worker 0 has 3\n"));
  // What somebody does not know is not compared with him.
  EXPECT_EQ(digest_error({{"a", "1"}, {"b", ""}}, {{"a", "1"}, {"b", "2"}, {"c", "3"}}), "no error");
}

// -- data and queues -----------------------------------------------------------------------------------------------

struct Data {
  int64_t samples = 40, size = 30;
  int64_t shift = 0;       // of the order
  int64_t odd_label = -1;  // a label that is another one
  int64_t odd_image = -1;  // an image with other values
};

Datastore store_of(const Data& data) {
  Floats images;
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < data.samples; ++i) {
    const int64_t sample = (i + data.shift) % data.samples;
    for (int64_t k = 0; k < data.size; ++k)
      images.push_back(static_cast<float>((sample * 37 + k * 11) % 101) + (sample == data.odd_image ? 1.0f : 0.0f));
    labels.push_back(static_cast<int32_t>(sample == data.odd_label ? 99 : sample % 10));
  }
  return array_store(
      {Tensor::from(images, {data.samples, data.size}, "BC"), Tensor::from(labels, {data.samples}, "B")});
}

struct Share {
  Data data = {};
  MiniBatchQueueOptions options = {.mini_batch_size = 8, .formats = {"BC", "B"}, .seed = 5};
  int shards = 2;
  int shuffles = 0;
  int first_samples = 0;  // of a subset
  bool transformed = false;

  void make(Worker& worker) const {
    Datastore store = store_of(data);
    if (first_samples) store = store.partition(store.size() / first_samples, 0);
    if (transformed)
      store = transform(store, [](const Observation& one, TransformContext&) {
        return Observation{one[0] * Tensor::full(2, {}), one[1]};
      });
    MiniBatchQueue queue(store, options);
    for (int i = 0; i < shuffles; ++i) queue.shuffle();
    queue.share(worker, shards);
  }
};

std::string share_error(const Share& first, const Share& second) {
  return error_of(
      [&] { Pool::local(2).spmd([&](Worker& worker) { (worker.index() == 1 ? second : first).make(worker); }); });
}

TEST(Queues, ThatDifferAreNamed) {
  const Share same;
  EXPECT_EQ(share_error(same, same), "no error");
  const auto differs = [&](const char* name, const auto& change) {
    Share other = same;
    change(other);
    const std::string text = share_error(same, other);
    EXPECT_TRUE(says(text, "the workers differ in a shared mini-batch queue")) << name;
    EXPECT_TRUE(says(text, fmt::format("worker 1 has {} = ", name)));
  };
  differs("seed", [](Share& s) { s.options.seed = 6; });
  differs("mini_batch_size", [](Share& s) { s.options.mini_batch_size = 10; });
  differs("partial_mini_batch", [](Share& s) { s.options.partial_mini_batch = Partial::discard; });
  differs("formats[0]", [](Share& s) { s.options.formats = {"BT", "B"}; });
  differs("casts[1]", [](Share& s) { s.options.casts = {std::nullopt, DType::f32}; });
  differs("labelled[1]", [](Share& s) { s.options.formats = {"BC", ""}, s.options.labelled = {true, false}; });
  differs("outputs", [](Share& s) { s.options.outputs = 1, s.options.formats = {"BC"}; });
  differs("shards", [](Share& s) { s.shards = 4; });
  differs("position", [](Share& s) { s.shuffles = 1; });
  differs("data samples", [](Share& s) { s.data.samples = 41; });
  differs("data variable 0", [](Share& s) { s.data.size = 31; });
  differs("data content", [](Share& s) { s.data.shift = 1; });
  differs("data content", [](Share& s) { s.data.odd_label = 17; });
  differs("data content", [](Share& s) { s.data.odd_image = 17; });
  differs("data content", [](Share& s) { s.transformed = true; });
  differs("data samples", [](Share& s) { s.first_samples = 10; });
}

TEST(Queues, MayDeliverToOtherDevices) {
  Share other;
  other.options.devices = {"cpu"};
  EXPECT_EQ(share_error({}, other), "no error");
}

// A large store is looked at in milliseconds, and one label of 60,000 is found.
TEST(Data, AreComparedWithoutReadingThemAll) {
  const std::vector<uint8_t> pixels(size_t{60000} * 784, 7);
  std::vector<int32_t> labels(60000, 3);
  const auto make = [&] {
    return array_store({Tensor::from(pixels, {60000, 784}, "BC"), Tensor::from(labels, {60000}, "B")});
  };
  const Datastore store = make();
  const auto start = std::chrono::steady_clock::now();
  const auto before = store.identity("data");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  labels[41234] = 4;
  EXPECT_NE(make().identity("data"), before);
}

// -- functions of a loop of one's own ------------------------------------------------------------------------------

struct Loop {
  std::string first = "relu";
  int shards = 4;
  uint64_t seed = 0;
  int64_t calls = 0;
  float start = 0.5f;  // a parameter
  int64_t width = 3;   // of the network
  bool bias = true;
  double scale = 0.5;  // a constant of the loss
  float captured = 1;  // a tensor that it captures
  float given = 1;     // an argument without a batch
  double number = 2;   // an argument that is a number
  bool accelerated = false;

  Tree parameters() const {
    Tree tree{{"w", Tensor::full(start, {width, 6})}};
    if (bias) tree["b"] = Tensor::full(0.1f, {width});
    return tree;
  }

  // A step over a shared batch: the loss's bits.
  float step(Worker& worker) const {
    Floats values(48);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13) / 13.0f;
    MiniBatchQueue whole(array_store({Tensor::from(values, {8, 6}, "BC")}), {.mini_batch_size = 8, .formats = {"BC"}});
    auto queue = whole.share(worker, 4);
    const Tensor own = Tensor::full(captured, {});
    evaluate();
    const auto loss = [this, own](const Tree& p, const Tensor& x, const Tensor& given_tensor, double given_number) {
      Tensor y = matmul(x, p["w"], {.transpose_b = true});
      if (p.contains("b")) y = y + p["b"].tensor();
      y = first == "relu" ? relu(y) : abs(y);
      return mean(y * y * Tensor::full(scale, {}) * own * given_tensor * Tensor::full(given_number, {}));
    };
    auto function = value_and_grad(loss, {.shards = shards, .worker = &worker, .seed = seed});
    function.set_calls(calls);
    const auto [x] = queue.next<1>();
    if (!accelerated) return function(parameters(), x, Tensor::full(given, {}), number).value.item<float>();
    const auto fast = accelerate(
        [&](const Tree& p, const Tensor& batch, const Tensor& g) { return function(p, batch, g, number).value; });
    return fast(parameters(), x, Tensor::full(given, {})).item<float>();
  }
};

std::string loop_error(const Loop& first, const Loop& second) {
  return error_of(
      [&] { Pool::local(2).spmd([&](Worker& worker) { (worker.index() == 1 ? second : first).step(worker); }); });
}

TEST(Functions, ThatDifferAreNamed) {
  for (const bool accelerated : {false, true}) {
    Loop same;
    same.accelerated = accelerated;
    EXPECT_EQ(loop_error(same, same), "no error");
    const auto differs = [&](const char* name, const auto& change) {
      Loop other = same;
      change(other);
      const std::string text = loop_error(same, other);
      EXPECT_TRUE(says(text, "the workers differ in the function made by value_and_grad")) << name << accelerated;
      EXPECT_TRUE(says(text, fmt::format("worker 1 has {}", name))) << accelerated;
    };
    differs("shards = ", [](Loop& s) { s.shards = 5; });
    differs("seed = ", [](Loop& s) { s.seed = 9; });
    if (!accelerated) differs("calls = ", [](Loop& s) { s.calls = 9; });
    differs("the values of parameters/w = ", [](Loop& s) { s.start = 0.75f; });
    differs("parameters/w = ", [](Loop& s) { s.width = 4; });
    differs("the names in parameters = ", [](Loop& s) { s.bias = false; });
    differs("the values of argument 2 = ", [](Loop& s) { s.given = 2; });
    differs("argument 3 = ", [](Loop& s) { s.number = 3; });
    differs("operation ", [](Loop& s) { s.first = "abs"; });
    differs("operation ", [](Loop& s) { s.scale = 0.25; });
    differs("operation ", [](Loop& s) { s.captured = 2; });
  }
}

// One worker runs at another speed: nothing differs, and the bits are the same.
TEST(Functions, MayRunAtOtherSpeeds) {
  Loop plain, fast;
  fast.accelerated = true;
  const auto made =
      Pool::local(2).spmd([&](Worker& worker) { return (worker.index() == 1 ? fast : plain).step(worker); });
  EXPECT_EQ(made[0], made[1]);
}

}  // namespace
}  // namespace retrace
