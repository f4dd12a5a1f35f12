// Every solver makes the same bits with any threads, workers and devices, traced or not, and goes on from a checkpoint.
#include <gtest/gtest.h>

#include <cstdlib>

#include "retrace/device/device.h"
#include "retrace/optim/solver_kind.h"
#include "retrace/retrace.h"
#include "tests/small_emulation.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

Tensor values(const Shape& shape, int64_t seed, const std::string& labels = "") {
  return uniform(shape, random_key(static_cast<uint64_t>(seed)), {.labels = labels}) * 2 - 1;
}

// A matrix that is tall, one that is wide, filters, and vectors.
TrainedNetwork trained(const std::string& solver, const std::function<void(TrainNetworkOptions&)>& change) {
  static const Datastore data = array_store({values({24, 4, 4, 2}, 1, "BSSC"), values({24, 2}, 2, "BC")});
  const nn::Sequential layers{nn::conv2d(3, 3, {.padding = same}), nn::relu(), nn::linear(3), nn::tanh(),
                              nn::linear(2)};
  TrainNetworkOptions options{.training = {.solver = solver, .max_epochs = 3, .mini_batch_size = 8, .shards = 2},
                              .seed = 3,
                              .device = "cpu",
                              .threads = 1};
  change(options);
  return train_network(data, layers, "mean-squared-error", options);
}

class Solvers : public testing::TestWithParam<std::string> {
 protected:
  std::string bits(const std::function<void(TrainNetworkOptions&)>& change) {
    return trained(GetParam(), change).info.fingerprint;
  }
};

TEST_P(Solvers, MakeTheSameBits) {
  const std::string expected = bits([](auto&) {});
  EXPECT_EQ(bits([](auto& options) { options.threads = 3; }), expected);
  EXPECT_EQ(bits([](auto& options) { options.workers = 2; }), expected);
  EXPECT_EQ(bits([](auto& options) { options.training.acceleration = "plain"; }), expected);
  if (can_use_gpu()) {
    EXPECT_EQ(bits([](auto& options) { options.device = "cuda"; }), expected);
  }
  EXPECT_NE(bits([](auto& options) { options.training.max_epochs = 2; }), expected);
}

TEST_P(Solvers, GoOnFromACheckpoint) {
  const auto whole = trained(GetParam(), [](auto&) {});
  const TemporaryFolder folder;
  const auto out = (folder.path() / "run").string();
  const auto first = trained(GetParam(), [&](auto& options) {
    options.out = out;
    options.output_function = [](const auto& progress) { return progress.step.iteration == 4; };
  });
  EXPECT_EQ(first.info.stop_reason, "stopped");
  const auto second = trained(GetParam(), [&](auto& options) { options.out = out, options.resume = true; });
  EXPECT_EQ(second.info.steps.size(), 5u);
  EXPECT_EQ(second.info.fingerprint, whole.info.fingerprint);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& solver : all_solvers())  // the others: retrace/train/full_batch_job_test.cpp
    if (solver.update) all.push_back(solver.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Solvers, testing::ValuesIn(names()), [](const auto& info) { return info.param; });

// Those that look at all data in each step; retrace/train/full_batch_job_test.cpp has the rest.
TEST(FullBatchSolvers, MakeTheSameBits) {
  for (const auto& kind : all_solvers()) {
    if (!kind.step_on_all) continue;
    const auto bits = [&](const std::function<void(TrainNetworkOptions&)>& change) {
      return trained(kind.name, change).info.fingerprint;
    };
    const std::string expected = bits([](auto&) {});
    EXPECT_EQ(bits([](auto& options) { options.threads = 3; }), expected) << kind.name;
    EXPECT_EQ(bits([](auto& options) { options.workers = 2; }), expected) << kind.name;
    EXPECT_EQ(bits([](auto& options) { options.training.acceleration = "plain"; }), expected) << kind.name;
    if (can_use_gpu()) {
      EXPECT_EQ(bits([](auto& options) { options.device = "cuda"; }), expected) << kind.name;
    }
    EXPECT_NE(bits([](auto& options) { options.training.max_epochs = 2; }), expected) << kind.name;
  }
}

// A loop of one's own has what a training has.
TEST(SolverUpdate, IsTheStepOfATraining) {
  const Tree parameters{{"linear_1", {{"bias", values({3}, 3)}, {"weights", values({3, 5}, 4)}}}};
  for (const auto& kind : all_solvers()) {
    if (!kind.update) continue;
    const Solver solver{kind.name};
    SolverUpdate made{parameters, {}}, again{parameters, solver_state(parameters, solver)};
    for (int i = 0; i < 2; ++i) {
      made = solver_update(made.parameters, parameters, made.state, 0.01, solver);
      again = kind.update(again.parameters, parameters, again.state, 0.01, with_standard_values({}, kind.options));
    }
    EXPECT_EQ(fingerprint(made.parameters), fingerprint(again.parameters)) << kind.name;
    EXPECT_EQ(fingerprint(made.state), fingerprint(again.state)) << kind.name;
  }
}

}  // namespace
}  // namespace retrace
