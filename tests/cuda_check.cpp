// cuda_check [FILE...]: what a run compiles with NVRTC compiles, without warnings and without a device: a kernel of
// every scalar rule, the chains of plans such as the golden jobs' (as the emulated device makes them), and the given
// files of CUDA source, for compute capabilities 8.0 and 9.0. Says so where NVRTC is absent.
//   cuda_check --images FOLDER FILE...    compiles these files alone, for 9.0, to FOLDER/NAME.cubin
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/device/cuda/embedded.h"
#include "retrace/device/cuda/nvrtc.h"
#include "retrace/plan/cuda/cuda_plan.h"
#include "retrace/retrace.h"
#include "retrace/train/train_job.h"

namespace retrace::cuda {
namespace {

struct Source {
  std::string name, text;
};

std::vector<std::string>& watched() {
  static std::vector<std::string> sources;
  return sources;
}

// Takes what was compiled since the last call.
void add_watched(std::vector<Source>& sources, const char* name) {
  for (size_t i = 0; i < watched().size(); ++i) sources.push_back({fmt::format("{}, plan {}", name, i), watched()[i]});
  watched().clear();
}

// A division of integers, which reports errors, what is made of maxima and moments of lines, and every source of a
// training step and a prediction of each golden job.
void add_plans(std::vector<Source>& sources) {
  if (!can_use_gpu()) {
    fmt::print("plans are left out: {}\n", cuda_problem());
    return;
  }
  CudaPlan::watch_sources([](const std::string& source) { watched().push_back(source); });
  const Tensor integers = Tensor::full(6, {8}, DType::i32).to(*gpus()[0]);
  divide(integers, integers).data();
  add_watched(sources, "integers");
  const Tensor lines = Tensor::full(0.5, {4, 300}).to(*gpus()[0]);
  const Tensor below = lines - max(lines, {-1}, {.keep = true});
  sum(below / sqrt(moments(lines, -1, {.keep = true}).m2 + 1.0f)).data();
  add_watched(sources, "lines");
  for (const char* name : {"digits", "peaks", "autoencoder", "cifar10"}) {
    const Job job = read_job(fmt::format("tests/golden/1/{}.toml", name), {{"device", "cuda", ""},
                                                                           {"training.max_epochs", "1", ""},
                                                                           {"training.mini_batch_size", "2", ""},
                                                                           {"data.train_samples", "4", ""},
                                                                           {"data.test_samples", "4", ""}});
    train_job(job, {.write_run = false});
    add_watched(sources, name);
  }
  CudaPlan::watch_sources(nullptr);
}

std::string rule_kernels() {
  std::string includes, kernels;
  for (const auto& header : kernel_headers()) {
    std::string rule = std::filesystem::path(header.path).stem().string();
    if (!rule.ends_with("_rule")) continue;
    includes += fmt::format("#include \"{}\"\n", header.path);
    kernels += fmt::format(R"(
template <class V>
V {0}_at(const V* const* in, long long i) {{
  if constexpr (requires(V v) {{ retrace::rules::{0}(v); }}) return retrace::rules::{0}(in[0][i]);
  else if constexpr (requires(V v) {{ retrace::rules::{0}(v, v); }}) return retrace::rules::{0}(in[0][i], in[1][i]);
  else return retrace::rules::{0}(in[0][i], in[1][i], in[2][i]);
}}
extern "C" __global__ void {0}_kernel(const float* const* in, float* out, long long count) {{
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) out[i] = {0}_at(in, i);
}}
)",
                           rule);
  }
  return includes + kernels;
}

// The number of failures.
int compile_all(const Nvrtc& nvrtc, const std::vector<Source>& sources) {
  int failures = 0;
  for (const auto& source : sources) {
    for (const int capability : {80, 90}) {
      try {
        const auto compiled = nvrtc.compile(source.text, capability);
        fmt::print("{}: sm_{}: {} bytes\n{}", source.name, capability, compiled.image.size(), compiled.warnings);
        failures += !compiled.warnings.empty();
      } catch (const Error& error) {
        fmt::print("{}: sm_{}: {}\n", source.name, capability, error.what());
        ++failures;
      }
    }
  }
  return failures;
}

void write_images(const Nvrtc& nvrtc, const std::filesystem::path& folder, std::span<char* const> files) {
  std::filesystem::create_directories(folder);
  for (const std::filesystem::path file : files)
    write_file_whole(folder / (file.stem().string() + ".cubin"),
                     nvrtc.compile(read_file(file, "CUDA source", 1 << 24), 90).image);
}

}  // namespace
}  // namespace retrace::cuda

int main(int count, char** arguments) {
  setenv("RETRACE_CUDA_EMULATION", "1", 1);
  using namespace retrace;
  std::optional<cuda::Nvrtc> nvrtc;
  try {
    nvrtc.emplace();
  } catch (const Error& error) {
    fmt::print("no kernel is compiled with NVRTC: {}\n", error.what());
    return 0;
  }
  fmt::print("NVRTC {}\n", nvrtc->version());
  try {
    if (count > 2 && std::string_view(arguments[1]) == "--images") {
      cuda::write_images(*nvrtc, arguments[2], std::span(arguments, static_cast<size_t>(count)).subspan(3));
      return 0;
    }
    std::vector<cuda::Source> sources = {{"scalar rules", cuda::rule_kernels()}};
    cuda::add_plans(sources);
    for (int i = 1; i < count; ++i) sources.push_back({arguments[i], read_file(arguments[i], "CUDA source", 1 << 24)});
    return cuda::compile_all(*nvrtc, sources) == 0 ? 0 : 1;
  } catch (const Error& error) {
    fmt::print("{}\n", error.what());
    return exit_code(error.kind());
  }
}
