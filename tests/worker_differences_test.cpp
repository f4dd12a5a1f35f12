// Workers that do not do the same: every kind of difference ends all of them before the first step, with its name. And
// what may differ does not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "retrace/data/source_kind.h"
#include "retrace/data/transform_kind.h"
#include "retrace/nn/network_kind.h"
#include "retrace/optim/schedule_kind.h"
#include "retrace/optim/solver_kind.h"
#include "retrace/retrace.h"
#include "retrace/train/job_data.h"
#include "retrace/train/metric_kind.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

using Floats = std::vector<float>;

// -- jobs: every key is changed on one worker ----------------------------------------------------------------------

const std::string kJob = "[network]\nname = \"digits\"\n[data]\ntrain_samples = 64\ntest_samples = 36\n";

// No built-in network reads texts.
const std::string kTextJob =
    "[network]\nlayers = [{type = \"embedding\", vocabulary = 9, features = 4}, {type = \"linear\", features = 9, "
    "flatten "
    "= false}]\n[data]\nsource = \"text\"\npath = \"here\"\n";

// Nor series, here with something at each position.
const std::string kSeriesJob =
    "[network]\nlayers = [{type = \"linear\", features = 9, flatten = false}]\n[data]\nsource = \"series\"\npath = "
    "\"here\"\ntargets = \"positions\"\n";

// Nor volumes.
const std::string kVolumeJob =
    "[network]\nlayers = [{type = \"linear\", features = 9}]\n[data]\nsource = \"volumes\"\npath = \"here\"\n"
    "volume_depth = 4\nvolume_height = 4\nvolume_width = 4\nvolume_channels = 2\n";

// Nor images of a table.
const std::string kImageTableJob =
    "[network]\nlayers = [{type = \"linear\", features = 9}]\n[data]\nsource = \"image-table\"\npath = \"here\"\n"
    "image_height = 4\nimage_width = 4\nimage_channels = 3\n";

// Nor masks.
const std::string kImagePairsJob =
    "[network]\nlayers = [{type = \"conv2d\", size = 1, filters = 2}]\n[data]\nsource = \"image-pairs\"\npath = "
    "\"here\"\nimage_height = 4\nimage_width = 4\nimage_channels = 3\n";

// Nor texts of a table, and rows in the order of time.
const std::string kTextTableJob =
    "[network]\nlayers = [{type = \"embedding\", vocabulary = 257, features = 4}, {type = \"linear\", features = 9}]\n"
    "[data]\nsource = \"text-table\"\npath = \"here\"\n";
const std::string kForecastJob =
    "[network]\nlayers = [{type = \"linear\", features = 1}]\n[data]\nsource = \"forecast\"\npath = \"here\"\n";

using Overrides = std::vector<JobOverride>;

// Keys that every job has, or built-in networks, and another value.
const std::map<std::string, std::string> kOther{{"seed", "2"},
                                                {"network.name", "autoencoder"},
                                                {"network.width", "8"},
                                                {"network.heads", "class"},
                                                {"network.initial_weights", "elsewhere"},
                                                {"data.source", "peaks"},
                                                {"data.train_samples", "63"},
                                                {"data.test_samples", "25"},
                                                {"data.test_share", "0.5"},
                                                {"data.transforms", "salt-and-pepper"},
                                                {"data.task", "regression"},
                                                {"data.targets", "tokens"},
                                                {"training.solver", "sgdm"},
                                                {"training.max_epochs", "2"},
                                                {"training.max_iterations", "1"},
                                                {"training.mini_batch_size", "16"},
                                                {"training.shards", "4"},
                                                {"training.accumulate", "2"},
                                                {"training.mode", "fast"},
                                                {"training.initial_learn_rate", "0.01"},
                                                {"training.schedule", "linear"},
                                                {"training.schedule_iterations", "3"},
                                                {"training.l2_regularization", "0.5"},
                                                {"training.gradient_threshold", "0.25"},
                                                {"training.gradient_threshold_method", "absolute-value"},
                                                {"training.average_decay", "0.5"},
                                                {"training.shuffle", "never"},
                                                {"training.partial_mini_batch", "discard"},
                                                {"training.buckets", "2"},
                                                {"training.metrics", "top-k"},
                                                {"validation.data", "none"},
                                                {"training.mode", "fast"},
                                                {"training.output_network", "best-validation"},
                                                {"training.batch_norm_statistics", "population"},
                                                {"validation.frequency", "2"},
                                                {"validation.unit", "iterations"},
                                                {"validation.patience", "2"},
                                                {"validation.objective", "accuracy"}};
// Keys that change no bit.
const std::map<std::string, std::string> kFree{{"name", "other"},
                                               {"device", "cpu"},
                                               {"threads", "3"},
                                               {"workers", "2"},
                                               {"data.path", "elsewhere"},
                                               {"data.vocabulary", "elsewhere"},
                                               {"training.acceleration", "plain"},
                                               {"training.checkpoint_epochs", "1"},
                                               {"training.checkpoint_iterations", "5"},
                                               {"training.checkpoint_seconds", "1"},
                                               {"training.checkpoints_kept", "5"},
                                               {"training.snapshot_iterations", "5"},
                                               {"training.fingerprint_iterations", "7"},
                                               {"training.loader_threads", "2"},
                                               {"training.timeout", "7"}};
// Keys whose values are tables.
const std::set<std::string> kTables{"network.layers", "network.outputs", "training.groups"};

// Another value than the standard one, as text.
std::string other_value(const OptionRule& rule) {
  if (std::holds_alternative<std::vector<std::string>>(rule.standard))
    return rule.choices.empty() ? "other" : rule.choices[0];
  const bool bounded = rule.low < rule.high;
  if (const auto* truth = std::get_if<bool>(&rule.standard)) return *truth ? "false" : "true";
  if (const auto* whole = std::get_if<int64_t>(&rule.standard))
    return fmt::format("{}", !bounded || static_cast<double>(*whole) < rule.high ? *whole + 1 : *whole - 1);
  if (const auto* number = std::get_if<double>(&rule.standard))
    return fmt::format("{}", !bounded              ? *number + 1
                             : *number < rule.high ? 0.5 * (*number + rule.high)
                                                   : 0.5 * (rule.low + rule.high));
  if (const auto* numbers = std::get_if<std::vector<double>>(&rule.standard)) {
    OptionRule one = rule;
    one.standard = numbers->back();
    return rule.range ? fmt::format("[{},{}]", numbers->front(), other_value(one)) : other_value(one);
  }
  for (const auto& choice : rule.choices)
    if (OptionValue(choice) != rule.standard) return choice;
  return rule.name == "date_origin" ? "2024-05-01" : "other";
}

// The options of what a job names: what gives them a meaning, and another value.
struct OptionCase {
  std::string job;
  Overrides both;
  std::string value;
};

std::map<std::string, OptionCase> option_cases() {
  std::map<std::string, OptionCase> cases;
  const auto add = [&](const std::string& section, const std::vector<OptionRule>& options, const Overrides& both,
                       const std::string& job = kJob) {
    for (const auto& rule : options) {
      if (!rule.changes_bits) continue;
      for (const std::string& value :
           {other_value(rule), std::string("32"), std::string("28"), std::string("3"), std::string("2")}) {  // or sizes
        const std::string key = fmt::format("{}.{}", section, rule.name);
        if (kOther.count(key)) break;
        Overrides all = both;
        all.push_back({key, value, "test"});
        if (error_of([&] { parse_job(job, "job.toml", all); }) != "no error") continue;
        cases[key] = {job, both, value};
        break;
      }
    }
  };
  for (const auto& kind : all_solvers()) add("training", kind.options, {{"training.solver", kind.name, "test"}});
  for (const auto& kind : all_schedules()) add("training", kind.options, {{"training.schedule", kind.name, "test"}});
  for (const auto& kind : all_transforms())
    for (const auto& rule : kind.options) {
      Overrides both{{"data.transforms", kind.name, "test"}};
      if (error_of([&] { parse_job(kJob, "job.toml", both); }) != "no error")  // one of its sizes must be given
        for (const auto& size : kind.options)
          if (size.name != rule.name && std::holds_alternative<int64_t>(size.standard))
            both.push_back({fmt::format("data.{}", size.name), "28", "test"});
      add("data", {rule}, both);
    }
  for (const auto& kind : nn::all_networks()) add("network", kind.options, {{"network.name", kind.name, "test"}});
  for (const auto& kind : all_metrics())
    for (const auto& network : nn::all_networks()) {  // one whose outputs it measures
      const Overrides both{{"training.metrics", kind.name, "test"}, {"network.name", network.name, "test"}};
      if (error_of([&] { parse_job(kJob, "job.toml", both); }) == "no error") add("training", kind.options, both);
    }
  for (const auto& kind : all_sources())
    for (const auto& network : nn::all_networks()) {
      Overrides both{
          {"data.source", kind.name, "test"}, {"data.path", "here", "test"}, {"network.name", network.name, "test"}};
      if (kind.has_target) both.push_back({"data.task", "regression", "test"});
      if (kind.options.empty() || error_of([&] { parse_job(kJob, "job.toml", both); }) != "no error") continue;
      add("data", kind.options, both);
    }
  add("data", kind_of(all_sources(), "text", "data source", {}).options, {}, kTextJob);
  add("data", kind_of(all_sources(), "volumes", "data source", {}).options, {}, kVolumeJob);
  add("data", kind_of(all_sources(), "image-table", "data source", {}).options, {}, kImageTableJob);
  add("data", kind_of(all_sources(), "image-pairs", "data source", {}).options, {}, kImagePairsJob);
  add("data", kind_of(all_sources(), "text-table", "data source", {}).options, {}, kTextTableJob);
  add("data", kind_of(all_sources(), "forecast", "data source", {}).options, {}, kForecastJob);
  return cases;
}

// A job in which the key has a meaning, and the same with another value.
std::pair<Job, Job> jobs_that_differ_in(const std::string& key, const std::string& value, Overrides both = {},
                                        const std::string& given = kJob) {
  const std::string& text = key == "data.targets" ? kSeriesJob : given;
  if (key == "data.path")
    both = {{"network.heads", "class", "test"}, {"data.source", "mnist", "test"}, {"data.path", "here", "test"}};
  if (key == "training.schedule_iterations") both = {{"training.schedule", "warm-up, linear", "test"}};
  if (key == "data.task")
    both = {{"network.name", "cifar10", "test"}, {"data.source", "npy", "test"}, {"data.path", "here", "test"}};
  const Job job = parse_job(text, "job.toml", both);
  both.push_back({key, value, "test"});
  if (key == "data.task") both.insert(both.end(), {{"network.name", "peaks", "test"}, {"data.features", "2", "test"}});
  if (key == "data.source") both.push_back({"network.name", "peaks", "test"});
  return {job, parse_job(text, "job.toml", both)};
}

std::string digest_error(const NamedValues& first, const NamedValues& second) {
  return error_of([&] {
    Pool::local(3).spmd(
        [&](Worker& worker) { worker.require_same("the job or its data", worker.index() == 1 ? second : first); });
  });
}

TEST(Jobs, EveryKeyIsComparedOrFree) {
  const auto cases = option_cases();
  for (const auto& key : job_keys())
    EXPECT_EQ(kOther.count(key) + kFree.count(key) + kTables.count(key) + cases.count(key), 1u) << key;
}

void expect_named(const std::string& key, const Job& job, const Job& other) {
  const std::string text = digest_error(job_identity(job), job_identity(other));
  EXPECT_TRUE(says(text, "error[RT0605]: the workers differ in the job or its data")) << key;
  EXPECT_TRUE(says(text, fmt::format("worker 1 has {} = ", key))) << text;
  EXPECT_TRUE(says(text, ", worker 0 has ")) << key;
}

TEST(Jobs, ThatDifferAreNamed) {
  for (const auto& [key, value] : kOther) {
    const auto [job, other] = jobs_that_differ_in(key, value);
    expect_named(key, job, other);
  }
  for (const auto& [key, one] : option_cases()) {
    const auto [job, other] = jobs_that_differ_in(key, one.value, one.both, one.job);
    expect_named(key, job, other);
  }
}

TEST(Jobs, LayersThatDifferAreNamed) {
  const auto job = [](const std::string& layers, const std::string& loss) {
    return parse_job("[network]\nlayers = [" + layers + "]\n[[network.outputs]]\nname = \"class\"\n" + loss +
                         "\n[data]\nsource = \"digits\"\n",
                     "job.toml");
  };
  const std::string one = "{type = \"linear\", features = 10}";
  expect_named("network.layers", job(one, ""), job("{type = \"relu\"}, " + one, ""));
  expect_named("network.outputs", job(one, ""), job(one, "weight = 0.5"));
  expect_named("network.outputs", job(one, ""), job(one, "label_smoothing = 0.1"));
  expect_named("network.outputs", job(one, ""), job(one, "ignore_index = 3"));
  expect_named("network.outputs", job(one, ""), job(one, "class_weights = [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]"));
}

TEST(Jobs, MayDifferInWhatChangesNoBit) {
  for (const auto& [key, value] : kFree) {
    const bool of_text = key == "data.vocabulary";
    const Overrides both{{"data.tokens", "pairs", "test"}, {"data.vocabulary", "here", "test"}};
    const auto [job, other] =
        of_text ? jobs_that_differ_in(key, value, both, kTextJob) : jobs_that_differ_in(key, value);
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
