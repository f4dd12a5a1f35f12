// The emulated device as a runtime: launches, graphs, generated kernels, the environment.

#define RETRACE_CUDA_EMULATION  // for the list of kernels
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "retrace/device/cuda/embedded.h"
#include "retrace/device/cuda/emulation/fixture_test.h"
#include "retrace/device/cuda/kernel.h"
#include "retrace/device/cuda/launches.h"

namespace retrace::cuda::emulation {
namespace {

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

// By these names a device finds its kernels.
TEST_F(Emulation, EachKernelIsNamedByOneImage) {
  if (kernel_images().empty()) GTEST_SKIP() << "built without nvcc";
  std::string names;
  for (const auto& image : kernel_images()) names += std::string(" ") + image.kernels;
  int found = 0;
  for (const auto* kernel = emulated_kernels; kernel; kernel = kernel->next) {
    const std::string name = kernel->name;
    if (name.starts_with("probe_")) continue;
    const size_t at = names.find(" " + name + " ");
    EXPECT_NE(at, std::string::npos) << name;
    EXPECT_EQ(names.find(" " + name + " ", at + 1), std::string::npos) << name;
    ++found;
  }
  EXPECT_EQ(found, std::count(names.begin(), names.end(), ' ') - std::ssize(kernel_images()));
}

TEST_F(Emulation, AGraphRunsItsLaunchesInOrderWithTheirNewestArguments) {
  const auto values = harmonic(32);
  float* const x = upload(values);
  float* const between = upload(std::vector<float>(32));
  float* const y = upload(std::vector<float>(32));
  const std::vector<Launch> launches = {make_launch("probe_reverse", 1, 32, 128, {x, between, nullptr, 32, false}),
                                        make_launch("probe_reverse", 1, 32, 128, {between, y, nullptr, 32, false})};
  const auto graph = runtime_->make_line(launches);
  EXPECT_EQ(download(y, 32), std::vector<float>(32));
  graph->run();
  EXPECT_EQ(download(y, 32), values);
  const ProbeArguments other{y, between, nullptr, 1, false};
  graph->set_arguments(0, std::as_bytes(std::span(&other, 1)));
  graph->run();
  EXPECT_EQ(download(y, 32)[31], values[0]);
}

TEST_F(Emulation, IsADeviceOfTheProcessIfTheEnvironmentSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process of its own, in which nothing has been chosen yet
  setenv("RETRACE_CUDA_EMULATION", "1", 1);
  EXPECT_EXIT(std::exit(runtimes().size() == 1 && runtimes()[0]->is_emulated() && why_no_runtime().empty() ? 0 : 1),
              testing::ExitedWithCode(0), "");
  unsetenv("RETRACE_CUDA_EMULATION");
}

TEST_F(Emulation, OrderComesFromTheEnvironment) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto error = [this] {
    return error_of("probe_tree_sum", 4, 256, 264 * 4, {upload(harmonic(1024)), upload(harmonic(4)), nullptr, 0, true});
  };
  setenv("RETRACE_CUDA_EMULATION_ORDER", "descending", 1);
  EXPECT_EXIT((std::cerr << error(), std::exit(0)), testing::ExitedWithCode(0), "block \\(3,0,0\\)");
  setenv("RETRACE_CUDA_EMULATION_ORDER", "ascending", 1);
  EXPECT_EXIT((std::cerr << error(), std::exit(0)), testing::ExitedWithCode(0), "block \\(0,0,0\\)");
  unsetenv("RETRACE_CUDA_EMULATION_ORDER");
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
    Launch launch{kernels.at(0).get(), {1}, {32}, 0, {}};
    launch.set(a);
    runtime_->launch(launch);
    return download(a.y.pointer, 3);
  };
  const auto kept = [&] {  // beside the libraries is what the compiler has read of the header
    return std::count_if(std::filesystem::directory_iterator(folder), {},
                         [](const auto& entry) { return entry.path().extension() == ".so"; });
  };
  const size_t before = compiler_runs();
  EXPECT_EQ(run_generated("2.0"), (std::vector<float>{0, 4, 6}));
  EXPECT_EQ(compiler_runs(), before + 1);
  EXPECT_EQ(run_generated("2.0"), (std::vector<float>{0, 4, 6}));
  EXPECT_EQ(compiler_runs(), before + 1);
  EXPECT_EQ(run_generated("3.0"), (std::vector<float>{0, 6, 9}));
  EXPECT_EQ(compiler_runs(), before + 2);
  EXPECT_EQ(kept(), 2);
  const std::string missing[] = {"another"};
  EXPECT_THROW(runtime_->compile(generated_source("2.0"), missing), Error);
  EXPECT_THROW(runtime_->compile("no kernel", missing), Error);
  EXPECT_EQ(kept(), 2);
  std::filesystem::remove_all(folder);
  unsetenv("RETRACE_KERNEL_CACHE");
}

TEST_F(Emulation, KernelsOfEarlierLaunchesAreNotLookedUpAgain) {
  const std::string names[] = {"generated_relu"};  // which find_kernel() does not know
  const auto kernels = runtime_->compile(generated_source("2.0"), names);
  const std::vector<Launch> earlier = {{kernels[0].get(), {1}, {32}, 0, {}}};
  Launches again(*runtime_, nullptr, earlier);
  again.add("generated_relu", {1}, {32}, 0);
  EXPECT_EQ(again.all().at(0).kernel, earlier[0].kernel);
  EXPECT_THROW(again.add("generated_relu", {1}, {32}, 0), Error) << "the second launch is new";
  EXPECT_EQ(again.all().size(), 1u);
  Launches other(*runtime_, nullptr, earlier);
  other.add("probe_copy", {1}, {32}, 0);
  EXPECT_EQ(other.all().at(0).kernel->name(), "probe_copy") << "another kernel stands in its place";
}

}  // namespace
}  // namespace retrace::cuda::emulation
