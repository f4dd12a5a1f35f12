#include "retrace/device/cuda/emulation/emulation.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <numeric>

#include "retrace/base/error.h"
#include "retrace/device/cuda/emulation/kernels_test.h"

namespace retrace::cuda::emulation {
namespace {

class Emulation : public testing::Test {
 protected:
  ~Emulation() override {
    set_order(Order::ascending);
    set_checks(true);
  }

  float* upload(const std::vector<float>& values) {
    auto* memory = static_cast<float*>(runtime_->allocate(values.size() * sizeof(float)));
    runtime_->copy_from_host(memory, values.data(), values.size() * sizeof(float));
    return memory;
  }
  template <class T>
  std::vector<T> download(const T* memory, size_t count) {
    std::vector<T> values(count);
    runtime_->copy_to_host(values.data(), memory, count * sizeof(T));
    return values;
  }
  unsigned* zeros(size_t count) {
    auto* memory = static_cast<unsigned*>(runtime_->allocate(count * sizeof(unsigned)));
    const std::vector<unsigned> values(count, 0u);
    runtime_->copy_from_host(memory, values.data(), count * sizeof(unsigned));
    return memory;
  }

  Launch make_launch(const char* kernel, unsigned blocks, unsigned threads, size_t shared_bytes, ProbeArguments a) {
    Launch launch{&runtime_->find_kernel(kernel), {blocks}, {threads}, shared_bytes, {}};
    launch.set(a);
    return launch;
  }
  void run(const char* kernel, unsigned blocks, unsigned threads, size_t shared_bytes, ProbeArguments a) {
    runtime_->launch(make_launch(kernel, blocks, threads, shared_bytes, a));
  }
  // The text of the error of the launch, "" if there is none.
  std::string error_of(const char* kernel, unsigned blocks, unsigned threads, size_t shared_bytes, ProbeArguments a) {
    try {
      run(kernel, blocks, threads, shared_bytes, a);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::internal);
      return error.what();
    }
    return "";
  }

  std::unique_ptr<Runtime> runtime_ = make_runtime();
};

// Sums of whose terms no order gives the same bits by chance.
std::vector<float> harmonic(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = 1.0f / static_cast<float>(i + 1);
  return values;
}

TEST_F(Emulation, TreeSumHasTheSameBitsInEveryOrder) {
  const auto values = harmonic(3 * 256);
  std::vector<float> expected(3);
  for (size_t block = 0; block < 3; ++block) {
    float warps[8];
    for (size_t warp = 0; warp < 8; ++warp) {
      float lanes[32];
      for (size_t lane = 0; lane < 32; ++lane) lanes[lane] = values[block * 256 + 255 - warp * 32 - lane];
      for (size_t distance = 16; distance > 0; distance /= 2)
        for (size_t lane = 0; lane < distance; ++lane) lanes[lane] += lanes[lane + distance];
      warps[warp] = lanes[0];
    }
    expected[block] = std::accumulate(warps, warps + 8, 0.0f);
  }
  float* const x = upload(values);
  float* const y = upload({0, 0, 0});
  const std::pair<Order, uint64_t> orders[] = {
      {Order::ascending, 0}, {Order::descending, 0}, {Order::seeded, 1}, {Order::seeded, 2}};
  for (const bool checks : {true, false})
    for (const auto& [order, seed] : orders) {
      set_checks(checks);
      set_order(order, seed);
      run("probe_tree_sum", 3, 256, 264 * 4, {x, y, nullptr, 0, false});
      EXPECT_EQ(download(y, 3), expected);
    }
}

TEST_F(Emulation, MissingBarrierIsFoundAndNamed) {
  const ProbeArguments a{upload(harmonic(512)), upload({0, 0}), nullptr, 0, true};
  EXPECT_EQ(error_of("probe_tree_sum", 2, 256, 264 * 4, a),
            "error[RT0984]: kernel probe_tree_sum: shared memory is read before it is written\n"
            "  where:    block (0,0,0), thread (0,0,0)\n"
            "  got:      read of 4 bytes at offset 1028 of shared memory");
  set_order(Order::descending);
  EXPECT_EQ(error_of("probe_tree_sum", 2, 256, 264 * 4, a),
            "error[RT0986]: kernel probe_tree_sum: two threads use the same memory, and no barrier stands between\n"
            "  where:    block (1,0,0), threads (32,0,0) and (0,0,0)\n"
            "  got:      read of 4 bytes at offset 1028 of shared memory");
}

TEST_F(Emulation, AccessOutsideOfABufferIsFound) {
  const ProbeArguments a{upload(harmonic(100)), upload(harmonic(100)), nullptr, 100, true};
  EXPECT_EQ(error_of("probe_copy", 1, 128, 0, a),
            "error[RT0983]: kernel probe_copy: an access outside of device memory\n"
            "  where:    block (0,0,0), thread (100,0,0)\n"
            "  got:      load_cached of 4 bytes at offset 400 of buffer 1 (400 bytes)");
}

TEST_F(Emulation, UseAfterReleaseIsFound) {
  ProbeArguments a{upload(harmonic(100)), upload(harmonic(100)), nullptr, 100, false};
  runtime_->release(a.y.pointer);
  EXPECT_EQ(error_of("probe_copy", 1, 128, 0, a),
            "error[RT0983]: kernel probe_copy: an access outside of device memory\n"
            "  where:    block (0,0,0), thread (0,0,0)\n"
            "  got:      write of 4 bytes at offset 0 of buffer 2 (400 bytes, released)");
  EXPECT_THROW(runtime_->release(a.y.pointer), Error);
  EXPECT_THROW(download(a.y.pointer, 1), Error);
}

TEST_F(Emulation, WritesBehindABufferAreFoundAtItsReleaseWithoutChecks) {
  ProbeArguments a{upload(harmonic(128)), upload(harmonic(100)), nullptr, 100, true};
  set_checks(false);
  EXPECT_EQ(error_of("probe_copy", 1, 128, 0, a), "");
  try {
    runtime_->release(a.y.pointer);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "error[RT0981]: a kernel has written behind the end of a buffer\n"
                 "  got:      offset 400 of buffer 2 (400 bytes, released)");
  }
}

TEST_F(Emulation, ThreadsThatLeaveBeforeABarrierAreFound) {
  ProbeArguments a{upload(harmonic(40)), upload(harmonic(40)), nullptr, 40, false};
  EXPECT_EQ(error_of("probe_reverse", 1, 64, 256, a), "");
  auto expected = harmonic(40);
  std::reverse(expected.begin(), expected.end());
  EXPECT_EQ(download(a.y.pointer, 40), expected);
  a.mistake = true;
  for (const auto order : {Order::ascending, Order::descending}) {
    set_order(order);
    const auto text = error_of("probe_reverse", 1, 64, 256, a);
    EXPECT_TRUE(
        text.starts_with("error[RT0989]: kernel probe_reverse: not all threads come to the same barrier or shuffle"))
        << text;
    EXPECT_NE(text.find("has left the kernel"), std::string::npos) << text;
    EXPECT_NE(text.find("is at the barrier in line"), std::string::npos) << text;
  }
}

TEST_F(Emulation, SharedMemoryThatIsNotWrittenIsFound) {
  ProbeArguments a{nullptr, upload({0}), nullptr, 0, false};
  EXPECT_EQ(error_of("probe_written", 1, 64, 256, a), "");
  a.mistake = true;
  EXPECT_EQ(error_of("probe_written", 1, 64, 256, a),
            "error[RT0984]: kernel probe_written: shared memory is read before it is written\n"
            "  where:    block (0,0,0), thread (0,0,0)\n"
            "  got:      read of 4 bytes at offset 128 of shared memory");
}

TEST_F(Emulation, AsynchronousCopiesArriveAtTheWait) {
  ProbeArguments a{upload(harmonic(128)), upload(harmonic(128)), nullptr, 120, false};
  EXPECT_EQ(error_of("probe_async", 1, 32, 512, a), "");
  auto expected = harmonic(128);
  std::fill(expected.begin() + 120, expected.end(), 0.0f);
  EXPECT_EQ(download(a.y.pointer, 128), expected);
  a.mistake = true;
  EXPECT_NE(error_of("probe_async", 1, 32, 512, a).find("is read before async_wait()"), std::string::npos);
  set_checks(false);
  const float* const other = upload(std::vector<float>(128, 5.0f));
  a.x = other;
  EXPECT_EQ(error_of("probe_async", 1, 32, 512, a), "");
  EXPECT_NE(download(a.y.pointer, 1)[0], 5.0f);
}

TEST_F(Emulation, AWaitLeavesItsNewestGroups) {
  ProbeArguments a{upload(harmonic(64)), upload(std::vector<float>(64)), nullptr, 0, false};
  EXPECT_EQ(error_of("probe_async_stages", 1, 32, 256, a), "");
  EXPECT_EQ(download(a.y.pointer, 64), harmonic(64));
  a.mistake = true;
  EXPECT_NE(error_of("probe_async_stages", 1, 32, 256, a).find("offset 128 of shared memory"), std::string::npos);
}

TEST_F(Emulation, TheLastBlockReadsWhatOthersHaveReleased) {
  ProbeArguments a{upload(std::vector<float>(7 * 32, 1.0f)), upload(std::vector<float>(8)), zeros(1), 0, false};
  for (const auto order : {Order::ascending, Order::descending, Order::seeded}) {
    set_order(order);
    EXPECT_EQ(error_of("probe_last_block", 7, 32, 4, a), "");
    EXPECT_EQ(download(a.y.pointer, 1)[0], 7 * 32.0f);
  }
  a.mistake = true;
  set_order(Order::ascending);
  EXPECT_EQ(
      error_of("probe_last_block", 7, 32, 4, a),
      "error[RT0987]: kernel probe_last_block: two blocks of a launch use the same memory, and nothing orders them\n"
      "  where:    block (0,0,0), thread (0,0,0), and block (6,0,0), thread (0,0,0)\n"
      "  got:      read of 4 bytes at offset 4 of buffer 2 (32 bytes)");
}

TEST_F(Emulation, IntegerAtomicsOfBlocksAreAccepted) {
  std::vector<float> bins(300);
  for (size_t i = 0; i < bins.size(); ++i) bins[i] = static_cast<float>(i % 3);
  ProbeArguments a{upload(bins), nullptr, zeros(3), 300, false};
  EXPECT_EQ(error_of("probe_histogram", 3, 128, 0, a), "");
  EXPECT_EQ(download(a.counter.pointer, 3), (std::vector<unsigned>{100, 100, 100}));
  a.mistake = true;
  EXPECT_NE(error_of("probe_histogram", 3, 128, 0, a).find("threads (0,0,0) and (3,0,0)"), std::string::npos);
  EXPECT_NE(error_of("probe_histogram", 300, 1, 0, a).find("two blocks of a launch"), std::string::npos);
}

TEST_F(Emulation, BytesOfOneWordBelongToTheirThreads) {
  ProbeArguments a{nullptr, nullptr, zeros(8), 0, false};
  EXPECT_EQ(error_of("probe_bytes", 1, 32, 0, a), "");
  EXPECT_EQ(download(a.counter.pointer, 8), std::vector<unsigned>(8, 0x01010101u));
  a.mistake = true;
  for (const auto order : {Order::ascending, Order::descending}) {
    set_order(order);
    EXPECT_NE(error_of("probe_bytes", 1, 32, 0, a).find("of 1 bytes at offset"), std::string::npos);
  }
}

TEST_F(Emulation, ShufflesNeedAllLanesOfTheirWarpOnly) {
  ProbeArguments a{upload(std::vector<float>(4 * 32, 1.0f)), upload(std::vector<float>(4)), nullptr, 3, false};
  for (const auto order : {Order::ascending, Order::descending, Order::seeded}) {
    set_order(order, 3);
    EXPECT_EQ(error_of("probe_rows", 1, 128, 0, a), "");
    EXPECT_EQ(download(a.y.pointer, 4), (std::vector<float>{32, 32, 32, 0}));
  }
  a.mistake = true;
  EXPECT_NE(error_of("probe_rows", 1, 128, 0, a).find("has left the kernel; thread"), std::string::npos);
}

TEST_F(Emulation, PartsOfSharedMemoryAndAlignmentAreChecked) {
  ProbeArguments a{upload(harmonic(32)), upload(harmonic(32)), nullptr, 32, false};
  EXPECT_EQ(error_of("probe_part", 1, 32, 256, a), "");
  EXPECT_NE(error_of("probe_part", 1, 32, 252, a).find("128 bytes at offset 128; the launch gave 252"),
            std::string::npos);
  EXPECT_EQ(error_of("probe_aligned", 1, 1, 0, a), "");
  a.mistake = true;
  EXPECT_NE(error_of("probe_part", 1, 32, 256, a).find("element 32 of 32"), std::string::npos);
  EXPECT_NE(error_of("probe_aligned", 1, 1, 0, a).find("not aligned"), std::string::npos);
}

TEST_F(Emulation, LaunchesThatADeviceRefusesAreErrors) {
  const ProbeArguments a{nullptr, nullptr, nullptr, 0, false};
  EXPECT_NE(error_of("probe_copy", 1, 1025, 0, a), "");
  EXPECT_NE(error_of("probe_copy", 0, 32, 0, a), "");
  EXPECT_NE(error_of("probe_copy", 1, 32, 200 * 1024, a), "");
  EXPECT_NE(error_of("probe_tree_sum", 1, 512, 4096, a).find("it allows 1 to 256"), std::string::npos);
  Launch launch = make_launch("probe_copy", 1, 32, 0, a);
  launch.set(1.0f);
  EXPECT_THROW(runtime_->launch(launch), Error);
  EXPECT_THROW(runtime_->find_kernel("probe_none"), Error);
}

TEST_F(Emulation, AGraphRunsItsLaunchesInOrderWithTheirNewestArguments) {
  const auto values = harmonic(32);
  float* const x = upload(values);
  float* const between = upload(std::vector<float>(32));
  float* const y = upload(std::vector<float>(32));
  const std::vector<Launch> launches = {make_launch("probe_reverse", 1, 32, 128, {x, between, nullptr, 32, false}),
                                        make_launch("probe_reverse", 1, 32, 128, {between, y, nullptr, 32, false})};
  const auto graph = runtime_->make_graph(launches);
  EXPECT_EQ(download(y, 32), std::vector<float>(32));
  graph->run();
  EXPECT_EQ(download(y, 32), values);
  const ProbeArguments other{y, between, nullptr, 1, false};
  graph->set_arguments(0, std::as_bytes(std::span(&other, 1)));
  graph->run();
  EXPECT_EQ(download(y, 32)[31], values[0]);
}

// A kernel as a plan would write it, with a scalar rule.
std::string generated_source(const char* factor) {
  return std::string(R"(#include "retrace/device/cuda/kernel.h"
#include "retrace/ops/relu/relu_rule.h"
namespace retrace::cuda {
struct GeneratedArguments { Global<const float> x; Global<float> y; long long count; };
RT_KERNEL(generated_relu, GeneratedArguments, a) {
  const long long i = static_cast<long long>(block().x) * block_threads().x + thread().x;
  if (i < a.count) a.y[i] = rules::relu_rule<float>(a.x[i]) * )") +
         factor + "f;\n}\n}\n";
}

TEST_F(Emulation, GeneratedKernelsAreCompiledOnceAndKept) {
  const auto folder = std::filesystem::temp_directory_path() / ("retrace-emulation-test-" + std::to_string(getpid()));
  setenv("RETRACE_KERNEL_CACHE", folder.c_str(), 1);
  const auto run_generated = [&](const char* factor) {
    const std::string names[] = {"generated_relu"};
    const auto kernels = runtime_->compile(generated_source(factor), names);
    struct {
      Global<const float> x;
      Global<float> y;
      long long count;
    } a{upload({-1, 2, 3}), upload({0, 0, 0}), 3};
    Launch launch{kernels.at(0), {1}, {32}, 0, {}};
    launch.set(a);
    runtime_->launch(launch);
    return download(a.y.pointer, 3);
  };
  const size_t before = compiler_runs();
  EXPECT_EQ(run_generated("2.0"), (std::vector<float>{0, 4, 6}));
  EXPECT_EQ(compiler_runs(), before + 1);
  EXPECT_EQ(run_generated("2.0"), (std::vector<float>{0, 4, 6}));
  EXPECT_EQ(compiler_runs(), before + 1);
  EXPECT_EQ(run_generated("3.0"), (std::vector<float>{0, 6, 9}));
  EXPECT_EQ(compiler_runs(), before + 2);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
  const std::string missing[] = {"another"};
  EXPECT_THROW(runtime_->compile(generated_source("2.0"), missing), Error);
  EXPECT_THROW(runtime_->compile("no kernel", missing), Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);
  std::filesystem::remove_all(folder);
  unsetenv("RETRACE_KERNEL_CACHE");
}

}  // namespace
}  // namespace retrace::cuda::emulation
