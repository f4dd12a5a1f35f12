// Planning keeps the bits of random programs: all ops with their gradients, several results, dead code; with each pass
// off, with other numbers of threads, recorded anew and replayed; and on a CUDA device, emulated where no other is
// asked for.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "retrace/device/cpu/threads.h"
#include "retrace/device/cuda/emulation/emulation.h"
#include "retrace/plan/compile.h"
#include "retrace/plan/pass_changes.h"
#include "retrace/run/plan_cache.h"
#include "retrace/trace/call_scope.h"
#include "retrace/trace/draw_scope.h"
#include "retrace/trace/record.h"
#include "tests/random_steps.h"

namespace retrace {
namespace {

[[maybe_unused]] const int emulated = setenv("RETRACE_CUDA_EMULATION", "1", 0);

#ifdef NDEBUG
constexpr uint64_t kPrograms = 300, kCudaPrograms = 24;
#else
constexpr uint64_t kPrograms = 24, kCudaPrograms = 12;  // sanitizers take long
#endif

Tensor batch_of(uint64_t seed) {
  Random random(seed + 1'000'000);
  const DType type = seed % 8 == 5 ? DType::f64 : DType::f32;
  if (seed % 8 == 7) return random_tensor(random, {1, 64, 64, 4}, type, seed % 16 == 7 ? "BSSC" : "");  // large
  if (seed % 8 == 6) return random_tensor(random, {2100, 3}, type, seed % 16 == 6 ? "BC" : "");         // many rows
  if (seed % 16 == 9) return random_tensor(random, {13, 8, 8, 2}, type, "BSSC");  // samples enough for several slabs
  if (seed % 32 == 19) return random_tensor(random, {40, 515}, type);
  if (seed % 64 == 33) return random_tensor(random, {0, 4}, type);
  if (seed % 4 == 0) return random_tensor(random, {3, 6, 7, 4}, type);
  if (seed % 4 == 1) return random_tensor(random, {2, 8, 8, 1}, type, "BSSC");
  if (seed % 4 == 2) return random_tensor(random, {17, 19}, type);
  return random_tensor(random, {300}, type);
}

// The parameters that the program of a seed asks for.
Tree parameters_of(uint64_t seed, const Tensor& batch) {
  const RecordingScope recording;
  const CallScope call;
  const DrawScope draws(random_key(0).tensor());
  Tree parameters;
  RandomProgram program(seed, parameters, batch);
  program.loss();
  return parameters;
}

// One step: loss, gradients, what else the program returns, and an update of the parameters.
Tree step(uint64_t seed, const Tree& parameters, const Tensor& batch) {
  const auto loss = [seed](const Tree& p, const Tensor& x) {
    Tree given = p;
    RandomProgram program(seed, given, x);
    const Tensor value = program.loss();
    return WithAux{value, program.results()};
  };
  const auto [value, gradients, results] = value_and_grad(loss)(parameters, batch);
  const auto update =
      sgdm_update(parameters, gradients, {.velocity = map(parameters, [](const Tensor& x) { return x * x; })});
  return {{"loss", value},
          {"gradients", gradients},
          {"results", results},
          {"parameters", update.parameters},
          {"velocity", update.state.velocity}};
}

// A way of computing that must not change a bit.
struct Way {
  std::string name;
  std::vector<std::string> passes_off = {};
  int threads = 1;
  double memory_share = 1;
};

std::vector<Way> ways() {
  std::vector<Way> ways{{.name = "three threads", .threads = 3},
                        {.name = "half of the memory", .memory_share = 0.5},
                        {.name = "hardly any memory", .memory_share = 0.01}};
  Way bare{.name = "all passes off", .passes_off = {"place_memory"}};
  for (const auto& pass : all_passes()) {
    if (pass.required) continue;
    ways.push_back({.name = fmt::format("without {}", pass.name), .passes_off = {std::string(pass.name)}});
    bare.passes_off.emplace_back(pass.name);
  }
  ways.push_back({.name = "without place_memory", .passes_off = {"place_memory"}});
  ways.push_back(bare);
  return ways;
}

class RandomTraces : public testing::Test {
 protected:
  void SetUp() override {
    plan_cache().clear();
    options_.tuning.samples = {.contractions = 1, .slabs = 2, .inner_bytes = 0, .slab_bytes = 1, .work = 0};
    options_.tuning.lines = options_.tuning.samples;
    Tuning::Rows& rows = options_.tuning.rows;
    rows.term = rows.outer = rows.rule = 0;
    options_.tuning.reduced_elements = 256;
    options_.tuning.line_bytes = 0;
    options_.tuning.ordered_bytes = 0, options_.tuning.ordered_share = 1;
    set_plan_options(options_);
  }
  void TearDown() override {
    set_plan_options({});
    set_thread_count(threads_);
    set_plan_cache_enabled(true);
  }

  // Fingerprints of all results, by path.
  static std::map<std::string, uint64_t> bits(const Tree& results) {
    std::map<std::string, uint64_t> bits;
    for (const auto& [path, tensor] : leaves(results)) bits[path] = fingerprint_value("", tensor);
    return bits;
  }
  // The paths whose bits differ.
  static std::string differences(const std::map<std::string, uint64_t>& a, const std::map<std::string, uint64_t>& b) {
    std::string paths;
    for (const auto& [path, bits] : a)
      if (!b.contains(path) || b.at(path) != bits) paths += path + " ";
    return paths;
  }
  // Which passes found something to do in the last plan, and which of its results are numbers.
  void note_what_was_tested(const PassChanges& changes, const Tree& results) {
    note_what_changed(changes, [](const Pass& pass) { return pass.cpu; });
    for (const auto& tensor : leaf_tensors(results["gradients"])) {
      ++gradients_;
      const Tensor total = sum(tensor);
      finite_ += std::isfinite(total.number());
    }
  }
  template <class Ran>
  void note_what_changed(const PassChanges& changes, Ran ran) {
    for (const auto& pass : all_passes()) {
      if (!ran(pass)) continue;
      const std::string text = changes.text().substr(changes.text().find(fmt::format("{}: ", pass.name)));
      worked_[pass.name] += !text.substr(0, text.find('\n')).ends_with("nothing changed");
    }
  }

  const int threads_ = thread_count();
  PlanOptions options_;
  std::map<std::string_view, uint64_t> worked_;
  int gradients_ = 0, finite_ = 0, donated_ = 0;
};

TEST_F(RandomTraces, KeepTheirBits) {
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    SCOPED_TRACE(fmt::format("program {}", seed));
    const Tensor batch = batch_of(seed);
    const Tree parameters = parameters_of(seed, batch);
    auto function = accelerate([seed](const Tree& p, const Tensor& x) { return step(seed, p, x); });
    const auto run = [&](const Way& way, bool plan_cache) {
      PlanOptions options = options_;
      options.passes_off = way.passes_off;
      options.memory_share = way.memory_share;
      set_plan_options(options);
      set_thread_count(way.threads);
      set_plan_cache_enabled(plan_cache);
      function.set_calls(0);  // draws are numbered by the call
      return function(parameters, batch);
    };
    const auto [results, expected] = [&] {
      const PassChanges changes;
      const Tree results = run({.name = "plain"}, false);
      note_what_was_tested(changes, results);
      return std::pair(results, bits(results));
    }();
    for (const auto& way : ways()) EXPECT_EQ(differences(bits(run(way, false)), expected), "") << way.name;
    for (const char* speed : {"recorded", "replayed"})
      EXPECT_EQ(differences(bits(run({.name = speed}, true)), expected), "") << speed;
    // Results in the memory of the arguments.
    const auto copied = [](const Tensor& x) { return Tensor::from_bytes(x.data(), x.spec()); };
    function.set_calls(0);
    EXPECT_EQ(differences(bits(function(map(parameters, copied), copied(batch))), expected), "") << "donated";
    for (const int donor : last_plan()->donors()) donated_ += donor >= 0;
    EXPECT_EQ(function.hits(), 2);
  }
  // Not in vain: each kind of step occurred, each pass had something to do (but that of exchanges:
  // tests/workers_test.cpp), and few results were infinite or no numbers.
  constexpr uint64_t kEnough = kPrograms / 80;  // sanitizers run too few to tell
  for (const auto& one : random_steps()) EXPECT_GE(RandomProgram::counts()[one.name], kEnough) << one.name;
  for (const auto& pass : all_passes()) {
    const bool tested_elsewhere = pass.name == "place_exchanges" || !pass.cpu;
    EXPECT_TRUE(tested_elsewhere || worked_[pass.name] >= kEnough) << pass.name;
  }
  EXPECT_GE(finite_, gradients_ * 9 / 10);
  EXPECT_GE(donated_, static_cast<int>(kPrograms)) << "results in the memory of arguments";
}

// Passes that plans of a CUDA device go through, and that can be switched off.
std::vector<std::string> cuda_passes() {
  std::vector<std::string> names;
  for (const auto& pass : all_passes())
    if (pass.cuda && !pass.required) names.emplace_back(pass.name);
  return names;
}

// Recorded, replayed, and without one of the passes: each has chains of its own, and compiling them takes long. Kernels
// of CUDA devices are single precision.
TEST_F(RandomTraces, KeepTheirBitsOnACudaDevice) {
  if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  if (cuda::emulation::set_optimized) cuda::emulation::set_optimized(false);
  const auto passes = cuda_passes();
  uint64_t ran = 0;
  for (uint64_t seed = 0; ran < kCudaPrograms; ++seed) {
    const Tensor batch = batch_of(seed);
    if (batch.type() != DType::f32) continue;
    SCOPED_TRACE(fmt::format("program {}", seed));
    const Tree parameters = parameters_of(seed, batch);
    auto function = accelerate([seed](const Tree& p, const Tensor& x) { return step(seed, p, x); });
    const auto run = [&](Device& device) {
      function.set_calls(0);
      return bits(function(parameters.to(device), batch.to(device)));
    };
    const auto expected = run(cpu_device());
    Device& device = *gpus()[0];
    for (const char* speed : {"recorded", "replayed"}) {
      const PassChanges changes;
      EXPECT_EQ(differences(run(device), expected), "") << speed;
      if (speed == std::string("recorded")) note_what_changed(changes, [](const Pass& pass) { return pass.cuda; });
      EXPECT_EQ(device_of(last_plan()->trace()), device.id());
    }
    const std::string off = passes[ran++ % passes.size()];
    set_passes_off({off});
    set_plan_cache_enabled(false);
    EXPECT_EQ(differences(run(device), expected), "") << "without " << off;
    set_passes_off({});
    set_plan_cache_enabled(true);
  }
  for (const char* pass : {"fuse_pointwise", "fuse_reductions", "fuse_results"}) EXPECT_GT(worked_[pass], 0u) << pass;
}

}  // namespace
}  // namespace retrace
