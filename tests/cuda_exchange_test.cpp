// What workers on CUDA devices exchange: by every way the bits of the CPU, whatever order and delay messages have, and
// an error that names who is lost. NCCL is a library of these tests (tests/fake_nccl).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "retrace/distributed/courier.h"
#include "retrace/ops/all_reduce/all_reduce_op.h"
#include "retrace/retrace.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

[[maybe_unused]] const int emulated =
    setenv("RETRACE_CUDA_EMULATION", "4", 1) + setenv("RETRACE_NCCL", FAKE_NCCL_FILE, 1);

class CudaExchange : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (gpu_count() < 4) GTEST_SKIP() << "no emulated devices";
    setenv("RETRACE_EXCHANGE", GetParam(), 1);
  }
  void TearDown() override { unsetenv("RETRACE_EXCHANGE"), unsetenv("FAKE_NCCL"); }
};

// Shards of unequal sizes, some of them no whole subtree.
std::string trained(const char* device, int workers) {
  const Job job = read_job("tests/golden/1/digits.toml", {{"device", device, ""},
                                                          {"training.shards", "5", ""},
                                                          {"training.max_epochs", "1", ""},
                                                          {"training.mini_batch_size", "7", ""},
                                                          {"data.train_samples", "14", ""},
                                                          {"data.test_samples", "4", ""}});
  Pool pool = Pool::local(workers);
  return train_job(job, {.pool = &pool, .write_run = false}).fingerprint;
}

TEST_P(CudaExchange, TrainsToTheFingerprintOfTheCpu) {
  if (*GetParam() == 'a' || *GetParam() == 'h') GTEST_SKIP() << "test_cuda_workers trains so";
  static const std::string expected = trained("cpu", 1);
  for (int workers : {2, 4}) EXPECT_EQ(trained("cuda", workers), expected) << workers << " workers";
}

// Tensors of odd sizes and other types, empty ones, and shards that are absent.
std::vector<float> exchanged(const char* device, int workers) {
  const auto all = Pool::local(workers).spmd([&](Worker& worker) {
    Device& own = find_device(device, worker.index());
    std::vector<float> found;
    for (int64_t size : {0, 1, 15, 16, 17, 1000, 5001}) {
      const ShardSplit split{7, 6, workers, worker.index()};
      std::vector<Tensor> sums, bytes;
      auto runs = split.runs(worker.index());
      if (runs.empty()) runs.push_back({});  // a worker without samples gives the shape
      for (const Range& run : runs) {
        std::vector<float> values(static_cast<size_t>(size));
        for (size_t i = 0; i < values.size(); ++i)
          values[i] = 1.0f / static_cast<float>(static_cast<int64_t>(i) + 3 * run.first + 1);
        sums.push_back(Tensor::from(values, {size}).to(own));
        bytes.push_back(Tensor::from<uint8_t>({static_cast<uint8_t>(run.first), 2, 3}, {3}).to(own));
      }
      const Tensor sum = all_reduce(sums, split), given = all_gather(bytes, split);
      for (float x : sum.to_vector<float>()) found.push_back(x);
      for (uint8_t x : given.to_vector<uint8_t>()) found.push_back(x);
    }
    return found;
  });
  for (const auto& each : all) EXPECT_EQ(each, all[0]);
  return all[0];
}

TEST_P(CudaExchange, AddsAlongTheTreeOfTheContract) {
  for (int workers : {2, 3, 4}) EXPECT_EQ(exchanged("cuda", workers), exchanged("cpu", workers)) << workers;
}

TEST_P(CudaExchange, TakesTheWayThatIsAskedFor) {
  Pool::local(2).spmd([](Worker& worker) {
    auto& courier = static_cast<Courier&>(worker.group());
    const Tensor part = Tensor::full(1, {8}).to(find_device("cuda", worker.index()));
    all_reduce(std::vector<Tensor>{part}, {2, 2, 2, worker.index()}).to_vector<float>();
    EXPECT_STREQ(courier.way(), *GetParam() == 'a' ? "peer" : GetParam());
  });
}

TEST_P(CudaExchange, NamesAWorkerThatFails) {
  const std::string text = error_of([] {
    Pool::local(4).spmd([](Worker& worker) {
      const Tensor part = Tensor::full(1, {100}).to(find_device("cuda", worker.index()));
      const ShardSplit split{4, 4, 4, worker.index()};
      for (int i = 0; i < 4; ++i) {
        if (i == 2 && worker.index() == 3) throw Error(ErrorKind::usage, 901, "a bad day");
        all_reduce(std::vector<Tensor>{part}, split).to_vector<float>();
      }
    });
  });
  EXPECT_TRUE(says(text, "worker 3: "));
  EXPECT_TRUE(says(text, "a bad day"));
}

TEST_P(CudaExchange, NamesAWorkerThatDoesNotCome) {
  const std::string text = error_of([] {
    Pool::local(3, {.timeout = 1}).spmd([](Worker& worker) {
      const Tensor part = Tensor::full(1, {100}).to(find_device("cuda", worker.index()));
      const ShardSplit split{3, 3, 3, worker.index()};
      all_reduce(std::vector<Tensor>{part}, split).to_vector<float>();
      if (worker.index() == 1) std::this_thread::sleep_for(std::chrono::seconds(4));
      all_reduce(std::vector<Tensor>{part}, split).to_vector<float>();
    });
  });
  EXPECT_TRUE(says(text, "worker 1"));
}

TEST_P(CudaExchange, TakesWhatLeavesItsDeviceOverTheHostOnly) {
  const std::string text = error_of([] {
    Pool::local(2, {.timeout = 2}).spmd([](Worker& worker) {
      const ShardSplit split{2, 2, 2, worker.index()};
      const Tensor part = Tensor::full(1, {100}), there = part.to(find_device("cuda", worker.index()));
      all_reduce(std::vector<Tensor>{there}, split).to_vector<float>();
      all_reduce(std::vector<Tensor>{worker.index() == 1 ? part : there}, split).to_vector<float>();
    });
  });
  EXPECT_TRUE(says(text, *GetParam() == 'h' ? "no error" : "worker 0 on a device, worker 1 on the CPU"));
}

INSTANTIATE_TEST_SUITE_P(Ways, CudaExchange, testing::Values("auto", "host", "peer", "nccl"),
                         [](const auto& one) { return std::string(one.param); });

class CudaNccl : public CudaExchange {
 protected:
  static std::string text_of_training(const char* mishap) {
    setenv("FAKE_NCCL", mishap, 1);
    return error_of([] {
      Pool::local(3, {.timeout = 1}).spmd([](Worker& worker) {
        const Tensor part = Tensor::full(1, {100}).to(find_device("cuda", worker.index()));
        for (int i = 0; i < 5; ++i) all_reduce(std::vector<Tensor>{part}, {3, 3, 3, worker.index()}).to_vector<float>();
      });
    });
  }
};

TEST_P(CudaNccl, EndsWhenMessagesDoNotArrive) {
  const std::string text = text_of_training("drop=2");
  EXPECT_TRUE(says(text, "what workers sent by NCCL did not arrive within 1 seconds"));
  EXPECT_TRUE(says(text, "still wait"));
}

TEST_P(CudaNccl, BringsAnErrorOfNccl) {
  const std::string text = text_of_training("fail=1");
  EXPECT_TRUE(says(text, "NCCL fails between the workers' devices: worker 1"));
}

TEST_P(CudaNccl, NeedsADeviceForEachWorker) {
  const std::string text = error_of([] {
    Pool::local(2).spmd([](Worker& worker) {
      const Tensor part = Tensor::full(1, {100}).to(find_device("cuda:0"));
      all_reduce(std::vector<Tensor>{part}, {2, 2, 2, worker.index()}).to_vector<float>();
    });
  });
  EXPECT_TRUE(says(text, "workers 0 and 1 share a device"));
}

INSTANTIATE_TEST_SUITE_P(Ways, CudaNccl, testing::Values("nccl"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace retrace
