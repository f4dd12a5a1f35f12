// Runs of programs are tested and asked as runs of jobs are.
#include "retrace/train/run_network.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "retrace/data/datasets.h"
#include "retrace/data/image_testing.h"
#include "retrace/ops/ops.h"
#include "retrace/report/report.h"
#include "retrace/train/compare.h"
#include "retrace/train/product_testing.h"
#include "retrace/train/test_run.h"
#include "retrace/train/train_job.h"
#include "retrace/train/train_network.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

TrainNetworkOptions options_of(const fs::path& out) {
  return {.training = {.max_epochs = 2, .mini_batch_size = 16, .initial_learn_rate = 0.01},
          .seed = 3,
          .device = "cpu",
          .out = out.string()};
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

std::string read(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<JobOverride> settings(const std::vector<std::string>& texts) {
  std::vector<JobOverride> overrides;
  for (const auto& text : texts) overrides.push_back(parse_override(text));
  return overrides;
}

// The products as a table.
std::string csv_of(const Datastore& data) {
  std::string text = "x,y,height\n";
  for (int64_t i = 0; i < data.size(); ++i) {
    const auto point = data.get(i)[0].to_vector<float>();
    text += fmt::format("{},{},{}\n", point[0], point[1], data.get(i)[1].number());
  }
  return text;
}

TEST(RunNetwork, OfFeaturesIsAskedAndTested) {
  const TemporaryFolder root;
  TrainNetworkOptions options = options_of(root / "run");
  options.validation_data = products(8);
  const auto trained = train_network(products(), small_layers(), "mean-squared-error", options);
  EXPECT_TRUE(
      says(read(root / "run/network.toml"),
           "sample = [2]\nkinds = [\"values\"]\nlayers = [\n  {type = \"linear\", bias = true, features = 8, "));
  EXPECT_TRUE(says(read(root / "run/manifest.json"), "\"name\":\"network.toml\""));
  write(root / "x.csv", "x,y\n0.5,-1\n0.25,1\n");
  const Tensor y = trained.network.predict(Tensor::from<float>({0.5f, -1, 0.25f, 1}, {2, 2}, "BC"));
  const auto expected = y.to_vector<float>();
  EXPECT_EQ(predict_run(root / "run", root / "x.csv").csv,
            fmt::format("index,y\n0,{}\n1,{}\n", expected[0], expected[1]));
  // The test set of a table: what the last validation said.
  fs::create_directory(root / "data");
  write(root / "data/train.csv", csv_of(products()));
  write(root / "data/test.csv", csv_of(products(8)));
  auto overrides = settings({"data.source=csv", "data.path=" + (root / "data").string()});
  const auto tested = test_run(root / "run", {.overrides = overrides});
  EXPECT_EQ(tested.samples, 8);
  EXPECT_EQ(tested.loss, trained.info.validation_loss);
  EXPECT_EQ(tested.metrics, trained.info.metrics);
  overrides.push_back(parse_override("training.metrics=mae"));
  EXPECT_EQ(test_run(root / "run", {.overrides = overrides}).metrics[0].first, "mae");
  EXPECT_TRUE(says(error_of([&] { test_run(root / "run", {.overrides = settings({"seed=2"})}); }), "error[RT0471]"));
  EXPECT_EQ(error_of([&] { test_run(root / "run"); }).substr(0, 14), "error[RT0734]:");
  EXPECT_TRUE(says(error_of([&] { test_run(root / "run", {.overrides = settings({"data.source=cvs"})}); }),
                   "did you mean \"csv\"?"));
  EXPECT_TRUE(says(error_of([&] { test_run(root / "run", {.overrides = settings({"data.source=digits"})}); }),
                   "data source \"digits\""));
}

// Two outputs; the built-in data have targets of these names.
TEST(RunNetwork, OfImagesWithTwoOutputs) {
  const TemporaryFolder root;
  const nn::Network network = nn::make_network(random_key(2), {.name = "digits", .width = 4});
  TrainNetworkOptions options = options_of(root / "run");
  options.validation_data = datasets::digits(Split::test, {.count = 20, .seed = 1});
  options.class_names = {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
  const auto trained =
      train_network(datasets::digits(Split::train, {.count = 40, .seed = 1}), network, network.loss, options);
  const ImageFolder images;
  images.write("a.png",
               png_of(std::vector<uint8_t>(28 * 28, 77), {.height = 28, .width = 28, .colours = PNG_COLOR_TYPE_GRAY}));
  const auto found = predict_run(root / "run", images.at("a.png"));
  EXPECT_TRUE(says(found.csv, "index,file,class,class_name,score_zero,")) << found.csv;
  EXPECT_TRUE(says(found.csv, ",angle\n")) << found.csv;
  const Tree y = trained.network.predict(Tensor::full(77.0 / 255, {1, 28, 28, 1}, DType::f32, "BSSC"));
  EXPECT_TRUE(says(found.csv, fmt::format(",{}\n", y["angle"].tensor().to_vector<float>()[0]))) << found.csv;
  write(root / "x.csv", "1\n");
  EXPECT_TRUE(says(error_of([&] { predict_run(root / "run", root / "x.csv"); }), "error[RT0460]"));
}

TEST(RunNetwork, OutputsAreTestedOnTargetsOfTheirKind) {
  const TemporaryFolder root;
  TrainNetworkOptions options = options_of(root / "run");
  options.validation_data = datasets::digits(Split::test, {.count = 20, .seed = 1});
  const nn::Sequential layers{nn::linear(10), nn::softmax()};
  const auto trained =
      train_network(datasets::digits(Split::train, {.count = 40, .seed = 1}), layers, "cross-entropy", options);
  const auto tested =
      test_run(root / "run", {.overrides = settings({"data.source=digits", "data.test_samples=20"}), .classes = true});
  EXPECT_EQ(tested.samples, 20);
  EXPECT_EQ(tested.classes.size(), 1u);
}

// Layers and losses of users: what can be known is, and the rest names what helps.
TEST(RunNetwork, OfTheProgramsOwn) {
  const TemporaryFolder root;
  const nn::Layer own("double", [](nn::Walk&, const Tree& x) { return Tree(2.0f * x.tensor()); });
  train_network(products(), nn::Sequential{nn::linear(1), own.named("twice")}, "mean-squared-error",
                options_of(root / "layer"));
  write(root / "x.csv", "x,y\n0.5,-1\n");
  const std::string refusal = error_of([&] { predict_run(root / "layer", root / "x.csv"); });
  EXPECT_EQ(refusal,
            fmt::format("error[RT0733]: the run \"{}\" was trained by a program, and its network is in no file\n"
                        "  got:      the network cannot be written as text: layer \"twice\" is one of the "
                        "program's own\n"
                        "  help:     ask it in the program that trained it: network.predict(x), after "
                        "load(\"weights.safetensors\")",
                        (root / "layer").string()));
  EXPECT_NO_THROW(write_report(root / "layer", root / "page.html", {}));
  // A loss that is a function is not known to the run: the metrics that are named are.
  const auto loss = [](const Tensor& y, const Tensor& t) { return mean(abs(y - t)); };
  train_network(products(), small_layers(), Loss(loss), options_of(root / "loss"));
  EXPECT_EQ(predict_run(root / "loss", root / "x.csv").rows, 1);
  fs::create_directory(root / "data");
  for (const char* name : {"data/train.csv", "data/test.csv"}) write(root / name, csv_of(products()));
  const auto tested = test_run(
      root / "loss",
      {.overrides = settings({"data.source=csv", "data.path=" + (root / "data").string(), "training.metrics=mae"})});
  EXPECT_TRUE(std::isnan(tested.loss));
  EXPECT_FALSE(tested.loss_known);
  EXPECT_EQ(tested.metrics.size(), 1u);
  // A run of an earlier version.
  fs::remove(root / "loss/network.toml"), fs::remove(root / "loss/manifest.json");
  EXPECT_TRUE(says(error_of([&] { predict_run(root / "loss", root / "x.csv"); }), "error[RT0732]"));
  write(root / "loss/network.toml", "[network]\nsample = [2]\nlayers = [{type = \"lin\"}]\n");
  EXPECT_TRUE(says(error_of([&] { predict_run(root / "loss", root / "x.csv"); }), "error[RT0731]"));
}

TEST(RunNetwork, RunsOfProgramsAreCompared) {
  const TemporaryFolder root;
  TrainNetworkOptions options = options_of(root / "a");
  train_network(products(), small_layers(), "mean-squared-error", options);
  options.out = (root / "b").string();
  options.training.initial_learn_rate = 0.02;
  train_network(products(), small_layers(), "mean-squared-error", options);
  EXPECT_TRUE(compare_runs(root / "a", root / "a").equal);
  const auto found = compare_runs(root / "a", root / "b");
  EXPECT_FALSE(found.equal);
  ASSERT_EQ(found.settings.size(), 1u);
  EXPECT_EQ(found.settings[0].key, "training.initial_learn_rate");
  EXPECT_EQ(found.settings[0].b, "0.02");
}

TEST(RunNetwork, AFileOfTheRunIsNotWrittenOver) {
  const TemporaryFolder root;
  train_network(products(), small_layers(), "mean-squared-error", options_of(root / "run"));
  write(root / "x.csv", "x,y\n0.5,-1\n");
  EXPECT_TRUE(
      says(error_of([&] { predict_run(root / "run", root / "x.csv", root / "run/network.toml"); }), "error[RT0527]"));
}

}  // namespace
}  // namespace retrace
