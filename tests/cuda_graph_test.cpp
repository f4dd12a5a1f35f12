// The edges of graphs on the emulated device: launches in any order that they allow give the bits of the CPU, and an
// edge that is missing is found.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "retrace/device/cuda/emulation/emulation.h"
#include "retrace/plan/cuda/launch_edges.h"
#include "retrace/retrace.h"
#include "retrace/run/plan_cache.h"
#include "retrace/train/job_data.h"
#include "retrace/train/train_job.h"
#include "retrace/train/training_step.h"

namespace retrace {
namespace {

[[maybe_unused]] const int emulated = setenv("RETRACE_CUDA_EMULATION", "1", 1);

using cuda::Edges;
using cuda::emulation::Order;

// Two steps of a golden job (of CIFAR-10's four), and a test of the network.
std::string trained(const std::string& name, const std::string& device) {
  const std::string batch = name == "cifar10" ? "1" : "2";
  plan_cache().clear();
  const Job job = read_job("tests/golden/1/" + name + ".toml", {{"device", device, ""},
                                                                {"training.max_epochs", "1", ""},
                                                                {"training.mini_batch_size", batch, ""},
                                                                {"data.train_samples", "4", ""},
                                                                {"data.test_samples", "4", ""}});
  return train_job(job, {.write_run = false}).fingerprint;
}

size_t count_of(const Edges& edges) {
  size_t count = 0;
  for (const auto& one : edges) count += one.size();
  return count;
}

class CudaGraph : public testing::Test {
 protected:
  ~CudaGraph() override {
    cuda::emulation::set_order(Order::ascending);
    cuda::emulation::leave_out_edge(-1);
  }
};

TEST_F(CudaGraph, AnyOrderThatTheEdgesAllowGivesTheBitsOfTheCpu) {
  for (const char* name : {"peaks", "digits", "autoencoder", "cifar10"}) {
    const std::string expected = trained(name, "cpu");
    cuda::emulation::set_order(Order::ascending);
    EXPECT_EQ(trained(name, "cuda"), expected) << name;
    cuda::emulation::set_order(Order::descending);
    EXPECT_EQ(trained(name, "cuda"), expected) << name << ", descending";
    for (const uint64_t seed : {1u, 2u}) {
      cuda::emulation::set_order(Order::seeded, seed);
      EXPECT_EQ(trained(name, "cuda"), expected) << name << ", seed " << seed;
    }
  }
}

// A product, a chain and sums, over two inputs and an arena that is used again.
Tensor several(const Tensor& a, const Tensor& b) {
  const Tensor product = matmul(a, b), other = matmul(b, a);
  const Tensor mixed = matmul(product, relu(other)) + product;
  return sum(mixed) + sum(matmul(mixed, other)) * 0.5f;
}

TEST_F(CudaGraph, EveryEdgeIsNeeded) {
  cuda::emulation::set_checks(true);
  Device& device = *gpus()[0];
  const Tensor a = uniform({40, 40}, random_key(1)).to(device), b = uniform({40, 40}, random_key(2)).to(device);
  const auto compute = [&](int64_t missing) {
    plan_cache().clear();
    cuda::emulation::leave_out_edge(missing);
    const auto f = accelerate(several);
    return f(a, b).item<float>();
  };
  compute(-1);
  const size_t edges = count_of(cuda::emulation::newest_edges());
  ASSERT_GE(edges, 5u);
  for (size_t edge = 0; edge < edges; ++edge) {
    try {
      compute(static_cast<int64_t>(edge));
      ADD_FAILURE() << "edge " << edge << " is missing, and nothing is found";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), 797) << error.what();
    }
  }
}

// A step of the demo's network in plans that each lack one edge; every seventh, since each takes half a second. (Number
// 27 guards the end of a filter gradient's workspace, which another mode fills.)
TEST_F(CudaGraph, AMissingEdgeOfAStepIsFound) {
  cuda::emulation::set_checks(true);
  Device& device = *gpus()[0];
  const Job job = read_job("tests/golden/1/digits.toml");
  const nn::Network network = models::digits(random_key(1));
  const Tensor x = Tensor::full(0.5, {4, 28, 28, 1}, DType::f32, "BSSC").to(device);
  const Tree targets =
      Tree{{"class", Tensor::zeros({4}, DType::i32, "B")}, {"angle", Tensor::zeros({4, 1}, DType::f32, "BC")}}.to(
          device);
  const TrainingState state = initial_training_state(network, job.training).to(device);
  evaluate();
  const auto is_found = [&](int64_t missing) {
    plan_cache().clear();
    cuda::emulation::leave_out_edge(missing);
    try {
      accelerate(training_step(job.training, job.seed, network))(state, x, targets, 0.001f).loss.number();
      return false;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), 797) << error.what();
      return true;
    }
  };
  EXPECT_FALSE(is_found(-1));
  const auto edges = static_cast<int64_t>(count_of(cuda::emulation::newest_edges()));
  for (int64_t edge = 0; edge < edges; edge += 7) EXPECT_TRUE(is_found(edge)) << edge;
}

}  // namespace
}  // namespace retrace
