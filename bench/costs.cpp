// What is paid beside the arithmetic: recording, planning, replaying. Items are ops or calls; times are CPU time.

#include <benchmark/benchmark.h>

#include "bench/common/synthetic.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/plan/compile.h"
#include "retrace/retrace.h"
#include "retrace/run/plan_cache.h"
#include "retrace/trace/call_scope.h"
#include "retrace/trace/record.h"

namespace retrace::bench {
namespace {

void record_ops(benchmark::State& state) {
  constexpr int kOps = 1000;
  const Tensor x = synthetic({16}, 1);
  for (auto _ : state) {
    RecordingScope scope;
    Tensor y = x;
    for (int i = 0; i < kOps; ++i) y = y + x;
    benchmark::DoNotOptimize(y);
  }
  state.SetItemsProcessed(state.iterations() * kOps);
}
BENCHMARK(record_ops)->Name("recording of an op");

// The digits network's loss and gradients at batch 32, recorded and not computed.
class DigitsStep {
 public:
  DigitsStep() { evaluate(); }  // the starting values
  Trace record() const {
    const auto step = value_and_grad([this](const Tree& p) {
      const auto [y, moments] = network_.forward(x_, p, network_.state, Phase::train);
      return WithAux<Tree>{network_.loss(y, targets_), moments};
    });
    RecordingScope scope;
    const CallScope call;
    const auto [loss, gradients, moments] = step(network_.parameters);
    std::vector<Tensor> outputs{loss};
    for (const Tree& tree : {gradients, moments})
      for (const Tensor& tensor : leaf_tensors(tree)) outputs.push_back(tensor);
    return scope.recording().take_trace(outputs);
  }

 private:
  nn::Network network_ = models::digits(random_key(1));
  Tensor x_ = synthetic({32, 28, 28, 1}, 1, "BSSC");
  Tree targets_{{"class", Tensor::zeros({32}, DType::i32, "B")}, {"angle", Tensor::zeros({32, 1}, DType::f32, "BC")}};
};

void record_digits(benchmark::State& state) {
  const DigitsStep step;
  size_t nodes = 0;
  for (auto _ : state) nodes += step.record().nodes.size();
  state.SetItemsProcessed(static_cast<int64_t>(nodes));
}
BENCHMARK(record_digits)->Name("recording of an op of the digits step, with layers and gradients");

void plan_digits(benchmark::State& state) {
  const Trace trace = DigitsStep().record();
  for (auto _ : state) benchmark::DoNotOptimize(make_plan(trace)->kernel_calls());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(trace.nodes.size()));
}
BENCHMARK(plan_digits)->Name("planning of an op of the digits step");

void find_digits(benchmark::State& state) {
  const Trace trace = DigitsStep().record();
  PlanCache cache;
  for (auto _ : state) benchmark::DoNotOptimize(cache.find_or_make(trace).get());
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(trace.nodes.size()));
}
BENCHMARK(find_digits)->Name("look-up of an op of the digits step in the plan cache");

void replay_empty(benchmark::State& state) {
  const auto plan = make_plan(Trace());
  for (auto _ : state) plan->run(nullptr, nullptr);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(replay_empty)->Name("replay of an empty plan");

void replay_number(benchmark::State& state) {
  const auto step = accelerate([](const Tensor& x) { return x; });
  const Tensor x = Tensor::scalar(1.0f);
  for (auto _ : state) benchmark::DoNotOptimize(step(x));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(replay_number)->Name("replay of an empty step");

void replay_op(benchmark::State& state) {
  const auto step = accelerate([](const Tensor& x, const Operand& by) { return x * by; });
  Tensor x = Tensor::scalar(1.0f);
  for (auto _ : state) x = step(std::move(x), 1.0f);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(replay_op)->Name("replay of a step of one op");

void smallest_step(benchmark::State& state) {
  const Tensor x = synthetic({1}, 1);
  for (auto _ : state) benchmark::DoNotOptimize((x + x).data());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(smallest_step)->Name("one sum of two numbers: recorded, looked up, run");

}  // namespace
}  // namespace retrace::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  retrace::set_thread_count(1);
  benchmark::RunSpecifiedBenchmarks();
}
