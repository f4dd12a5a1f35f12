#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/trace/record.h"
#include "retrace/train/padding_cut.h"
#include "retrace/train/prediction_inputs.h"
#include "retrace/train/prediction_table.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/run_network.h"
#include "retrace/train/run_table.h"
#include "retrace/train/train_job.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace {

void check_predictable(const nn::Network& network) {
  for (const auto& output : network.outputs)
    if (output.kind == nn::OutputKind::image || output.kind == nn::OutputKind::position_scores)
      throw Error(ErrorKind::usage, 422, "predict writes classes and values")
          .got(
              fmt::format("network \"{}\", whose output \"{}\" is {}", network.name, output.name, text_of(output.kind)))
          .help(output.kind == nn::OutputKind::position_scores
                    ? "retrace generate goes on with a text by a run that was trained on text"
                    : "retrace test measures it, and retrace report shows its images");
}

}  // namespace

Prediction predict_run(const std::filesystem::path& run, const std::filesystem::path& input) {
  const FloatingPointScope floating_point;
  const auto [job, network] = read_run_to_predict(run);
  check_predictable(network);
  const auto [parameters, state] = from_safetensors(read_run_weights(run), {network.parameters, network.state},
                                                    (run / "weights.safetensors").string());
  PredictionInputs inputs(job, network, input, read_run_table(run));
  PredictionTable table(job, network, inputs, read_class_names(run));
  const auto padding = masked_padding(job.network, network.outputs);
  while (const auto batch = inputs.next()) {
    const Tensor x = without_padding(*batch, padding);
    const Tree y = network.forward(x, parameters, state, Phase::inference).y;
    evaluate();
    table.add(y, batch->shape()[0]);
  }
  return {table.rows(), table.take()};
}

int64_t predict_run(const std::filesystem::path& run, const std::filesystem::path& input,
                    const std::filesystem::path& output) {
  check_run_output(output, input);
  const Prediction found = predict_run(run, input);
  write_file_whole(output, found.csv);
  return found.rows;
}

}  // namespace retrace
