// Trainings on a CUDA device, whose losses are read one step late: they tell and leave what they do on the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "retrace/base/file.h"
#include "retrace/device/cuda/embedded.h"
#include "retrace/monitor/monitor.h"
#include "retrace/retrace.h"
#include "retrace/train/step_log.h"
#include "retrace/train/train_job.h"
#include "tests/fake_cuda/fake_cuda.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

// Losses by iteration, as a training tells of them, and a look at each.
struct Losses : Monitor {
  void receive(const Event& event) override {
    if (const auto* step = std::get_if<StepDone>(&event)) {
      steps.emplace_back(step->iteration, step->loss);
      if (look) look(step->iteration);
    }
    if (const auto* epoch = std::get_if<EpochDone>(&event)) epochs.push_back(epoch->loss);
  }
  std::vector<std::pair<int64_t, double>> steps;
  std::vector<double> epochs;
  std::function<void(int64_t)> look;
};

Job job_on(const std::string& device, std::vector<JobOverride> more = {}) {
  std::vector<JobOverride> overrides = {{"device", device, ""},
                                        {"training.max_epochs", "3", ""},
                                        {"training.mini_batch_size", "4", ""},
                                        {"data.train_samples", "36", ""},
                                        {"data.test_samples", "9", ""}};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return read_job("tests/golden/1/peaks.toml", overrides);
}

class CudaLateLoss : public testing::Test {
 protected:
  void SetUp() override {
    setenv("RETRACE_CUDA_EMULATION", "1", 0);
    if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  }

  struct Trained {
    Losses losses;
    TrainJobResult result;
    std::string log;  // steps.jsonl
  };
  Trained train(const Job& job, TrainJobControl control = {}) {
    Trained trained;
    const TemporaryFolder folder;
    control.monitor = &trained.losses;
    control.out = folder.path() / "run";
    trained.result = train_job(job, control);
    if (!trained.result.run_dir.empty())
      trained.log = read_file(step_log_path(trained.result.run_dir), "step log", 1 << 20);
    return trained;
  }
  void expect_equal(const Trained& here, const Trained& there) {
    ASSERT_EQ(here.losses.steps.size(), there.losses.steps.size());
    for (size_t i = 0; i < here.losses.steps.size(); ++i) {
      EXPECT_EQ(here.losses.steps[i].first, there.losses.steps[i].first);
      const double a = here.losses.steps[i].second, b = there.losses.steps[i].second;
      EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << i << ": " << a << ", " << b;
    }
    EXPECT_EQ(here.losses.epochs, there.losses.epochs);
    EXPECT_EQ(here.log, there.log);
    EXPECT_EQ(here.result.stop_reason, there.result.stop_reason);
    EXPECT_EQ(here.result.fingerprint, there.result.fingerprint);
    EXPECT_EQ(here.result.iterations, there.result.iterations);
    EXPECT_EQ(here.result.output_iteration, there.result.output_iteration);
    EXPECT_EQ(here.result.epochs, there.result.epochs);
  }
};

TEST_F(CudaLateLoss, StepsEpochsLogAndFingerprintAreThoseOfTheCpu) {
  for (const auto& more : std::vector<std::vector<JobOverride>>{
           {},
           {{"training.fingerprint_iterations", "4", ""}},
           {{"training.checkpoint_iterations", "5", ""}},
           {{"training.snapshot_iterations", "2", ""}},
           {{"validation.frequency", "4", ""}, {"validation.unit", "iterations", ""}}})
    expect_equal(train(job_on("cpu", more)), train(job_on("cuda", more)));
}

// In the middle of an epoch: the step behind it, which the device has begun, is told nowhere.
TEST_F(CudaLateLoss, ALossThatIsNotFiniteEndsTheTrainingWhereItDoesOnTheCpu) {
  const std::vector<JobOverride> more = {{"training.initial_learn_rate", "1e6", ""}, {"training.solver", "sgdm", ""}};
  const Trained here = train(job_on("cpu", more));
  ASSERT_EQ(here.result.stop_reason, "the loss is not finite");
  ASSERT_GT(here.result.iterations, 1);
  ASSERT_NE(here.result.iterations % 9, 0) << "not the last of an epoch";
  expect_equal(here, train(job_on("cuda", more)));
}

TEST_F(CudaLateLoss, AStopFromOutsideLeavesACheckpointThatGoesOn) {
  const Trained whole = train(job_on("cpu"));
  const TemporaryFolder folder;
  int asked = 0;
  TrainJobControl control;
  control.out = folder.path() / "run";
  control.stop = [&] { return ++asked >= 4; };
  const auto stopped = train_job(job_on("cuda"), control);
  EXPECT_EQ(stopped.stop_reason, "stopped");
  EXPECT_LT(stopped.iterations, 9);
  TrainJobControl again;
  again.resume = stopped.run_dir;
  EXPECT_EQ(train_job(job_on("cuda"), again).fingerprint, whole.result.fingerprint);
}

// On a driver that gives the same memory again, as the real one does: no launch of a step's graph is changed.
int changes_of_launches() {
  setenv("RETRACE_CUDA_EMULATION", "off", 1);
  setenv("RETRACE_CUDA_DRIVER", FAKE_CUDA_FILE, 1);
  int third = 0, last = 0;
  Losses losses;
  losses.look = [&](int64_t iteration) {
    const int now = fake_cuda::calls("cuGraphExecKernelNodeSetParams_v2");
    (iteration <= 3 ? third : last) = now;
  };
  const Job job = job_on("cuda", {{"training.max_epochs", "1", ""},
                                  {"training.mini_batch_size", "400", ""},
                                  {"data.train_samples", "3600", ""},
                                  {"validation.data", "none", ""}});
  train_job(job, {.write_run = false, .monitor = &losses});
  if (losses.steps.size() != 9 || fake_cuda::calls("cuGraphLaunch") < 9) return 100;
  return last - third;
}

// In a process of its own, where nothing has used a device yet.
TEST(CudaSteadyStep, ChangesNoLaunch) {
  if (cuda::kernel_images().empty()) GTEST_SKIP() << "built without nvcc";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::exit(changes_of_launches()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace retrace
