#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/trace/record.h"
#include "retrace/train/padding_cut.h"
#include "retrace/train/prediction_images.h"
#include "retrace/train/prediction_inputs.h"
#include "retrace/train/prediction_table.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/run_network.h"
#include "retrace/train/run_table.h"
#include "retrace/train/train_job.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace {

bool is_text(const nn::NetworkOutput& output) { return output.kind == nn::OutputKind::position_scores; }

// A table holds neither texts nor images.
void check_predictable(const nn::Network& network) {
  for (const auto& output : network.outputs)
    if (is_text(output) || output.kind == nn::OutputKind::image || output.kind == nn::OutputKind::pixel_scores)
      throw Error(ErrorKind::usage, 422, "predict writes classes and values into a table")
          .got(
              fmt::format("network \"{}\", whose output \"{}\" is {}", network.name, output.name, text_of(output.kind)))
          .help(is_text(output)         ? "retrace generate goes on with a text by a run that was trained on text"
                : makes_images(network) ? "name a folder for the images: --out images"
                                        : "retrace test measures it, and retrace report shows its images");
}

// A trained run, and samples to ask it about.
struct Asked {
  Job job;
  nn::Network network;
  Tree parameters, state;
};

Asked ask(const std::filesystem::path& run) {
  auto [job, network] = read_run_to_predict(run);
  auto [parameters, state] = from_safetensors(read_run_weights(run), {network.parameters, network.state},
                                              (run / "weights.safetensors").string());
  return {std::move(job), std::move(network), std::move(parameters), std::move(state)};
}

// What the network makes of all samples, mini-batch by mini-batch, goes into `to`.
template <class To>
void predict(const Asked& asked, PredictionInputs& inputs, To& to) {
  const auto padding = masked_padding(asked.job.network, asked.network.outputs);
  while (const auto batch = inputs.next()) {
    const Tensor x = without_padding(*batch, padding);
    const Tree y = asked.network.forward(x, asked.parameters, asked.state, Phase::inference).y;
    evaluate();
    to.add(y, batch->shape()[0]);
  }
}

}  // namespace

Prediction predict_run(const std::filesystem::path& run, const std::filesystem::path& input) {
  const FloatingPointScope floating_point;
  const Asked asked = ask(run);
  check_predictable(asked.network);
  PredictionInputs inputs(asked.job, asked.network, input, read_run_table(run));
  PredictionTable table(asked.job, asked.network, inputs, read_class_names(run));
  predict(asked, inputs, table);
  return {table.rows(), table.take()};
}

bool predicts_images(const std::filesystem::path& run) {
  const FloatingPointScope floating_point;
  return makes_images(read_run_to_predict(run).network);
}

int64_t predict_run_images(const std::filesystem::path& run, const std::filesystem::path& input,
                           const std::filesystem::path& folder) {
  const FloatingPointScope floating_point;
  const Asked asked = ask(run);
  PredictionInputs inputs(asked.job, asked.network, input, read_run_table(run));
  PredictionImages images(asked.job, asked.network, inputs, read_class_names(run), input, folder);
  predict(asked, inputs, images);
  return images.files();
}

int64_t predict_run(const std::filesystem::path& run, const std::filesystem::path& input,
                    const std::filesystem::path& output) {
  check_run_output(output, input);
  const Prediction found = predict_run(run, input);
  write_file_whole(output, found.csv);
  return found.rows;
}

}  // namespace retrace
