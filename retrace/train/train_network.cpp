#include "retrace/train/train_network.h"

#include <atomic>
#include <filesystem>

#include "retrace/base/fp_environment.h"
#include "retrace/train/checkpoint_files.h"
#include "retrace/train/network_call.h"
#include "retrace/train/stop_request.h"

namespace retrace {
namespace {

// Keeps what is told, and asks the user after each step.
class History : public Monitor {
 public:
  explicit History(const TrainNetworkOptions& options) : options_(options) {}

  // Whether the user ends the training: by the output function, or by a request to the run in the folder.
  bool stops() const { return stopped_ || requests_.received(); }

  void receive(const Event& event) override {
    requests_.receive(event);
    if (const auto* validation = std::get_if<ValidationDone>(&event)) info.validations.push_back(*validation);
    if (options_.monitor) options_.monitor->receive(event);
    const auto* step = std::get_if<StepDone>(&event);
    if (!step) return;
    info.steps.push_back(*step);
    if (!options_.output_function) return;
    const auto* last = info.validations.empty() ? nullptr : &info.validations.back();
    if (options_.output_function({*step, last})) stopped_ = true;
  }

  TrainingInfo info;

 private:
  const TrainNetworkOptions& options_;
  std::atomic<bool> stopped_ = false;
  StopRequests requests_;
};

TrainingInfo completed(TrainingInfo info, const TrainJobResult& result) {
  info.validation_loss = result.loss;
  info.metrics = result.metrics;
  info.epochs = result.epochs;
  info.iterations = result.iterations;
  info.output_iteration = result.output_iteration;
  info.stop_reason = result.stop_reason;
  info.cause = result.cause.found;
  info.help = result.cause.help;
  info.fingerprint = result.fingerprint;
  info.mode = result.mode;
  info.device = result.device;
  info.seconds = result.seconds;
  return info;
}

}  // namespace

TrainedNetwork train_network(const Datastore& data, const nn::Network& network, const Loss& loss,
                             const TrainNetworkOptions& options, Place place) {
  const FloatingPointScope floating_point;
  nn::Network trained = with_loss(network, loss, place);
  const TrainingCall call = call_of(data, trained, options, place);
  std::optional<Pool> own;
  if (!options.pool) own = own_pool(call, {.timeout = options.training.timeout}, place);
  History history(options);
  TrainJobControl control{.out = options.out, .write_run = !options.out.empty(), .monitor = &history};
  if (options.output_function || control.write_run) control.stop = [&] { return history.stops(); };
  if (options.resume && !states_of(options.out).empty()) control.resume = options.out;
  const auto result =
      with_place(place, [&] { return run_training(options.pool ? *options.pool : *own, call, control); });
  trained.parameters = result.weights.parameters.to(cpu_device());
  trained.state = result.weights.state.to(cpu_device());
  return {std::move(trained), completed(std::move(history.info), result)};
}

TrainedNetwork train_network(const Datastore& data, const nn::Layer& layers, const Loss& loss,
                             const TrainNetworkOptions& options, Place place) {
  const FloatingPointScope floating_point;
  const nn::Network network = network_of(data, layers, loss, options.seed, place);
  return train_network(data, network, loss.function ? Loss(network.loss) : loss, options, place);
}

}  // namespace retrace
