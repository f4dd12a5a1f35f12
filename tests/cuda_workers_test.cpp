// Workers on CUDA devices, of which two are emulated where no others are asked for: the bits of the CPU, a device for
// each worker, and errors that reach the caller.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "retrace/ops/all_reduce/all_reduce_op.h"
#include "retrace/retrace.h"
#include "retrace/train/train_job.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

[[maybe_unused]] const int emulated = setenv("RETRACE_CUDA_EMULATION", "2", 0);

#ifdef NDEBUG
constexpr int kFewest = 1;
#else
constexpr int kFewest = 3;  // sanitizers take long
#endif

class CudaWorkers : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  }
};

// Two steps of digits with mini-batches of 7: shards of 2, 2, 2 and 1 samples.
TrainJobResult train_digits(const char* device, int workers) {
  const Job job = read_job("tests/golden/1/digits.toml", {{"device", device, ""},
                                                          {"training.shards", "4", ""},
                                                          {"training.max_epochs", "1", ""},
                                                          {"training.mini_batch_size", "7", ""},
                                                          {"data.train_samples", "14", ""},
                                                          {"data.test_samples", "4", ""}});
  Pool pool = Pool::local(workers);
  return train_job(job, {.pool = &pool, .write_run = false});
}

TEST_F(CudaWorkers, TrainToTheFingerprintOfTheCpu) {
  const auto expected = train_digits("cpu", 1);
  for (int workers = kFewest; workers <= 3; ++workers) {
    const auto found = train_digits("cuda", workers);
    EXPECT_EQ(found.fingerprint, expected.fingerprint) << workers << " workers";
    EXPECT_EQ(found.device, "cuda:0");
    EXPECT_EQ(found.workers, workers);
    EXPECT_EQ(found.loss, expected.loss);
    EXPECT_EQ(found.metrics, expected.metrics);
  }
}

TEST_F(CudaWorkers, HaveTheDevicesInTurn) {
  const auto devices = Pool::local(5).spmd([](Worker& worker) {
    const auto name = [&](const char* of) { return find_device(of, worker.index()).name(); };
    return fmt::format("{} {} {} {}", name("cuda"), name("auto"), name("cuda:0"), name("cpu"));
  });
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(devices[static_cast<size_t>(i)], fmt::format("cuda:{0} cuda:{0} cuda:0 cpu", i % gpu_count()));
  if (gpu_count() < 2) GTEST_SKIP() << "one device";
  EXPECT_EQ(find_device("cuda:1,0", 0).name(), "cuda:1");
  EXPECT_EQ(find_device("cuda:1,0", 1).name(), "cuda:0");
  EXPECT_EQ(find_device("cuda:1,0", 2).name(), "cuda:1");
}

TEST_F(CudaWorkers, AreToldWhichDeviceIsAbsent) {
  EXPECT_TRUE(says(error_of([] { find_device("cuda:0,77"); }), "device cuda:77 is not available: there "));
  EXPECT_TRUE(says(error_of([] { train_digits("cuda:77", 2); }), "device cuda:77 is not available: there "));
  for (const char* name : {"cuda:", "cuda:0,", "cuda:,0", "cuda:0;1", "cuda:-1", "cuda: 0", "cuda:1000", "gpus"}) {
    EXPECT_FALSE(is_device_name(name)) << name;
    EXPECT_TRUE(says(error_of([&] { find_device(name); }), "unknown device")) << name;
  }
}

// Sums of different types and sizes, and what is gathered, in one step; recorded, replayed, and planned anew.
TEST_F(CudaWorkers, ExchangeWhatStepsAdd) {
  const auto loss = [](const Tree& p, const Tensor& x) {
    const Tensor y = matmul(x, p["weights"]);
    Tree aux{{"rows", y}};
    aux["sum"] = sum_over_shards(sum(x));
    aux["moments"] = batch_norm(y, p["scale"], p["offset"]).moments;
    return WithAux<Tree>{mean(square(y)), aux};
  };
  const Tree parameters{{"weights", Tensor::from<float>({0.5f, -1, 2, 0.25f, 3, -0.125f}, {3, 2})},
                        {"scale", Tensor::full(1, {2})},
                        {"offset", Tensor::zeros({2})}};
  const auto run = [&](const char* name, int workers) {
    return Pool::local(workers).spmd([&](Worker& worker) {
      Device& device = find_device(name, worker.index());
      std::vector<float> values(33);
      for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 37) % 19) / 8 - 1;
      const MiniBatchQueue whole(array_store({Tensor::from(values, {11, 3})}),
                                 {.mini_batch_size = 5, .formats = {"BC"}, .devices = {name}});
      MiniBatchQueue queue = whole.share(worker, 3);
      const auto step = accelerate(value_and_grad(loss, {.shards = 3, .worker = &worker}));
      std::string text;
      while (worker.all(queue.has_data())) {
        const auto [x] = queue.next<1>();
        EXPECT_EQ(x.device().name(), device.name());
        auto [value, gradients, aux] = step(parameters.to(device), x);
        aux["rows"] = Tensor::zeros({1});  // of this worker's samples
        text += fmt::format("{} {} {:a}\n", fingerprint(gradients), fingerprint(aux), value.number());
      }
      return text;
    });
  };
  const std::string expected = run("cpu", 1)[0];
  for (const char* name : {"cuda", "cuda:0"})
    for (int workers : {1, 2, 3})
      for (const auto& found : run(name, workers)) EXPECT_EQ(found, expected) << workers << " workers, " << name;
}

TEST_F(CudaWorkers, SendTensorsThatArriveOnTheCpu) {
  Pool::local(2).spmd([](Worker& worker) {
    const Tensor mine = Tensor::full(worker.index() + 1, {3}).to(find_device("cuda", worker.index()));
    const Tensor total = worker.sum(mine * mine);
    EXPECT_EQ(total.device().name(), "cpu");
    EXPECT_EQ(total.to_vector<float>(), std::vector<float>(3, 5.0f));
  });
}

// A worker that fails is named, and none waits for it for ever.
TEST_F(CudaWorkers, BringTheErrorOfAWorker) {
  const std::string text = error_of([] {
    Pool::local(2).spmd([](Worker& worker) {
      Device& device = find_device("cuda:0");
      const ShardSplit split{2, 2, 2, worker.index()};
      const Tensor part = Tensor::full(worker.index() + 1, {1000}).to(device);
      EXPECT_EQ(all_reduce(std::vector<Tensor>{part}, split).to_vector<float>()[999], 3.0f);
      const Tensor again = all_reduce(std::vector<Tensor>{part * part}, split);
      if (worker.index() == 1) throw Error(ErrorKind::usage, 901, "a bad day");
      again.to_vector<float>();
    });
  });
  EXPECT_TRUE(says(text, "worker 1: "));
  EXPECT_TRUE(says(text, "a bad day"));
}

}  // namespace
}  // namespace retrace
