// A run that is stopped after any step, written to a file and continued is the run that was not stopped.
#include "retrace/train/run_state.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>

#include "retrace/base/file.h"
#include "retrace/distributed/pool.h"
#include "retrace/monitor/json_lines.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/metrics_log.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/training.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();

std::string without_times(const std::string& line) {
  return std::regex_replace(line, std::regex("\"seconds\":[^,}]*"), "\"seconds\":0");
}

// Everything that is told but the start, without times.
class Events : public Monitor {
 public:
  void receive(const Event& event) override {
    if (!std::holds_alternative<RunStarted>(event)) lines.push_back(without_times(event_json(event)));
  }
  std::vector<std::string> lines;
};

struct Part {
  fs::path from = {}, to = {};  // files of states; none: the start, the end
  int64_t last = kNoEnd;        // iteration
  int workers = 1, threads = 2;
  fs::path out = {};  // a run folder
};

class RunStateTest : public testing::Test {
 protected:
  static Job golden(const std::string& name, const std::vector<JobOverride>& overrides = {}) {
    return read_job(fs::path(RETRACE_SOURCE_DIR) / "tests/golden/1" / (name + ".toml"), overrides);
  }

  // Adds to `lines` what is told; the result is empty unless the part reaches the end.
  static TrainJobResult train(const TrainingTask& task, const Part& part, std::vector<std::string>& lines) {
    Events events;
    const TrainJobControl control{.out = part.out, .write_run = !part.out.empty(), .monitor = &events};
    TrainJobResult result;
    Pool::local(part.workers, {.threads = part.threads}).spmd([&](Worker& worker) {
      Training training(task, control, worker);
      if (!part.from.empty()) training.restore(load_run_state(part.from, training.state()));
      while (!training.done() && training.state().iterations < part.last) training.step();
      if (!part.to.empty() && worker.index() == 0) save_run_state(part.to, training.state());
      if (!part.to.empty()) return;
      const TrainJobResult own = training.finish();
      if (worker.index() == 0) result = own;
    });
    lines.insert(lines.end(), events.lines.begin(), events.lines.end());
    return result;
  }

  // The job whole, and in two parts that are cut after each of these iterations.
  void expect_same(const Job& job, std::initializer_list<int64_t> cuts) {
    const TrainingTask task = task_of(job);
    std::vector<std::string> whole;
    const TrainJobResult expected = train(task, {}, whole);
    const int workers = job.training.shards;
    for (const int64_t cut : cuts) {
      SCOPED_TRACE(fmt::format("{} after iteration {}", job.name, cut));
      std::vector<std::string> parts;
      const fs::path file = root_ / "state.safetensors";
      train(task, {.to = file, .last = cut, .workers = std::min(2, workers), .threads = 1}, parts);
      const auto found = train(task, {.from = file, .workers = std::min(3, workers), .threads = 3}, parts);
      EXPECT_EQ(found.fingerprint, expected.fingerprint);
      EXPECT_EQ(found.iterations, expected.iterations);
      EXPECT_EQ(found.epochs, expected.epochs);
      EXPECT_EQ(found.loss, expected.loss);
      EXPECT_EQ(found.metrics, expected.metrics);
      EXPECT_EQ(parts, whole);
    }
  }

  static void expect_folders_go_on(const Job& job, const fs::path& root);

  TemporaryFolder root_;
};

#ifdef NDEBUG
constexpr bool kAll = true;
#else
constexpr bool kAll = false;  // under sanitizers the larger networks take long
#endif

// Of 12 steps in 3 epochs: within each epoch, and at the end of each.
TEST_F(RunStateTest, GoldenJobsGoOn) {
  expect_same(golden("digits"), {1, 4, 7, 8, 12});
  expect_same(golden("peaks"), {2, 4, 5, 8, 11, 12});
  if (!kAll) return;
  expect_same(golden("autoencoder"), {3, 8});
  expect_same(golden("cifar10"), {6, 8});
}

TEST_F(RunStateTest, OtherWorkersGoOn) {
  expect_same(golden("digits", {{"training.shards", "4", ""}}), {3, 8});
  expect_same(golden("peaks", {{"training.shards", "4", ""}}), {6});
}

TEST_F(RunStateTest, OrdersAndRatesGoOn) {
  for (const char* shuffle : {"never", "once", "every-epoch"})
    for (const char* partial : {"keep", "discard"}) {
      Job job = golden("peaks");
      job.training.shuffle = shuffle;
      job.training.partial_mini_batch = partial;
      job.training.solver = "sgdm";
      job.training.initial_learn_rate = 0.001;
      job.training.schedule = "piecewise";
      job.training.options = {{"drop_period", int64_t{1}}};
      expect_same(job, {2, 3, 5});
    }
  expect_same(golden("peaks", {{"training.schedule", "warm-up, cosine", ""}, {"training.warm_up_iterations", "5", ""}}),
              {3, 6});
  expect_same(golden("peaks", {{"training.acceleration", "plain", ""}, {"validation.data", "none", ""}}), {2, 8});
}

// After 6 of 12 steps, within the second epoch.
TEST_F(RunStateTest, TrainingsOfSoManyIterationsGoOn) {
  const std::vector<JobOverride> six{{"training.max_iterations", "6", ""}, {"training.schedule", "cosine", ""}};
  expect_same(golden("peaks", six), {2, 4, 5});
  const TrainingTask task = task_of(golden("peaks", six));
  std::vector<std::string> told;
  const TrainJobResult result = train(task, {}, told);
  EXPECT_EQ(result.stop_reason, "max iterations completed");
  EXPECT_EQ(result.iterations, 6);
  EXPECT_EQ(result.epochs, 2);
  const auto count = [&](const std::string& part) {
    return std::count_if(told.begin(), told.end(), [&](const auto& line) { return line.find(part) != line.npos; });
  };
  EXPECT_EQ(count("\"event\":\"step\""), 6);
  EXPECT_EQ(count("\"event\":\"validation\""), 2);
  EXPECT_EQ(count("\"event\":\"validation\",\"epoch\":2,\"iteration\":6,"), 1);
  // The schedule ends with the last step: after 3 of 6 the rate is half of 0.08.
  EXPECT_EQ(count("\"iteration\":4,"), 1 + 2);  // the step, the epoch and its validation
  const auto fourth = std::find_if(told.begin(), told.end(),
                                   [](const auto& line) { return line.find("\"iteration\":4,") != line.npos; });
  EXPECT_NE(fourth->find("\"learn_rate\":0.0399999991"), std::string::npos) << *fourth;
}

// At the end of an epoch, and where the epochs end as well.
TEST_F(RunStateTest, TrainingsOfSoManyIterationsEndWithAnEpoch) {
  std::vector<std::string> told;
  const Job two = golden("peaks", {{"training.max_iterations", "8", ""}, {"validation.frequency", "3", ""}});
  const TrainJobResult result = train(task_of(two), {}, told);
  EXPECT_EQ(result.stop_reason, "max iterations completed");
  EXPECT_EQ(result.iterations, 8);
  EXPECT_EQ(result.epochs, 2);
  EXPECT_EQ(std::count_if(told.begin(), told.end(), [](const auto& line) { return line.find("\"validation\"") < 20; }),
            1);
  expect_same(two, {3, 4, 6});
  for (const char* all : {"12", "13"}) {
    const TrainJobResult whole = train(task_of(golden("peaks", {{"training.max_iterations", all, ""}})), {}, told);
    EXPECT_EQ(whole.stop_reason, "max epochs completed");
    EXPECT_EQ(whole.iterations, 12);
  }
}

// What is written into run folders by the two parts, one after the other.
TEST_F(RunStateTest, RunFoldersHoldTheSame) {
  const Job job = golden("digits");
  const TrainingTask task = task_of(job);
  std::vector<std::string> told;
  train(task, {.out = root_ / "whole"}, told);
  train(task, {.to = root_ / "state", .last = 6, .out = root_ / "first"}, told);
  train(task, {.from = root_ / "state", .out = root_ / "second"}, told);
  const auto lines = [&](const char* run) {
    std::vector<std::string> found;
    for (const auto& line : read_log_lines(root_ / run / "metrics.jsonl"))
      if (line.find("\"started\"") == std::string::npos && line.find("\"resumed\"") == std::string::npos)
        found.push_back(without_times(line));
    return found;
  };
  const auto join = [](auto a, const auto& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  EXPECT_EQ(join(lines("first"), lines("second")), lines("whole"));
  EXPECT_EQ(join(read_fingerprints(root_ / "first"), read_fingerprints(root_ / "second")),
            read_fingerprints(root_ / "whole"));
  const auto weights = [&](const char* run) {
    return read_file(root_ / run / "weights.safetensors", "weights", uint64_t{1} << 30);
  };
  EXPECT_EQ(weights("second"), weights("whole"));
}

// A run that is stopped anywhere, within an epoch, at its end or within a validation, and resumed, leaves the same
// folder as one that was not.
void RunStateTest::expect_folders_go_on(const Job& job, const fs::path& root) {
  train_job(job, {.out = root / "whole"});
  const auto lines = [&](const fs::path& run) {
    std::vector<std::string> found;
    for (const auto& line : read_log_lines(run / "metrics.jsonl"))
      if (line.find("\"started\"") == std::string::npos && line.find("\"resumed\"") == std::string::npos)
        found.push_back(without_times(line));
    return found;
  };
  const auto text = [](const fs::path& path) { return read_file(path, "file", uint64_t{1} << 30); };
  for (int stopped_by = 1;; ++stopped_by) {
    SCOPED_TRACE(stopped_by);
    const fs::path run = root / std::to_string(stopped_by);
    int asked = 0;
    TrainJobResult result = train_job(job, {.out = run, .stop = [&] { return ++asked >= stopped_by; }});
    if (result.stop_reason != "stopped") break;
    EXPECT_EQ(result.checkpoint, result.iterations);
    Pool pool = Pool::local(1 + stopped_by % 2, {.threads = 1 + stopped_by % 3});
    result = train_job(job, {.pool = &pool, .resume = run});
    EXPECT_EQ(lines(run), lines(root / "whole"));
    for (const char* name : {"fingerprints.txt", "weights.safetensors", "job.toml"})
      EXPECT_EQ(text(run / name), text(root / "whole" / name)) << name;
  }
}

TEST_F(RunStateTest, StoppedRunsGoOnInTheirFolders) {
  expect_folders_go_on(golden("peaks", {{"training.shards", "2", ""}}), root_ / "epochs");
  for (const char* count : {"4", "6"})
    expect_folders_go_on(golden("peaks", {{"training.max_iterations", count, ""}, {"training.shards", "2", ""}}),
                         root_ / count);
}

// One that is taken while the run goes on stays what it is.
TEST_F(RunStateTest, IsAValue) {
  const Job job = golden("peaks");
  const TrainingTask task = task_of(job);
  Worker worker;
  Training training(task, {.write_run = false}, worker);
  for (int i = 0; i < 6; ++i) training.step();
  const RunState six = training.state();
  EXPECT_EQ(six.epochs, 1);
  EXPECT_EQ(six.iterations, 6);
  EXPECT_EQ(six.calls, 6);
  EXPECT_EQ(six.epoch_steps, 2);
  EXPECT_EQ(six.position, (QueuePosition{1, 2, 256}));
  const std::string before = fingerprint(to_tree(six));
  training.step();
  const std::string seven = fingerprint(to_tree(training.state()));
  EXPECT_EQ(fingerprint(to_tree(six)), before);
  training.restore(six);
  training.step();
  EXPECT_EQ(fingerprint(to_tree(training.state())), seven);
  EXPECT_EQ(training.state().calls, 7);
}

TEST_F(RunStateTest, ALossThatIsNotFiniteLeavesTheEpochBefore) {
  const Job job = golden("peaks");
  const TrainingTask task = task_of(job);
  Worker worker;
  const TrainJobControl control{.write_run = false};
  Training training(task, control, worker);
  for (int i = 0; i < 4; ++i) training.step();
  const NetworkWeights first{training.state().now.parameters, training.state().now.state};
  for (int i = 0; i < 2; ++i) training.step();
  RunState state = training.state();
  state.now.parameters = map(state.now.parameters, [](const Tensor& tensor) {
    return Tensor::full(std::nan(""), tensor.shape(), tensor.type());
  });
  save_run_state(root_ / "state", state);
  Training other(task, control, worker);
  other.restore(load_run_state(root_ / "state", other.state()));
  other.step();
  ASSERT_TRUE(other.done());
  const auto result = other.finish();
  EXPECT_EQ(result.stop_reason, "the loss is not finite");
  EXPECT_EQ(result.epochs, 1);
  EXPECT_EQ(result.iterations, 7);
  EXPECT_EQ(result.fingerprint, fingerprint(first.parameters, first.state));
}

RunState any_state() {
  RunState state{.epochs = 3,
                 .iterations = (int64_t{1} << 40) + 5,
                 .position = {2, 4294967295, 4294967296},
                 .calls = std::numeric_limits<int64_t>::max(),
                 .epoch_steps = 2147483648,
                 .loss_sum = 0.1 + 0.2,
                 .now = {},
                 .epoch_start = {}};
  const Tree parameters{{"w", Tensor::from<float>({1, -0.0f, std::numeric_limits<float>::infinity()}, {3})}};
  state.now.parameters = state.epoch_start.parameters = parameters;
  state.now.solver = Tree{{"steps", Tensor::scalar(int32_t{7})}};
  return state;
}

TEST_F(RunStateTest, IsReadAsItWasWritten) {
  const RunState state = any_state();
  save_run_state(root_ / "state", state);
  const RunState read = load_run_state(root_ / "state", state);
  EXPECT_EQ(fingerprint(to_tree(read)), fingerprint(to_tree(state)));
  EXPECT_EQ(read.epochs, state.epochs);
  EXPECT_EQ(read.iterations, state.iterations);
  EXPECT_EQ(read.position, state.position);
  EXPECT_EQ(read.calls, state.calls);
  EXPECT_EQ(read.epoch_steps, state.epoch_steps);
  EXPECT_EQ(read.loss_sum, state.loss_sum);
  EXPECT_TRUE(read.now.state.empty());
}

TEST_F(RunStateTest, OfAnotherRunIsRefused) {
  const RunState state = any_state();
  save_run_state(root_ / "state", state);
  RunState other = state;
  other.now.solver = Tree{{"mean", Tensor::scalar(1.0f)}};
  const std::string text = error_of([&] { load_run_state(root_ / "state", other); });
  EXPECT_TRUE(says(text, "error[RT0520]"));
  EXPECT_TRUE(says(text, "solver/mean is missing"));
  EXPECT_TRUE(says(text, "solver/steps is none of this network"));
  EXPECT_TRUE(says(error_of([&] { load_run_state(root_ / "none", state); }), "none"));
  Tree tree = to_tree(state);
  tree["counters"]["calls"] = Tensor::scalar(1.0);
  EXPECT_TRUE(says(error_of([&] { run_state_from(Tree{{"parameters", tree}}); }), "epoch_start"));

  const Job job = golden("peaks");
  const TrainingTask task = task_of(job);
  Worker worker;
  Training training(task, {.write_run = false}, worker);
  EXPECT_TRUE(says(error_of([&] { training.restore(state); }), "the state of a run and its job"));
  RunState beyond = training.state();
  beyond.position.next = 401;
  EXPECT_TRUE(says(error_of([&] { training.restore(beyond); }), "error[RT0326]"));
}

}  // namespace
}  // namespace retrace
