#include "retrace/device/cuda/driver/driver_runtime.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

#include "retrace/base/error.h"
#include "retrace/device/cuda/driver/driver_copies.h"
#include "tests/fake_cuda/fake_cuda.h"

namespace retrace::cuda {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr std::array<std::byte, 2> kImage{std::byte{'0'}};  // packed as it is
constexpr std::array<KernelImage, 2> kImages = {{{"first.cu", kImage.data(), kImage.data() + 2, "a b c scale "},
                                                 {"second.cu", kImage.data(), kImage.data() + 2, "scale_2 "}}};

struct Numbers {
  int64_t count;
  float factor;
};

class CudaDriverRuntime : public testing::Test {
 protected:
  CudaDriverRuntime() {
    setenv("RETRACE_CUDA_DRIVER", FAKE_CUDA_FILE, 1);
    start({{"Fake H100"}});
  }
  ~CudaDriverRuntime() override { unsetenv("RETRACE_CUDA_DRIVER"); }

  void start(std::vector<fake_cuda::Device> devices, std::span<const KernelImage> images = kImages) {
    runtimes_.clear();
    fake_cuda::reset(std::move(devices));
    runtimes_ = driver_runtimes(why_not_, images);
  }
  Runtime& runtime() { return *runtimes_.at(0); }

  Launch launch_of(const char* kernel, float factor) {
    Launch launch;
    launch.kernel = &runtime().find_kernel(kernel);
    launch.blocks = {2, 3, 4}, launch.threads = {32, 2, 1};
    launch.set(Numbers{7, factor});
    return launch;
  }
  static float factor_of(const fake_cuda::Launched& launched) {
    Numbers numbers;
    EXPECT_EQ(launched.arguments.size(), sizeof numbers);
    std::memcpy(&numbers, launched.arguments.data(), sizeof numbers);
    return numbers.factor;
  }

  std::string why_not_;
  std::vector<std::unique_ptr<Runtime>> runtimes_;
};

template <class Body>
Error error_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::usage, 0, "no error was thrown");
}

TEST_F(CudaDriverRuntime, ListsTheDevicesThatCanRunOurKernels) {
  start({{"Fake P100", 60}, {"Fake A100", 80}, {"Fake H100", 90}});
  ASSERT_EQ(runtimes_.size(), 2u);
  EXPECT_EQ(why_not_, "");
  EXPECT_EQ(runtimes_[0]->model(), "Fake A100");
  EXPECT_EQ(runtimes_[1]->model(), "Fake H100");
  EXPECT_FALSE(runtimes_[1]->is_emulated());
  EXPECT_TRUE(fake_cuda::held().empty()) << "a device that nobody uses holds nothing";
}

TEST_F(CudaDriverRuntime, SaysThatDevicesAreTooOld) {
  start({{"Fake P100", 60}, {"Fake T4", 75}});
  EXPECT_TRUE(runtimes_.empty());
  EXPECT_EQ(why_not_,
            "Fake P100 has compute capability 6.0, and 8.0 or newer is needed; Fake T4 has compute capability 7.5, and "
            "8.0 or newer is needed");
}

TEST_F(CudaDriverRuntime, EverythingIsGivenBack) {
  void* const kept = runtime().allocate(1000);
  void* const unused = runtime().allocate(5 * kMiB);
  runtime().release(unused);
  int number = 3;
  runtime().copy_from_host(kept, &number, sizeof number);
  const Launch launch = launch_of("scale", 1);
  auto graph = runtime().make_line({&launch, 1});
  graph->run();
  EXPECT_EQ(fake_cuda::held(), (std::map<std::string, int>{{"memory", 2},
                                                           {"pinned", 2},
                                                           {"event", 2},
                                                           {"module", 1},
                                                           {"graph", 1},
                                                           {"executable", 1},
                                                           {"context", 1},
                                                           {"stream", 1}}));
  graph.reset();
  runtimes_.clear();
  EXPECT_TRUE(fake_cuda::held().empty());
}

TEST_F(CudaDriverRuntime, AGraphMayOutliveItsRuntime) {
  const Launch launch = launch_of("scale", 1);
  auto graph = runtime().make_line({&launch, 1});
  runtimes_.clear();
  graph.reset();
  EXPECT_TRUE(fake_cuda::held().empty());
}

TEST_F(CudaDriverRuntime, WhatWasReleasedLastIsTakenFirst) {
  void* const a = runtime().allocate(1000);
  void* const b = runtime().allocate(1000);
  for (void* const last : {a, b, a}) {
    runtime().release(last == a ? b : a);
    runtime().release(last);
    EXPECT_EQ(runtime().allocate(1000), last);
    EXPECT_EQ(runtime().allocate(1000), last == a ? b : a);
  }
}

TEST_F(CudaDriverRuntime, MemoryIsAlignedAndReused) {
  EXPECT_EQ(runtime().allocate(0), nullptr);
  runtime().release(nullptr);
  void* const first = runtime().allocate(100'000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 256, 0u);
  runtime().release(first);
  EXPECT_EQ(runtime().allocate(99'000), first) << "a request of about the size takes the block";
  void* const other = runtime().allocate(100'000);
  EXPECT_NE(other, first);
  runtime().release(first);
  EXPECT_NE(runtime().allocate(10'000), first) << "a much smaller request leaves it alone";
  EXPECT_EQ(fake_cuda::calls("cuMemAlloc_v2"), 3);
  EXPECT_THROW(runtime().release(&why_not_), Error);
}

TEST_F(CudaDriverRuntime, UnusedMemoryGoesBackBeforeAnAllocationFails) {
  start({{"Fake small", 80, 64 * kMiB}});
  EXPECT_EQ(runtime().memory(), 64 * kMiB);
  void* const first = runtime().allocate(40 * kMiB);
  runtime().release(first);
  EXPECT_EQ(runtime().memory(), 64 * kMiB) << "used or not";
  void* const second = runtime().allocate(60 * kMiB);
  EXPECT_EQ(fake_cuda::calls("cuMemFree_v2"), 1);
  const Error error = error_of([&] { runtime().allocate(8 * kMiB); });
  EXPECT_EQ(error.kind(), ErrorKind::unavailable);
  EXPECT_STREQ(error.what(),
               "error[RT0635]: cuda: the device's memory is exhausted\n"
               "  got:      8.0 MiB asked for; 4.0 MiB of 64.0 MiB free, 60.0 MiB in use here\n"
               "  help:     use smaller batches, or end other programs on this device");
  EXPECT_EQ(error_of([&] { runtime().allocate(SIZE_MAX - 5); }).code(), 635);
  runtime().release(second);
  EXPECT_NE(runtime().allocate(8 * kMiB), nullptr) << "after a failure the device is as usable as before";
}

TEST_F(CudaDriverRuntime, CopiesOfAllSizesArrive) {
  constexpr size_t chunk = DriverCopies::kChunk;
  for (const size_t bytes :
       {size_t{0}, size_t{1}, size_t{4000}, chunk - 1, chunk, chunk + 1, 2 * chunk, 5 * chunk + 77}) {
    std::vector<unsigned char> sent(bytes), received(bytes);
    uint64_t state = bytes;
    for (auto& byte : sent) byte = static_cast<unsigned char>((state = state * 6364136223846793005u + 1) >> 56);
    const auto expected = sent;
    void* const a = runtime().allocate(bytes);
    void* const b = runtime().allocate(bytes);
    runtime().copy_from_host(a, sent.data(), bytes);
    std::fill(sent.begin(), sent.end(), 0);  // it may be changed as soon as the call returns
    runtime().copy(b, a, bytes);
    runtime().copy_to_host(received.data(), b, bytes);
    EXPECT_TRUE(received == expected) << bytes;
    runtime().release(a), runtime().release(b);
  }
}

TEST_F(CudaDriverRuntime, CopiesInBothDirectionsKeepTheirOrder) {
  void* const memory = runtime().allocate(sizeof(int));
  for (int i = 0; i < 100; ++i) {
    int sent = i, received = -1;
    runtime().copy_from_host(memory, &sent, sizeof sent);
    if (i % 3 == 0) continue;
    runtime().copy_to_host(&received, memory, sizeof received);
    EXPECT_EQ(received, i);
  }
}

// A thread that waits for its copy, or for the device, keeps no other from giving it work.
TEST_F(CudaDriverRuntime, WhoWaitsKeepsNobodyFromTheDevice) {
  const int sent = 42;
  int received = 0, other = 0;
  void* const memory = runtime().allocate(sizeof sent);
  runtime().copy_from_host(memory, &sent, sizeof sent);
  fake_cuda::hold(true);
  std::thread reader([&] { runtime().copy_to_host(&received, memory, sizeof received); });
  std::thread waiter([&] { runtime().synchronize(); });
  std::thread second_reader([&] { runtime().copy_to_host(&other, memory, sizeof other); });
  while (fake_cuda::calls("cuMemcpyDtoHAsync_v2") < 2 || fake_cuda::calls("cuStreamSynchronize") < 1)
    std::this_thread::yield();
  EXPECT_NE(runtime().allocate(1000), nullptr);
  runtime().launch(launch_of("scale", 1));
  fake_cuda::hold(false);
  for (std::thread* thread : {&reader, &waiter, &second_reader}) thread->join();
  EXPECT_EQ(received, 42);
  EXPECT_EQ(other, 42);
}

TEST_F(CudaDriverRuntime, LaunchesCarryTheirArguments) {
  runtime().launch(launch_of("scale", 2.5f));
  runtime().synchronize();
  const auto executed = fake_cuda::executed();
  ASSERT_EQ(executed.size(), 1u);
  EXPECT_EQ(executed[0].kernel, "scale");
  EXPECT_EQ(std::vector<unsigned>(executed[0].blocks, executed[0].blocks + 3), (std::vector<unsigned>{2, 3, 4}));
  EXPECT_EQ(std::vector<unsigned>(executed[0].threads, executed[0].threads + 3), (std::vector<unsigned>{32, 2, 1}));
  EXPECT_EQ(factor_of(executed[0]), 2.5f);
  EXPECT_FALSE(executed[0].in_graph);
}

TEST_F(CudaDriverRuntime, MuchSharedMemoryIsAskedForOnce) {
  Launch launch = launch_of("scale", 1);
  launch.shared_bytes = 48 * 1024;
  runtime().launch(launch);
  EXPECT_EQ(fake_cuda::calls("cuFuncSetAttribute"), 0);
  launch.shared_bytes = 100 * 1024;
  runtime().launch(launch), runtime().launch(launch);
  const auto graph = runtime().make_line({&launch, 1});
  EXPECT_EQ(fake_cuda::calls("cuFuncSetAttribute"), 1);
  EXPECT_EQ(fake_cuda::allowed_shared("scale"), 100 * 1024);
  runtime().synchronize();
  EXPECT_EQ(fake_cuda::executed().back().shared_bytes, 100u * 1024);
}

TEST_F(CudaDriverRuntime, GraphsRunTheirLaunchesInOrderWithTheLatestArguments) {
  const std::vector<Launch> launches = {launch_of("a", 1), launch_of("b", 2), launch_of("c", 3)};
  const auto graph = runtime().make_line(launches);
  EXPECT_EQ(fake_cuda::graph_dependencies(), (std::vector<std::vector<size_t>>{{0, 1, 1}}));
  graph->run();
  Launch changed = launches[1];
  changed.set(Numbers{7, 20});
  graph->set_arguments(1, changed.arguments);
  graph->run();
  graph->set_arguments(1, changed.arguments);  // what it has already costs no call
  EXPECT_EQ(fake_cuda::calls("cuGraphExecKernelNodeSetParams_v2"), 1);
  EXPECT_EQ(fake_cuda::calls("cuGraphInstantiateWithFlags"), 1);
  EXPECT_THROW(graph->set_arguments(3, changed.arguments), Error);
  EXPECT_THROW(graph->set_arguments(0, std::span(changed.arguments).first(4)), Error);
  runtime().synchronize();

  std::string kernels;
  std::vector<float> factors;
  for (const auto& launched : fake_cuda::executed()) {
    EXPECT_TRUE(launched.in_graph);
    kernels += launched.kernel, factors.push_back(factor_of(launched));
  }
  EXPECT_EQ(kernels, "abcabc");
  EXPECT_EQ(factors, (std::vector<float>{1, 2, 3, 1, 20, 3}));
}

// A launch that waits for one other begins early, where its kernel waits itself and the driver knows such edges.
TEST_F(CudaDriverRuntime, EdgesOfAGraphAreTheDrivers) {
  const auto launches_now = [&] {
    std::vector<Launch> launches;
    for (const char* name : {"a", "b", "c", "scale"}) launches.push_back(launch_of(name, 1));
    return launches;
  };
  const Edges edges = {{}, {0}, {0}, {1, 2}};
  const std::vector<std::vector<size_t>> counts = {{0, 1, 1, 2}}, none = {{0, 0, 0, 0}};
  runtime().make_graph(launches_now(), edges);
  EXPECT_EQ(fake_cuda::graph_dependencies(), counts);
  EXPECT_EQ(fake_cuda::programmatic_dependencies(), none);

  start({{"Fake H100"}});
  fake_cuda::set_kernel_capability(90);
  auto launches = launches_now();
  auto graph = runtime().make_graph(launches, edges);
  EXPECT_EQ(fake_cuda::graph_dependencies(), counts);
  EXPECT_EQ(fake_cuda::programmatic_dependencies(), (std::vector<std::vector<size_t>>{{0, 1, 1, 0}}));
  launches[1].set(Numbers{7, 20});
  graph->set_arguments(1, launches[1].arguments);
  graph->run();
  runtime().synchronize();
  EXPECT_EQ(fake_cuda::executed().size(), 4u);
  EXPECT_EQ(factor_of(fake_cuda::executed()[1]), 20);

  // A driver that refuses them gets plain edges.
  const auto before = fake_cuda::held();
  for (const char* call : {"cuGraphAddDependencies_v2", "cuGraphInstantiateWithFlags"}) {
    fake_cuda::fail(call, 1, kErrorInvalidValue);
    graph = runtime().make_graph(launches, edges);
    EXPECT_EQ(fake_cuda::graph_dependencies().back(), counts[0]) << call;
    EXPECT_EQ(fake_cuda::programmatic_dependencies().back(), none[0]) << call;
    EXPECT_EQ(fake_cuda::held(), before) << call;
  }
}

TEST_F(CudaDriverRuntime, AGraphThatCannotBeMadeLeavesNothingBehind) {
  const std::vector<Launch> launches = {launch_of("a", 1), launch_of("b", 2)};
  const auto before = fake_cuda::held();
  for (const char* call : {"cuGraphCreate", "cuGraphAddKernelNode_v2", "cuGraphInstantiateWithFlags"}) {
    fake_cuda::fail(call, 1, 2);
    EXPECT_EQ(error_of([&] { runtime().make_line(launches); }).code(), 631) << call;
    EXPECT_EQ(fake_cuda::held(), before) << call;
  }
}

// In graphs the host's own time is not among them; nothing is left behind.
TEST_F(CudaDriverRuntime, EachLaunchIsTimed) {
  std::vector<Launch> launches = {launch_of("a", 1), launch_of("b", 2), launch_of("c", 3)};
  launches[1].blocks = {5000, 1, 1};
  runtime().launch(launches[0]);
  const auto before = fake_cuda::held();
  const auto seconds = runtime().time(launches);
  ASSERT_EQ(seconds.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(seconds[i], i == 1 ? 5e-3 : 24e-6, 1e-8) << i;
  EXPECT_EQ(fake_cuda::held(), before);
  std::string kernels;
  for (const auto& launched : fake_cuda::executed()) kernels += launched.kernel;
  EXPECT_EQ(kernels, "aabc");
  EXPECT_TRUE(runtime().time({}).empty());
  for (const char* call :
       {"cuGraphCreate", "cuEventCreate", "cuGraphAddEventRecordNode", "cuGraphInstantiateWithFlags"}) {
    fake_cuda::fail(call, 1, 2);
    EXPECT_EQ(error_of([&] { runtime().time(launches); }).code(), 631) << call;
    EXPECT_EQ(fake_cuda::held(), before) << call;
  }
}

TEST_F(CudaDriverRuntime, AnImageIsLoadedWhenOneOfItsKernelsIsAskedFor) {
  const Kernel& kernel = runtime().find_kernel("scale");
  EXPECT_EQ(kernel.name(), "scale");
  EXPECT_EQ(&runtime().find_kernel("scale"), &kernel);
  EXPECT_EQ(fake_cuda::calls("cuModuleLoadData"), 1);
  EXPECT_EQ(runtime().find_kernel("scale_2").name(), "scale_2");
  EXPECT_EQ(fake_cuda::calls("cuModuleLoadData"), 2);
  EXPECT_EQ(fake_cuda::calls("cuModuleGetFunction"), 2) << "none that fails";
  for (const char* absent : {"absent", "cale", "scale_", "", "a b"}) {
    const Error error = error_of([&] { runtime().find_kernel(absent); });
    EXPECT_EQ(error.kind(), ErrorKind::internal);
    EXPECT_EQ(error.message(), std::string("cuda: there is no kernel ") + absent);
  }
  EXPECT_EQ(fake_cuda::calls("cuModuleGetFunction"), 2);
}

TEST_F(CudaDriverRuntime, ABuildWithoutKernelsSaysSo) {
  start({{"Fake H100"}}, {});
  const Error error = error_of([&] { runtime().find_kernel("scale"); });
  EXPECT_EQ(error.kind(), ErrorKind::unavailable);
  EXPECT_EQ(error.message(), "cuda: this build has no CUDA kernels: it was built without nvcc");
}

TEST_F(CudaDriverRuntime, KernelsThatTheDriverCannotReadAreUnavailable) {
  fake_cuda::fail("cuModuleLoadData", 1, kErrorNoBinaryForDevice);
  const Error error = error_of([&] { runtime().find_kernel("scale"); });
  EXPECT_EQ(error.kind(), ErrorKind::unavailable);
  EXPECT_EQ(error.code(), 633);
  EXPECT_EQ(runtime().find_kernel("scale").name(), "scale") << "the next call tries again";
}

TEST_F(CudaDriverRuntime, AFailedKernelIsToldWhereSomebodyWaits) {
  runtime().launch(launch_of("scale", 1));
  fake_cuda::break_device(kErrorIllegalAddress);
  for (int i = 0; i < 2; ++i) {
    const Error error = error_of([&] { runtime().synchronize(); });
    EXPECT_EQ(error.kind(), ErrorKind::internal);
    EXPECT_EQ(error.message(),
              "cuda: the device is unusable for this process: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was "
              "encountered)");
  }
}

TEST_F(CudaDriverRuntime, AContextThatCannotBeMadeIsTriedAgain) {
  for (const char* call : {"cuDevicePrimaryCtxRetain", "cuStreamCreate"}) {
    start({{"Fake H100"}});
    fake_cuda::fail(call, 1, 2);
    EXPECT_EQ(error_of([&] { runtime().allocate(8); }).code(), 631) << call;
    EXPECT_TRUE(fake_cuda::held().empty()) << call;
    EXPECT_NE(runtime().allocate(8), nullptr) << call;
  }
}

TEST_F(CudaDriverRuntime, MemoryOfTheHostIsPinnedZeroAndGivenBack) {
  auto* const memory = static_cast<unsigned*>(runtime().allocate_on_host(4 * sizeof(unsigned)));
  EXPECT_EQ(std::vector<unsigned>(memory, memory + 4), std::vector<unsigned>(4));
  EXPECT_EQ(fake_cuda::held()["pinned"], 1);
  runtimes_.clear();
  EXPECT_TRUE(fake_cuda::held().empty());
}

TEST_F(CudaDriverRuntime, AnyThreadMayCall) {
  std::vector<std::thread> threads;
  std::array<int, 4> received{};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int turn = 0; turn < 50; ++turn) {
        void* const memory = runtime().allocate(1000);
        const int sent = 100 * i + turn;
        runtime().copy_from_host(memory, &sent, sizeof sent);
        runtime().copy_to_host(&received[static_cast<size_t>(i)], memory, sizeof sent);
        runtime().release(memory);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(received, (std::array<int, 4>{49, 149, 249, 349}));
}

}  // namespace
}  // namespace retrace::cuda
