// What a program keeps in statics on a CUDA device may outlive main: it ends as it asks to, on the emulated device and
// with a driver that ends before the program's own statics; also out of the middle of a training, and after an error.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "retrace/monitor/monitor.h"
#include "retrace/retrace.h"
#include "retrace/train/train_job.h"

namespace retrace {
namespace {

Tensor kept;
Tree tree;
std::function<Tensor(const Tensor&)> accelerated;

// In a process of its own, where nothing has used a device yet.
void keep_and_exit(bool computes) {
  if (!can_use_gpu()) std::exit(5);
  Device& cuda = *gpus()[0];
  kept = Tensor::full(2, {1000}).to(cuda);
  tree = Tree{{"inner", Tree{{"weights", Tensor::full(1, {3, 4}).to(cuda)}}}};
  if (computes) {
    accelerated = accelerate([](const Tensor& x) { return sum(matmul(x, x) + 1.0f); });
    kept = accelerated(Tensor::full(1, {4, 4}).to(cuda));
  }
  std::exit(kept.to_vector<float>()[0] == (computes ? 80 : 2) ? 0 : 6);
}

struct Look : Monitor {
  explicit Look(std::function<void(const Event&)> given) : look(std::move(given)) {}
  void receive(const Event& event) override { look(event); }
  std::function<void(const Event&)> look;
};

// A training whose events are looked at, while tensors of the device lie in statics.
void train_and_look(std::function<void(const Event&)> at_event) {
  kept = Tensor::full(2, {1000}).to(*gpus()[0]);
  Look look(std::move(at_event));
  TrainJobControl control;
  control.monitor = &look;
  const std::vector<JobOverride> small = {{"device", "cuda", ""},
                                          {"training.max_epochs", "2", ""},
                                          {"data.train_samples", "36", ""},
                                          {"data.test_samples", "9", ""},
                                          {"training.mini_batch_size", "4", ""}};
  train_job(read_job("tests/golden/1/peaks.toml", small), control);
}

bool is_step(const Event& event, int64_t iteration) {
  const auto* step = std::get_if<StepDone>(&event);
  return step && step->iteration == iteration;
}

class CudaExit : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(CudaExit, TensorsMayOutliveADriver) {
  const auto keep = [] {
    setenv("RETRACE_CUDA_EMULATION", "off", 1);
    setenv("RETRACE_CUDA_DRIVER", FAKE_CUDA_FILE, 1);
    keep_and_exit(false);
  };
  EXPECT_EXIT(keep(), testing::ExitedWithCode(0), "");
}

// Emulated where no other is asked for.
TEST_F(CudaExit, TensorsAndPlansMayOutliveTheDevice) {
  setenv("RETRACE_CUDA_EMULATION", "1", 0);
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  EXPECT_EXIT(keep_and_exit(true), testing::ExitedWithCode(0), "");
}

TEST_F(CudaExit, ATrainingMayExitAtAnyStep) {
  setenv("RETRACE_CUDA_EMULATION", "1", 0);
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  for (const int64_t iteration : {1, 2, 9, 18}) {
    const auto train = [=] {
      train_and_look([=](const Event& event) {
        if (is_step(event, iteration)) std::exit(7);
      });
    };
    EXPECT_EXIT(train(), testing::ExitedWithCode(7), "") << iteration;
  }
}

TEST_F(CudaExit, ATrainingMayEndWithAnError) {
  setenv("RETRACE_CUDA_EMULATION", "1", 0);
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  const auto fail_and_exit = [] {
    try {
      train_and_look([](const Event& event) {
        if (is_step(event, 5)) throw std::runtime_error("out of a step");
      });
    } catch (const std::runtime_error&) {  // the device still works
      std::exit(sum(kept * 2.0f).to_vector<float>()[0] == 4000 ? 8 : 9);
    }
  };
  EXPECT_EXIT(fail_and_exit(), testing::ExitedWithCode(8), "");
}

}  // namespace
}  // namespace retrace
