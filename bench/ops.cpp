// Single ops, each as a plan of its own on data that stay in memory: our time, its floor, the share of the peak.
//   build/bench/ops [--json=FILE] [flags of Google Benchmark, such as --benchmark_filter=matmul]

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <deque>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "bench/common/floor.h"
#include "bench/common/guard.h"
#include "bench/common/probe.h"
#include "bench/common/synthetic.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/plan/compile.h"
#include "retrace/retrace.h"
#include "retrace/trace/record.h"

namespace retrace::bench {
namespace {

using Tensors = std::vector<Tensor>;

struct Case {
  std::string name, direction;
  std::function<Tensors()> call;  // makes its arguments and calls the op; what it returns is computed
};

// A case planned, with memory for its results.
class OpPlan {
 public:
  explicit OpPlan(const Case& the_case) : OpPlan(record(the_case)) {}
  void run() const { plan_->run(from_.data(), to_.data()); }
  std::vector<Work> work() const { return unavoidable_work(plan_->trace()); }

 private:
  struct Recorded {
    Trace trace;
    Tensors inputs;
  };
  static Recorded record(const Case& the_case) {
    RecordingScope scope;
    const Tensors outputs = the_case.call();
    Tensors inputs = scope.recording().inputs();
    return {scope.recording().take_trace(outputs), std::move(inputs)};
  }
  explicit OpPlan(const Recorded& recorded) : inputs_(recorded.inputs), plan_(make_plan(recorded.trace)) {
    for (const Tensor& input : inputs_) from_.push_back(input.data());
    for (ValueId id : recorded.trace.outputs) {
      outputs_.push_back(cpu_device().allocate(recorded.trace.values[static_cast<size_t>(id)].bytes()));
      to_.push_back(outputs_.back()->data());
    }
  }

  Tensors inputs_;
  std::shared_ptr<const Plan> plan_;
  std::vector<std::shared_ptr<Buffer>> outputs_;
  std::vector<const void*> from_;
  std::vector<void*> to_;
};

// What is measured of a case on some threads. Its samples are taken in several rounds over all rows, so that a bad
// minute of the machine spoils a few samples of each row instead of all of some.
struct Row {
  Case measured;
  int threads;
  std::vector<Work> work;
  Samples samples;

  // The p-th part of value(sample).
  double over_samples(double p, FunctionRef<double(const Sample&)> value) const {
    std::vector<double> values;
    for (const Sample& sample : samples.kept) values.push_back(value(sample));
    return quantile(values, p);
  }
  double seconds(double p) const {
    return over_samples(p, [](const Sample& sample) { return sample.seconds; });
  }
  double floor() const {
    return over_samples(0.5, [&](const Sample& sample) { return floor_seconds(work, sample.peak); });
  }
  double ratio_to_floor() const {
    return over_samples(0.5, [&](const Sample& sample) { return sample.seconds / floor_seconds(work, sample.peak); });
  }
  double share_of_peak() const {
    const double operations = total(work).operations;
    return over_samples(0.5, [&](const Sample& sample) { return operations / sample.seconds / sample.peak; });
  }
  // On `threads` threads, whose bandwidth counts.
  nlohmann::ordered_json json() const {
    const Work sum = total(work);
    return {{"op", measured.name},
            {"direction", measured.direction},
            {"threads", threads},
            {"ours_s", seconds(0.5)},
            {"p10_s", seconds(0.1)},
            {"p90_s", seconds(0.9)},
            {"floor_s", floor()},
            {"ratio_to_floor", ratio_to_floor()},
            {"share_of_peak", share_of_peak()},
            {"operations", sum.operations},
            {"bytes", sum.bytes},
            {"peak", over_samples(0.5, [](const Sample& sample) { return sample.peak; })},
            {"samples", samples.kept.size()},
            {"dropped", samples.dropped}};
  }
};

constexpr int kRounds = 5, kSamplesARound = 9;

void measure(benchmark::State& state, Row& row) {
  set_thread_count(row.threads);
  const OpPlan plan(row.measured);
  row.work = plan.work();
  const Samples more = take_samples(kSamplesARound, [&] { plan.run(); });
  row.samples.kept.insert(row.samples.kept.end(), more.kept.begin(), more.kept.end());
  row.samples.dropped += more.dropped;
  if (row.samples.kept.empty()) return state.SkipWithError("the machine is busy: no sample was kept");
  for (auto _ : state) state.SetIterationTime(row.seconds(0.5));
  state.counters["share_of_peak"] = row.share_of_peak();
  state.counters["floor_us"] = row.floor() * 1e6;
  state.counters["dropped"] = row.samples.dropped;
}

// For all rounds but the last.
class Silent : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

// What the backward pass computes of `y`, the first result of the op recorded last, for its input number `input`: the
// op's own gradient.
Tensor backward(const Tensor& y, const Tensors& inputs, size_t input) {
  const Node node = current_recording()->trace().nodes.back();
  Tensors outputs, cotangents(static_cast<size_t>(node.output_count));
  for (int i = 0; i < node.output_count; ++i) outputs.push_back(current_recording()->tensor(node.first_output + i));
  cotangents[0] = synthetic(y.shape(), 9, y.labels());
  bool needed[2] = {};
  needed[input] = true;
  return node.op->gradient(
      {node.attributes, inputs, outputs, cotangents, std::span(needed, inputs.size()), node.place})[input];
}

using Op = std::function<Tensor(const Tensor& x, const Tensor& weights)>;

// The three directions of an op of an input and weights.
void add_directions(std::vector<Case>& cases, const std::string& name, const Shape& x_shape, const Shape& w_shape,
                    const Op& op) {
  const auto make = [=](int which) {
    return [=] {
      const Tensors inputs{synthetic(x_shape, 1), synthetic(w_shape, 2)};
      const Tensor y = op(inputs[0], inputs[1]);
      return Tensors{which == 0 ? y : backward(y, inputs, which == 1 ? 0 : 1)};
    };
  };
  cases.push_back({name, "forward", make(0)});
  cases.push_back({name, "input gradient", make(1)});
  cases.push_back({name, "filter gradient", make(2)});
}

void add_convolutions(std::vector<Case>& cases) {
  const auto add = [&](const char* what, int64_t channels, int64_t size, int64_t kernel, Conv2dOptions options) {
    options.padding = same;
    const std::string name = fmt::format("conv2d {0}x{0}{1}, {2} channels, {3}x{3}", kernel, what, channels, size);
    add_directions(cases, name, {32, size, size, channels}, {kernel, kernel, channels / options.groups, channels},
                   [=](const Tensor& x, const Tensor& w) { return conv2d(x, w, options); });
  };
  add("", 16, 28, 3, {});
  add("", 32, 32, 3, {});
  add("", 64, 16, 3, {});
  add("", 128, 8, 3, {});
  add(" stride 2", 32, 32, 3, {.stride = 2});
  add(" dilation 2", 32, 32, 3, {.dilation = 2});
  add(" 4 groups", 32, 32, 3, {.groups = 4});
  add(" 8 groups", 32, 32, 3, {.groups = 8});
  add("", 32, 32, 1, {});
  add(" stride 2", 32, 32, 1, {.stride = 2});
  for (int64_t kernel : {2, 3})
    add_directions(cases, fmt::format("transposed conv2d {0}x{0} stride 2, 32 channels, 16x16", kernel),
                   {32, 16, 16, 32}, {kernel, kernel, 32, 32}, [](const Tensor& x, const Tensor& w) {
                     return transposed_conv2d(x, w, {.stride = 2, .cropping = same});
                   });
}

void add_products(std::vector<Case>& cases) {
  const auto add = [&](const char* what, int64_t rows, int64_t depth, int64_t columns, MatmulOptions options) {
    const Shape a = options.transpose_a ? Shape{depth, rows} : Shape{rows, depth};
    const Shape b = options.transpose_b ? Shape{columns, depth} : Shape{depth, columns};
    cases.push_back({fmt::format("matmul {}x{}x{}", rows, depth, columns), what,
                     [=] { return Tensors{matmul(synthetic(a, 1), synthetic(b, 2), options)}; }});
  };
  add("square", 1024, 1024, 1024, {});
  add("tall", 16384, 64, 64, {});
  add("tall and narrow", 40000, 20, 5, {.transpose_b = true});
  add("deep, few outputs", 5, 40000, 20, {.transpose_a = true});
  add("few rows", 32, 6272, 10, {.transpose_b = true});
  add("few rows, its weights' gradient", 10, 32, 6272, {.transpose_a = true});
}

void add_others(std::vector<Case>& cases) {
  const Shape image{32, 32, 32, 32};
  const auto pool = [=](bool gradient, auto op) {
    return [=] {
      const Tensor x = synthetic(image, 1), y = op(x);
      return Tensors{gradient ? backward(y, {x}, 0) : y};
    };
  };
  const auto largest = [](const Tensor& x) { return max_pool2d(x, 2, {.stride = 2}); };
  const auto mean = [](const Tensor& x) { return average_pool2d(x, 2, {.stride = 2}); };
  cases.push_back({"max_pool2d 2x2, 32 channels, 32x32", "forward", pool(false, largest)});
  cases.push_back({"max_pool2d 2x2, 32 channels, 32x32", "input gradient", pool(true, largest)});
  cases.push_back({"average_pool2d 2x2, 32 channels, 32x32", "forward", pool(false, mean)});
  cases.push_back({"average_pool2d 2x2, 32 channels, 32x32", "input gradient", pool(true, mean)});
  cases.push_back({"batch_norm, 32 channels, 32x32", "forward, in training", [=] {
                     const auto made = batch_norm(synthetic(image, 1), synthetic({32}, 2), synthetic({32}, 3));
                     return Tensors{made.y, made.moments["mean"], made.moments["m2"]};
                   }});
  cases.push_back({"batch_norm, 32 channels, 32x32", "forward and gradients", [=] {
                     const Tensors x{identity(synthetic(image, 1)), identity(synthetic({32}, 2)),
                                     identity(synthetic({32}, 3))};
                     const Tensor y = batch_norm(x[0], x[1], x[2]).y;
                     Tensors all = gradients(sum(y * synthetic(image, 9)), x);
                     all.push_back(y);
                     return all;
                   }});
  cases.push_back({"softmax_cross_entropy, 256 samples, 1000 classes", "value and gradient", [] {
                     const Tensor x = identity(synthetic({256, 1000}, 1));
                     const Tensor loss = softmax_cross_entropy(x, synthetic({256, 1000}, 2));
                     return Tensors{loss, gradients(loss, std::span(&x, 1))[0]};
                   }});
  cases.push_back({"adam_update, 1,000,000 numbers", "update", [] {
                     const Tree parameters(synthetic({1000000}, 1)), slopes(synthetic({1000000}, 2));
                     const AdamState before{synthetic({1000000}, 3), synthetic({1000000}, 4), Tensor::scalar(3)};
                     const auto made = adam_update(parameters, slopes, before);
                     return Tensors{made.parameters.tensor(), made.state.mean.tensor(), made.state.mean_square.tensor(),
                                    made.state.step};
                   }});
}

void run_all(const std::string& file) {
  std::vector<Case> cases;
  add_convolutions(cases);
  add_products(cases);
  add_others(cases);
  std::deque<Row> rows;
  for (const Case& one : cases)
    for (int threads : {1, 2}) {
      Row& row = rows.emplace_back(Row{one, threads, {}, {}});
      const auto name = fmt::format("{}, {}/threads:{}", one.name, one.direction, threads);
      benchmark::RegisterBenchmark(name.c_str(), [&row](benchmark::State& state) { measure(state, row); })
          ->Iterations(1)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  for (int round = 1; round < kRounds; ++round) {
    Silent silent;
    benchmark::RunSpecifiedBenchmarks(&silent);
  }
  benchmark::RunSpecifiedBenchmarks();
  if (file.empty()) return;
  auto json = nlohmann::ordered_json::array();
  for (Row& row : rows) {
    set_thread_count(row.threads);
    drop_disturbed(row.samples);
    if (!row.samples.kept.empty()) json.push_back(row.json());
  }
  std::ofstream(file) << json.dump(1) << "\n";
}

}  // namespace
}  // namespace retrace::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::string json;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument(argv[i]);
    if (!argument.starts_with("--json=")) return fmt::print(stderr, "ops: unknown argument {}\n", argument), 2;
    json = argument.substr(7);
  }
  retrace::bench::run_all(json);
}
