#include "retrace/train/automatic_workers.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "retrace/device/cpu/threads.h"
#include "retrace/device/device.h"

namespace retrace {
namespace {

TEST(AutomaticWorkers, ShareTheCoresOutOnTheCpu) {
  const int cores = cores_of_process();
  for (const int64_t shards : {1, 2, 3, 1000}) {
    const WorkerPlan plan = automatic_workers("cpu", shards, 1);
    EXPECT_EQ(plan.workers, std::min<int64_t>(cores, shards));
    EXPECT_EQ(plan.loaders, 0);
    EXPECT_EQ(loader_threads(plan), 1);
  }
  EXPECT_EQ(automatic_workers("cpu", 1000, 2 * cores).workers, 1);  // one needs all cores
  const ThreadCountScope threads(cores);
  EXPECT_EQ(automatic_workers("cpu", 1000, 0).workers, 1);
}

TEST(AutomaticWorkers, OfAPoolThatAreMoreThanShardsLoad) {
  const WorkerPlan plan = automatic_workers("cpu", 4, 0, 10);
  EXPECT_EQ(plan.workers, 4);
  EXPECT_EQ(plan.loaders, 6);
  EXPECT_EQ(loader_threads({4, 6}), 1);
  EXPECT_EQ(loader_threads({4, 9}), 2);
  EXPECT_EQ(loader_threads({1, 100}), 8);
  EXPECT_EQ(automatic_workers("cpu", 4, 0, 3).workers, 3);
  EXPECT_EQ(automatic_workers("cpu", 4, 0, 3).loaders, 0);
}

TEST(AutomaticWorkers, AreOneForEachGpu) {
  EXPECT_EQ(gpu_count("cpu"), 0);
  if (!can_use_gpu()) GTEST_SKIP() << "there is no CUDA device";
  EXPECT_EQ(gpu_count("auto"), gpu_count());
  EXPECT_EQ(gpu_count("cuda:0"), 1);
  EXPECT_EQ(gpu_count("gpu:0,0"), 1);
  const WorkerPlan plan = automatic_workers("cuda:0", 4, 0);
  EXPECT_EQ(plan.workers, 1);
  EXPECT_EQ(plan.loaders, std::max(1, cores_of_process()) - 1);
  EXPECT_EQ(automatic_workers("cuda:0", 4, 0, 3).workers, 1);
  EXPECT_GE(automatic_workers("cuda:0", 4, 0, 3).loaders, 2);
}

}  // namespace
}  // namespace retrace
