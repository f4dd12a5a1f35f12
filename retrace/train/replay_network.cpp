#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/train/network_call.h"
#include "retrace/train/replay_run.h"
#include "retrace/train/run_folder.h"

namespace retrace {
namespace {

// A folder of a program's training.
void check_run(const std::filesystem::path& run, Place place) {
  with_place(place, [&] { check_run_folder(run); });
  std::error_code failure;
  if (std::filesystem::exists(run / "training.toml", failure)) return;
  throw Error(ErrorKind::usage, 397, fmt::format("the run \"{}\" is one of a job", printable(run.string())))
      .where(place)
      .help("its job.toml says data and network: retrace replay RUN");
}

}  // namespace

ReplayResult replay_network(const std::string& run, const Datastore& data, const nn::Network& network, const Loss& loss,
                            const TrainNetworkOptions& options, ReplaySteps steps, Place place) {
  const FloatingPointScope floating_point;
  check_run(run, place);
  const nn::Network trained = with_loss(network, loss, place);
  const TrainingCall call = call_of(data, trained, options, place);
  std::optional<Pool> own;
  if (!options.pool) own = own_pool(call, {.timeout = options.training.timeout}, place);
  return with_place(place, [&] {
    return replay_training(run, options.pool ? *options.pool : *own, call, options.training.average_decay > 0,
                           {.first = steps.first, .last = steps.last, .monitor = options.monitor});
  });
}

ReplayResult replay_network(const std::string& run, const Datastore& data, const nn::Layer& layers, const Loss& loss,
                            const TrainNetworkOptions& options, ReplaySteps steps, Place place) {
  const FloatingPointScope floating_point;
  const nn::Network network = network_of(data, layers, loss, options.seed, place);
  return replay_network(run, data, network, loss.function ? Loss(network.loss) : loss, options, steps, place);
}

}  // namespace retrace
