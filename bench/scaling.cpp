// Cost as work grows: build/bench/scaling [--json=FILE] [SERIES...], with SERIES of batch, depth and width; without,
// all.
//
//   batch   the digits network                                          1 to 1,024 samples
//   depth   residual layers of 16 features, 32 samples                  10 to 1,000 layers
//   width   three 3x3 convolutions on 16 x 16 pixels, 8 samples          16 to 512 channels
//
// A point is an accelerated training step (loss, gradients, Adam, running statistics) on as many threads as there are,
// and the CPU time of its recording and of its planning.

#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "bench/common/floor.h"
#include "bench/common/guard.h"
#include "bench/common/synthetic.h"
#include "retrace/device/cpu/threads.h"
#include "retrace/nn/loss_kind.h"
#include "retrace/nn/models.h"
#include "retrace/plan/compile.h"
#include "retrace/run/accelerate.h"
#include "retrace/trace/call_scope.h"
#include "retrace/trace/record.h"
#include "retrace/train/job_data.h"
#include "retrace/train/training_step.h"

namespace retrace::bench {
namespace {

constexpr int kSamples = 11;
constexpr int64_t kClasses = 10;
constexpr float kLearnRate = 1e-5f;

nn::Network classifier(const Shape& sample, std::vector<nn::Layer> layers) {
  const nn::Sequential classes{nn::linear(kClasses), nn::softmax()};
  layers.push_back(nn::parallel({{"class", classes}}));
  const nn::Sequential all(std::move(layers));
  const auto [parameters, state] = all.initial(sample, random_key(1));
  const std::vector<nn::NetworkOutput> outputs{{.name = "class"}};
  return {"classifier", sample, outputs, all, parameters, state, nn::loss_of(outputs)};
}

// x + linear(relu(x)), with weights so small that neither values nor gradients grow or vanish with the depth.
nn::Network deep(int64_t depth) {
  const auto small = [depth](const Shape& shape, nn::Fans fans, RandomKey key) {
    return nn::glorot_uniform(shape, fans, key) / std::sqrt(static_cast<float>(depth));
  };
  const nn::Layer layer = nn::residual(nn::Sequential{nn::relu(), nn::linear(16, {.initializer = small})});
  return classifier({16}, std::vector<nn::Layer>(static_cast<size_t>(depth), layer));
}

nn::Network wide(int64_t channels) {
  const auto stage = nn::repeat(3, {nn::conv2d(3, channels, {.padding = same}), nn::batch_norm(), nn::relu()});
  return classifier({16, 16, 3}, {stage, nn::global_average_pool2d()});
}

struct Point {
  const char* series;
  int64_t at;
  nn::Network network;
  int64_t batch;
};

class Training {
 public:
  explicit Training(const Point& point) : network_(point.network) {
    const int64_t n = point.batch;
    const Shape& sample = network_.sample;
    x_ = sample.rank() == 1 ? synthetic({n, sample[0]}, 1, "BC")
                            : synthetic({n, sample[0], sample[1], sample[2]}, 1, "BSSC");
    std::vector<int32_t> classes;
    for (float value : synthetic({n}, 2).to_vector<float>()) classes.push_back(static_cast<int32_t>(value * kClasses));
    targets_ = {{"class", Tensor::from(classes, {n}, "B")}};
    state_ = initial_training_state(network_, job_.training);
    evaluate();
  }

  void run() { state_ = accelerated_(std::move(state_), x_, targets_, kLearnRate).after; }

  Trace record() const {
    RecordingScope scope;
    const CallScope call;
    const StepResult result = step_(state_, x_, targets_, kLearnRate);
    const auto& [parameters, state, solver] = result.after;
    std::vector<Tensor> outputs{result.loss};
    for (const Tree* tree : {&parameters, &state, &solver})
      for (const Tensor& tensor : leaf_tensors(*tree)) outputs.push_back(tensor);
    return scope.recording().take_trace(outputs);
  }

 private:
  const Job job_;
  const nn::Network network_;
  Tensor x_;
  Tree targets_;
  TrainingState state_;
  const TrainingStep step_ = training_step(job_.training, job_.seed, network_);
  const AcceleratedFunction<TrainingStep> accelerated_ = accelerate(step_);
};

void add_step(nlohmann::ordered_json& row, const Samples& samples, const Trace& planned) {
  row["samples"] = samples.kept.size(), row["dropped"] = samples.dropped;
  if (samples.kept.empty()) return;
  std::vector<double> seconds, peaks;
  for (const Sample& sample : samples.kept) seconds.push_back(sample.seconds), peaks.push_back(sample.peak);
  row["step_s"] = quantile(seconds, 0.5);
  row["step_p10_s"] = quantile(seconds, 0.1), row["step_p90_s"] = quantile(seconds, 0.9);
  row["floor_s"] = floor_seconds(unavoidable_work(planned), quantile(peaks, 0.5));
}

// The smallest of 30 calls, in seconds of this thread.
double cpu_seconds(FunctionRef<void()> work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  double smallest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 30; ++i) {
    const double start = now();
    work();
    smallest = std::min(smallest, now() - start);
  }
  return smallest;
}

nlohmann::ordered_json measure(const Point& point) {
  Training training(point);
  const Trace trace = training.record();
  const auto made = make_plan(trace);
  const Plan& plan = *made;
  nlohmann::ordered_json row{{"series", point.series},
                             {"at", point.at},
                             {"threads", thread_count()},
                             {"nodes", trace.nodes.size()},
                             {"kernel_calls", plan.kernel_calls()}};
  Samples steps = take_samples(kSamples, [&] { training.run(); });
  drop_disturbed(steps);
  add_step(row, steps, plan.trace());
  row["record_s"] = cpu_seconds([&] { training.record(); });
  row["plan_s"] = cpu_seconds([&] { make_plan(trace); });
  return row;
}

std::vector<std::function<Point()>> all_points() {
  std::vector<std::function<Point()>> points;
  for (const int64_t n : {1, 4, 16, 64, 256, 1024})
    points.push_back([n] { return Point{"batch", n, models::digits(random_key(1), {.heads = {"class"}}), n}; });
  for (const int64_t n : {10, 30, 100, 300, 1000}) points.push_back([n] { return Point{"depth", n, deep(n), 32}; });
  for (const int64_t n : {16, 32, 64, 128, 256, 512}) points.push_back([n] { return Point{"width", n, wide(n), 8}; });
  return points;
}

std::string milliseconds(const nlohmann::ordered_json& row, const char* name) {
  return row.contains(name) ? fmt::format("{:9.3f} ms", row[name].get<double>() * 1e3) : "        busy";
}

void run(const std::string& file, const std::vector<std::string>& series) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& make : all_points()) {
    const Point point = make();
    if (!series.empty() && std::find(series.begin(), series.end(), point.series) == series.end()) continue;
    const auto& row = rows.emplace_back(measure(point));
    fmt::print("{} {:5}: step {}, recorded in {}, planned in {}, {} nodes\n", point.series, point.at,
               milliseconds(row, "step_s"), milliseconds(row, "record_s"), milliseconds(row, "plan_s"),
               row["nodes"].get<int>());
    std::fflush(stdout);
  }
  if (!file.empty()) std::ofstream(file) << rows.dump(1) << "\n";
}

}  // namespace
}  // namespace retrace::bench

int main(int argc, char** argv) {
  std::string json;
  std::vector<std::string> series;
  for (int i = 1; i < argc; ++i) {
    const std::string argument(argv[i]);
    if (argument.starts_with("--json="))
      json = argument.substr(7);
    else if (argument == "batch" || argument == "depth" || argument == "width")
      series.push_back(argument);
    else
      return fmt::print(stderr, "usage: scaling [--json=FILE] [batch] [depth] [width]\n"), 2;
  }
  retrace::bench::run(json, series);
}
