#include "retrace/train/train_job.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>

#include "retrace/data/array_store.h"
#include "retrace/plan/compile.h"
#include "retrace/run/plan_cache.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/data_check.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/weights.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

// 3 epochs of 4 iterations.
Job small_job() {
  Job job = read_job(fs::path(RETRACE_SOURCE_DIR) / "tests/golden/1/peaks.toml");
  job.training.max_epochs = 3;
  return job;
}

// The fingerprint of a run's weights, as the run says it.
std::string weights_text(const SafeTensors& file) {
  const nn::Network network = make_job_network(small_job());
  const auto weights = from_safetensors(file, {network.parameters, network.state}, "weights");
  return fingerprint(weights.parameters, weights.state);
}

class Watch : public Monitor {
 public:
  explicit Watch(std::function<void(const Event&)> look) : look_(std::move(look)) {}
  void receive(const Event& event) override {
    iterations += std::holds_alternative<StepDone>(event);
    look_(event);
  }
  int64_t iterations = 0;

 private:
  std::function<void(const Event&)> look_;
};

// Its first loss is about 1e3; no step keeps it finite for long.
Job diverging_job() {
  Job job = small_job();
  job.training.solver = "sgdm";
  job.training.initial_learn_rate = 1e6;
  job.training.max_epochs = 50;
  return job;
}

class TrainJobTest : public testing::Test {
 protected:
  // Stopped after that iteration; 0: not at all.
  TrainJobResult train(const char* name, int64_t last) {
    Watch watch([&](const Event&) {});
    return train_job(small_job(), {.out = root_ / name, .monitor = &watch, .stop = [&, last] {
                                     return last > 0 && watch.iterations >= last;
                                   }});
  }
  std::vector<nlohmann::json> events(const char* name) {
    std::vector<nlohmann::json> found;
    for (const auto& line : read_log_lines(root_ / name / "metrics.jsonl"))
      found.push_back(nlohmann::json::parse(line));
    return found;
  }
  // The event of the run's last epoch.
  nlohmann::json last_epoch(const char* name) {
    nlohmann::json found;
    for (const auto& line : read_log_lines(root_ / name / "metrics.jsonl"))
      if (auto event = nlohmann::json::parse(line); event["event"] == "epoch") found = std::move(event);
    return found;
  }
  TemporaryFolder root_;
};

TEST_F(TrainJobTest, AStopWithinAnEpochIsRecordedAsOne) {
  const auto result = train("run", 6);
  EXPECT_EQ(result.stop_reason, "stopped");
  EXPECT_EQ(result.iterations, 6);
  const auto event = last_epoch("run");
  EXPECT_EQ(event["epoch"], 2);
  EXPECT_EQ(event["iteration"], 6);
  EXPECT_EQ(event["complete"], false);
  const auto epochs = read_fingerprints(root_ / "run");
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_EQ(epochs[0].stopped_after, 0);
  EXPECT_EQ(epochs[1].stopped_after, 6);
}

TEST_F(TrainJobTest, AStopAtTheEndOfAnEpochLeavesItWhole) {
  train("stopped", 8), train("whole", 0);
  EXPECT_EQ(last_epoch("stopped")["complete"], true);
  EXPECT_EQ(last_epoch("stopped")["iteration"], 8);
  const auto stopped = read_fingerprints(root_ / "stopped"), whole = read_fingerprints(root_ / "whole");
  ASSERT_EQ(stopped.size(), 2u);
  ASSERT_EQ(whole.size(), 3u);
  EXPECT_EQ(stopped[1], whole[1]);
}

// A stop while the last validation goes on leaves nothing undone but that.
TEST_F(TrainJobTest, AStopWithinAValidationBreaksItOff) {
  for (const int epochs : {1, 3}) {
    const std::string name = "run" + std::to_string(epochs);
    Job job = small_job();
    job.training.max_epochs = epochs;
    bool stop = false;
    Watch watch([&](const Event& event) { stop = stop || std::holds_alternative<EpochDone>(event); });
    const auto result = train_job(job, {.out = root_ / name, .monitor = &watch, .stop = [&] { return stop; }});
    EXPECT_EQ(result.stop_reason, epochs == 1 ? "max epochs completed" : "stopped");
    EXPECT_EQ(result.iterations, 4);
    EXPECT_TRUE(std::isnan(result.loss));
    EXPECT_TRUE(result.metrics.empty());
    const auto all = events(name.c_str());
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[1]["complete"], true);
    EXPECT_EQ(all[2]["event"], "finished");
    EXPECT_TRUE(all[2]["validation_loss"].is_null());
    EXPECT_EQ(weights_text(read_run_weights(root_ / name)), result.fingerprint);
  }
}

TEST_F(TrainJobTest, FinishedComesAfterTheWeights) {
  bool there = false;
  Watch watch([&](const Event& event) {
    if (std::holds_alternative<RunFinished>(event)) there = fs::exists(root_ / "run/weights.safetensors");
  });
  train_job(small_job(), {.out = root_ / "run", .monitor = &watch});
  EXPECT_TRUE(there);
}

// The weights of every complete epoch are written, whatever ends the run later.
TEST_F(TrainJobTest, AFailureInALaterEpochLeavesTheWeightsOfTheLastWholeOne) {
  train("whole", 0);
  Watch watch([&](const Event& event) {
    if (const auto* step = std::get_if<StepDone>(&event); step && step->iteration == 10) throw std::runtime_error("x");
  });
  EXPECT_THROW(train_job(small_job(), {.out = root_ / "run", .monitor = &watch}), std::runtime_error);
  const auto epochs = read_fingerprints(root_ / "run");
  ASSERT_EQ(epochs.size(), 2u);
  EXPECT_EQ(epochs[1], read_fingerprints(root_ / "whole")[1]);
  EXPECT_EQ(weights_text(read_run_weights(root_ / "run")), fingerprint_text(epochs[1].all));
}

// Before that there is nothing of value, and the same command works again.
TEST_F(TrainJobTest, AFailureInTheFirstEpochLeavesNothing) {
  fs::create_directory(root_ / "empty");
  for (const char* name : {"run", "empty"}) {
    Watch watch([&](const Event& event) {
      if (const auto* step = std::get_if<StepDone>(&event); step && step->iteration == 2) throw std::runtime_error("x");
    });
    EXPECT_THROW(train_job(small_job(), {.out = root_ / name, .monitor = &watch}), std::runtime_error);
  }
  EXPECT_FALSE(fs::exists(root_ / "run"));
  EXPECT_TRUE(fs::is_empty(root_ / "empty"));
  EXPECT_NO_THROW(train("run", 0));
}

TEST_F(TrainJobTest, ALossThatIsNotFiniteKeepsTheLastWholeEpoch) {
  Job job = diverging_job();
  job.training.mini_batch_size = 100000;  // an epoch is one iteration
  job.training.partial_mini_batch = "keep";
  const auto result = train_job(job, {.out = root_ / "run"});
  EXPECT_EQ(result.stop_reason, "the loss is not finite");
  ASSERT_GT(result.epochs, 0);
  EXPECT_EQ(result.iterations, result.epochs + 1);
  EXPECT_EQ(weights_text(read_run_weights(root_ / "run")), result.fingerprint);
  EXPECT_EQ(read_fingerprints(root_ / "run").size(), static_cast<size_t>(result.epochs));
}

TEST_F(TrainJobTest, ALossThatIsNotFiniteInTheFirstEpochLeavesNothing) {
  const auto result = train_job(diverging_job(), {.out = root_ / "run"});
  EXPECT_EQ(result.stop_reason, "the loss is not finite");
  EXPECT_EQ(result.epochs, 0);
  EXPECT_TRUE(result.cause.found.starts_with("the data of that step are finite")) << result.cause.found;
  EXPECT_TRUE(result.run_dir.empty());
  EXPECT_FALSE(fs::exists(root_ / "run"));
}

TEST_F(TrainJobTest, TheFolderAppearsWithTheFirstStep) {
  bool before = true;
  Watch watch([&](const Event& event) {
    if (const auto* started = std::get_if<RunStarted>(&event)) before = started->run_dir.empty();
  });
  Job job = small_job();
  set_memory_limit(1);
  EXPECT_THROW(train_job(job, {.out = root_ / "run", .monitor = &watch}), Error);
  set_memory_limit(0);
  EXPECT_FALSE(fs::exists(root_ / "run"));
  EXPECT_TRUE(before);
}

// The data of a job on disk: IDX files without compression.
void write_idx(const fs::path& path, uint8_t axes, std::initializer_list<int> sizes, uint8_t value) {
  std::string text{0, 0, 8, static_cast<char>(axes)};
  size_t count = 1;
  for (const int size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(size >> shift & 255);
    count *= static_cast<size_t>(size);
  }
  write_file_whole(path, text + std::string(count, static_cast<char>(value)));
}

struct Size {
  int height, width;
};
void write_images(const fs::path& folder, Size train, Size test, uint8_t test_label = 1) {
  fs::create_directories(folder);
  constexpr int kCount = 8;
  write_idx(folder / "train-images-idx3-ubyte", 3, {kCount, train.height, train.width}, 7);
  write_idx(folder / "train-labels-idx1-ubyte", 1, {kCount}, 1);
  write_idx(folder / "t10k-images-idx3-ubyte", 3, {kCount, test.height, test.width}, 7);
  write_idx(folder / "t10k-labels-idx1-ubyte", 1, {kCount}, test_label);
}

std::string text_of(const std::function<void()>& f, ErrorKind kind) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

std::string text_without_times(const std::string& text) {
  return std::regex_replace(text, std::regex(" *[0-9.]+ ms"), "");
}

// Before a folder is made or a step is computed; train and plan say the same.
TEST_F(TrainJobTest, DataThatDoNotFitTheNetworkAreRefusedFirst) {
  Job job;
  job.network.heads = {"class"};
  job.data.source = "mnist";
  job.data.path = (root_ / "images").string();
  job.training.mini_batch_size = 8;
  job.training.max_epochs = 1;
  const auto refused = [&](ErrorKind kind) {
    const std::string text = text_of([&] { train_job(job, {.out = root_ / "run"}); }, kind);
    EXPECT_EQ(text_of([&] { describe_plan(job); }, kind), text);
    EXPECT_FALSE(fs::exists(root_ / "run"));
    return text;
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  };
  for (const Size wrong : {Size{27, 28}, Size{1, 784}, Size{784, 1}, Size{32, 32}}) {
    write_images(root_ / "images", wrong, {28, 28});
    const std::string train = refused(ErrorKind::bad_data);
    has(train, "train-images-idx3-ubyte"), has(train, "[28,28,1]");
    write_images(root_ / "images", {28, 28}, wrong);
    const std::string test = refused(ErrorKind::bad_data);
    has(test, "t10k-images-idx3-ubyte");
    has(test, fmt::format("[{},{},1]", wrong.height, wrong.width).c_str());
  }
  write_images(root_ / "images", {28, 28}, {28, 28}, 10);
  has(text_of([&] { train_job(job, {.out = root_ / "run"}); }, ErrorKind::bad_data), "t10k-labels-idx1-ubyte");
  EXPECT_NO_THROW(describe_plan(job)) << "a plan reads no labels";
  write_images(root_ / "images", {28, 28}, {28, 28});
  job.training.mini_batch_size = 9;
  job.training.partial_mini_batch = "discard";
  has(refused(ErrorKind::usage), "no whole mini-batch of 9");
  job.training.mini_batch_size = 8;
  EXPECT_NO_THROW(train_job(job, {.out = root_ / "run"}));
}

TEST_F(TrainJobTest, TheDescribedPlanIsThatOfTheSteps) {
  for (const char* name : {"digits", "peaks"}) {
    const Job job = read_job(fs::path(RETRACE_SOURCE_DIR) / "tests/golden/1" / (std::string(name) + ".toml"));
    std::string plan;  // of the first step
    train_job(job, {.write_run = false, .stop = [&] {
                      plan = last_plan()->text();
                      return true;
                    }});
    EXPECT_EQ(text_without_times(describe_plan(job)), text_without_times(plan)) << name;
  }
}

// The headers of the files are all that a plan needs.
TEST_F(TrainJobTest, APlanLoadsNoData) {
  Job job;
  job.network.heads = {"class"};
  job.data.source = "mnist";
  job.data.path = (root_ / "images").string();
  job.training.mini_batch_size = 8;
  write_images(root_ / "images", {28, 28}, {28, 28});
  const std::string whole = describe_plan(job);
  for (const char* name : {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte"})
    fs::resize_file(root_ / "images" / name, 16);
  EXPECT_EQ(text_without_times(describe_plan(job)), text_without_times(whole));
}

// Sets that no source delivers: the check looks at what it is given.
TEST(DataCheck, LooksAtTargetsAndLabels) {
  Job job;
  job.training.mini_batch_size = 2;
  const nn::Network network = make_job_network(job);
  const auto images = Tensor::zeros({4, 28, 28, 1}, DType::f32, "BSSC"),
             angles = Tensor::zeros({4, 1}, DType::f32, "BC");
  const auto labels = [](std::vector<int32_t> values) { return Tensor::from(values, {4}, "B"); };
  const auto check = [&](const Tensor& test_labels, const Tensor& test_angles) {
    check_job_data(job, network,
                   {array_store({images, labels({0, 9, 5, 2}), angles}),
                    array_store({images, test_labels, test_angles}),
                    {"BSSC", "B", "BC"},
                    {1, 2}});
  };
  EXPECT_NO_THROW(check(labels({0, 1, 2, 9}), angles));
  for (const int32_t wrong : {-1, 10}) {
    const std::string text = text_of([&] { check(labels({0, 1, wrong, 9}), angles); }, ErrorKind::bad_data);
    EXPECT_NE(text.find(fmt::format("test set has the label {} at index 2", wrong)), std::string::npos) << text;
  }
  text_of([&] { check(labels({0, 1, 2, 9}), Tensor::zeros({4, 2}, DType::f32, "BC")); }, ErrorKind::bad_data);
}

TEST(DataCheck, TheClassIsAlwaysTrained) {
  Job job;
  job.network.heads = {"angle"};
  text_of([&] { check_job(job); }, ErrorKind::usage);
}

}  // namespace
}  // namespace retrace
