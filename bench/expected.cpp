// What a step of each golden network at full batch is on a CUDA device: launches, their longest path, traffic, work,
// and the time that a model of an H100 gives. Needs no device: the plans are made for a runtime that does nothing.
//   build/bench/expected            the page docs/gpu/expected.md
//   build/bench/expected NETWORK    the launches of its step
//   build/bench/expected --forms FOLDER    writes the source of each form of a contraction in these steps, NAME.cu
// Ends with 1 where launches or paths are above their limits: the table kNetworks, which is to be lowered with every
// change that saves some.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "bench/common/floor.h"
#include "bench/common/workload.h"
#include "retrace/base/file.h"
#include "retrace/device/cuda/lane.h"
#include "retrace/device/cuda/runtime.h"
#include "retrace/plan/device_plan.h"
#include "retrace/plan/plan.h"
#include "retrace/run/plan_cache.h"
#include "retrace/trace/op.h"
#include "retrace/trace/record.h"

namespace retrace::bench {
namespace {

struct Network {
  const char* name;
  int batch;
  size_t most_launches, longest_path, wanted_launches;
  double wanted_ms;
};
constexpr Network kNetworks[] = {
    {"digits", 32, 34, 22, 40, 0.12},
    {"peaks", 40000, 3, 3, 4, 0.012},
    {"autoencoder", 500, 29, 22, 30, 0.45},
    {"cifar10", 256, 95, 82, 100, 5.5},
};

// The model of the device; seconds, and units a second.
constexpr double kPeak = 66.9e12, kMemory = 3.35e12, kCache = 5.5e12, kCacheBytes = 50e6;
constexpr double kSmallest = 1.5e-6, kGap = 1.2e-6, kProgrammaticGap = 0.5e-6;
constexpr unsigned kProcessors = 132;
// The share of the peak that a contraction reaches, by the beginning of its kernel's name; the longest counts. Measured
// on an H100 (docs/gpu/h100.md), but for matrix products of large tiles.
const std::map<std::string, double> kShares = {
    {"", 0.15},
    {"matmul_32x32", 0.1},
    {"matmul_32x32_few", 0.05},
    {"matmul_128x32", 0.5},
    {"matmul_64x64", 0.6},
    {"matmul_128x128", 0.65},
    {"conv2d", 0.16},
    {"conv2d_gather_128x16", 0.18},
    {"conv2d_gather_128x32", 0.25},
    {"conv2d_gather_128x8", 0.08},
    {"conv2d_gather_32x32", 0.08},
    {"conv2d_gather_64x64", 0.36},
    {"conv2d_window_128x16", 0.27},
    {"conv2d_window_128x32", 0.4},
    {"conv2d_window_128x64", 0.45},
    {"conv2d_window_128x8", 0.13},
    {"conv2d_window_256x32", 0.42},
    {"conv2d_window_32x32", 0.1},
    {"conv2d_window_64x64", 0.4},
    {"conv2d_filter_gradient_128x16", 0.12},
    {"conv2d_filter_gradient_128x8", 0.1},
    {"conv2d_filter_gradient_16x8", 0.03},
    {"conv2d_filter_gradient_32x16", 0.07},
    {"conv2d_filter_gradient_32x32", 0.13},
    {"conv2d_filter_gradient_96x32", 0.47},
    {"conv2d_filter_gradient_96x64", 0.49},
};

// Kernels that no device has run have the share of one that was measured, of the same tile, by what of both is known:
// threads at work on as many sums, and the share of FFMA in the hottest loop (scripts/check_sass --list). Time does not
// fall as these grow, since launches, waiting and combining stay: by the power that describes the one pair of kernels
// that was measured so (a product of 32 x 32 tiles by 64 and by 256 threads: 22 and 16 us, FFMA 0.85 and 0.5).
struct Estimate {
  const char *kernel, *like;
  double threads, ffma;  // the ratios to the other
  double blocks;         // the ratio of the blocks of threads: a share is that of a processor
};
const double kPower = std::log(22.0 / 16.0) / std::log(256.0 / 64.0 * 0.5 / 0.85);
constexpr Estimate kEstimates[] = {
    {"conv2d_filter_gradient_32x16_few", "conv2d_filter_gradient_32x16", 98.0 / 25, 0.6 / 0.84, 98.0 / 25},
    {"conv2d_gather_32x32_few", "conv2d_gather_32x32", 4, 0.55 / 0.8, 1},
    {"conv2d_window_32x32_few", "conv2d_window_32x32", 4, 0.6 / 0.82, 1},
};

struct NamedKernel final : cuda::Kernel {
  explicit NamedKernel(std::string name) : Kernel(std::move(name)) {}
};

cuda::Edges newest_edges;
std::map<std::string, std::string> forms;  // sources of kernels with epilogues, by name
std::vector<cuda::Launch> newest_launches;

struct NoGraph final : cuda::Graph {
  void set_arguments(size_t, std::span<const std::byte>) override {}
  void run() override {}
};

struct NoCopy final : cuda::HostCopy {
  const void* wait() override { return zeros; }
  char zeros[cuda::Runtime::kMostLate] = {};
};

// Gives addresses that are nowhere, finds every kernel and launches none.
class NoRuntime final : public cuda::Runtime {
 public:
  std::string model() const override { return "no device"; }
  bool is_emulated() const override { return true; }
  size_t memory() override { return size_t{80} << 30; }
  void* allocate(size_t bytes) override {
    if (bytes == 0) return nullptr;
    const size_t at = next_;
    next_ += (bytes + 255) / 256 * 256;
    return reinterpret_cast<void*>(at);
  }
  void release(void*) override {}
  void* allocate_on_host(size_t bytes) override { return std::calloc(bytes, 1); }
  void copy_from_host(void*, const void*, size_t) override {}
  void copy_to_host(void* to, const void*, size_t bytes) override { std::memset(to, 0, bytes); }
  void copy(void*, const void*, size_t) override {}
  std::unique_ptr<cuda::HostCopy> start_copy_to_host(std::span<const cuda::DevicePart>) override {
    return std::make_unique<NoCopy>();
  }
  const cuda::Kernel& find_kernel(std::string_view name) override {
    auto& kernel = kernels_[std::string(name)];
    if (!kernel) kernel = std::make_shared<NamedKernel>(std::string(name));
    return *kernel;
  }
  std::vector<std::shared_ptr<const cuda::Kernel>> compile(const std::string& source,
                                                           std::span<const std::string> names) override {
    if (source.find("_epilogue {") != std::string::npos) forms[names[0]] = source;
    std::vector<std::shared_ptr<const cuda::Kernel>> found;
    for (const auto& name : names) find_kernel(name), found.push_back(kernels_[name]);
    return found;
  }
  void launch(const cuda::Launch&) override {}
  std::vector<double> time(std::span<const cuda::Launch> launches) override {
    return std::vector<double>(launches.size());
  }
  std::unique_ptr<cuda::Graph> make_graph(std::span<const cuda::Launch> launches, const cuda::Edges& edges) override {
    newest_launches.assign(launches.begin(), launches.end()), newest_edges = edges;
    return std::make_unique<NoGraph>();
  }
  void synchronize() override {}
  std::unique_ptr<cuda::Lane> make_lane() override {
    throw std::logic_error("the steps of one worker exchange nothing");
  }

 private:
  size_t next_ = size_t{1} << 40;
  std::map<std::string, std::shared_ptr<NamedKernel>> kernels_;
};

[[maybe_unused]] const bool offered =
    cuda::offer_emulation([]() -> std::unique_ptr<cuda::Runtime> { return std::make_unique<NoRuntime>(); });

struct Step {
  size_t launches = 0, edges = 0, path = 0;
  double bytes = 0, operations = 0, arena = 0, seconds = 0, in_a_line = 0, all = 0;
};

double share_of(const std::string& kernel) {
  for (const auto& [name, like, threads, ffma, blocks] : kEstimates)
    if (kernel.starts_with(name)) return share_of(like) * std::pow(threads * ffma, kPower) / blocks;
  double share = 0;
  for (const auto& [beginning, value] : kShares)
    if (kernel.starts_with(beginning)) share = value;  // in order: the longest comes last
  return share;
}

double bytes_of(const Trace& trace, const Node& node) {
  double bytes = 0;
  for (ValueId id : node.inputs) bytes += static_cast<double>(trace.spec(id).bytes());
  for (int i = 0; i < node.output_count; ++i) bytes += static_cast<double>(trace.spec(node.first_output + i).bytes());
  return bytes;
}

// A call's traffic and work belong to its first launch. step.all: the time of the whole device for all of them, which
// launches that fill few processors share.
std::vector<double> work_times(const Plan& plan, Step& step) {
  std::vector<double> bytes(newest_launches.size()), operations = bytes, seconds = bytes;
  for (const PlannedCall& call : plan.calls())
    for (const Node* node : call.nodes)
      if (call.count > 0) {
        bytes[call.first] += bytes_of(plan.trace(), *node);
        operations[call.first] += operations_of(plan.trace(), *node);
      }
  for (size_t i = 0; i < bytes.size(); ++i) step.bytes += bytes[i], step.operations += operations[i];
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto& blocks = newest_launches[i].blocks;
    const double filled = std::min(1.0, 1.0 * blocks.x * blocks.y * blocks.z / kProcessors);
    const double rate = kPeak * share_of(newest_launches[i].kernel->name());
    const double traffic = bytes[i] / (step.bytes < kCacheBytes ? kCache : kMemory);
    seconds[i] = std::max(traffic, operations[i] / (rate * filled));
    step.all += std::max(traffic, operations[i] / rate);
  }
  return seconds;
}

Step step_of(const Network& network) {
  Workload workload(network.name, true, *gpus()[0]);
  for (int i = 0; i < 2; ++i) workload.train();
  const auto plan = last_plan();
  Step step{.launches = newest_launches.size(), .arena = static_cast<double>(plan->arena_bytes())};
  const auto work = work_times(*plan, step);
  std::vector<size_t> length(step.launches, 1);
  std::vector<double> end(step.launches);
  for (size_t i = 0; i < step.launches; ++i) {
    const auto& before = newest_edges[i];
    double start = 0;
    for (const size_t earlier : before) {
      start = std::max(start, end[earlier]);
      length[i] = std::max(length[i], length[earlier] + 1);
    }
    const double own = std::max(kSmallest, work[i]);
    end[i] = start + (before.size() == 1 ? kProgrammaticGap : kGap) + own;
    step.path = std::max(step.path, length[i]);
    step.seconds = std::max(step.seconds, end[i]);
    step.edges += before.size();
    step.in_a_line += own + kGap;
  }
  step.seconds = std::max(step.seconds, step.all);  // launches beside each other share the device
  return step;
}

constexpr const char* kIntroduction =
    R"(# What a step is expected to take on a GPU

Made by `scripts/expected --write` of the plans at full batch. `make cuda-check` fails where this page is not current, or
where launches or paths are above the limits in `bench/expected.cpp`.

| network | batch | launches | at most | wanted | edges | longest path | at most | MB of the arena | MB touched | GMAC | ms by the model | in a line | wanted |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
)";

constexpr const char* kModel = R"(
Shares of the peak are measured ([h100](h100.md)), the rest is a model: an H100 of {} processors, {} TFLOPS in FP32 and {} TB/s; a step that
touches less than {} MB stays in the L2 cache, at {} TB/s. A launch takes the longer of its traffic and its arithmetic, at
least {} us. A contraction reaches a share of the peak that its tile allows, and less where it has fewer blocks than
there are processors: {}. Of kernels that no device has run: the time of a measured one of the same op, divided by the
ratio of threads at work times that of the shares of FFMA in the hottest loop, to the power {:.2f}, which describes the one pair that was measured so
(a product by tiles of 64 and of 256 threads, 22 and 16 us): {}. A launch that waits for one other begins {} us behind it, since its kernel was
begun before (programmatic dependent launch), one that waits for several {} us. A step takes its longest path, but not
less than the traffic and arithmetic of all launches, where one that fills few processors leaves the others to those beside it; "in a line" is the same without edges. What several ops of one
launch read is counted for each of them; what the last blocks of a launch combine is not counted.
)";

int write_page() {
  std::string page = kIntroduction, shares;
  int above = 0;
  for (const Network& network : kNetworks) {
    const Step step = step_of(network);
    page += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {:.1f} | {:.1f} | {:.3f} | {:.3f} | {:.3f} | {} |\n",
                        network.name, network.batch, step.launches, network.most_launches, network.wanted_launches,
                        step.edges, step.path, network.longest_path, step.arena * 1e-6, step.bytes * 1e-6,
                        step.operations * 0.5e-9, step.seconds * 1e3, step.in_a_line * 1e3, network.wanted_ms);
    if (step.launches <= network.most_launches && step.path <= network.longest_path) continue;
    fmt::print(stderr, "{}: {} launches, a path of {}: above the limits of bench/expected.cpp\n", network.name,
               step.launches, step.path);
    ++above;
  }
  for (const auto& [beginning, share] : kShares)
    shares += fmt::format("{}{} {:.0f} %", shares.empty() ? "" : ", ",
                          beginning.empty() ? "others" : fmt::format("`{}`", beginning), share * 100);
  std::string estimates;
  for (const Estimate& e : kEstimates)
    estimates += fmt::format("{}`{}` from `{}` by {:.2f} x {:.2f}", estimates.empty() ? "" : ", ", e.kernel, e.like,
                             e.threads, e.ffma);
  page += fmt::format(fmt::runtime(kModel), kProcessors, kPeak * 1e-12, kMemory * 1e-12, kCacheBytes * 1e-6,
                      kCache * 1e-12, kSmallest * 1e6, shares, kPower, estimates, kProgrammaticGap * 1e6, kGap * 1e6);
  fmt::print("{}", page);
  return above > 0 ? 1 : 0;
}

// The launches of a network's step: number, those that it waits for, microseconds of work, blocks, kernel and ops.
int list_launches(const Network& network) {
  Step step = step_of(network);
  const auto plan = last_plan();
  const auto work = work_times(*plan, step);
  for (size_t i = 0; i < work.size(); ++i)
    fmt::print("{:4} {:<12} {:8.1f} us {:6} blocks  {}  {}\n", i, fmt::format("<- {}", fmt::join(newest_edges[i], " ")),
               work[i] * 1e6, newest_launches[i].blocks.x, newest_launches[i].kernel->name(),
               plan->kernel_call_name(i));
  return 0;
}

int write_forms(const std::filesystem::path& folder) {
  for (const Network& network : kNetworks) step_of(network);
  std::filesystem::create_directories(folder);
  for (const auto& [name, source] : forms) write_file_whole(folder / (name + ".cu"), source);
  return 0;
}

}  // namespace
}  // namespace retrace::bench

int main(int argc, char** argv) {
  setenv("RETRACE_CUDA_EMULATION", "1", 1);
  try {
    if (argc == 3 && std::string_view(argv[1]) == "--forms") return retrace::bench::write_forms(argv[2]);
    for (const auto& network : retrace::bench::kNetworks)
      if (argc == 2 && std::string_view(argv[1]) == network.name) return retrace::bench::list_launches(network);
    return retrace::bench::write_page();
  } catch (const std::exception& error) {
    return fmt::print(stderr, "expected: {}\n", error.what()), 2;
  }
}
