#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/trace/record.h"
#include "retrace/train/prediction_inputs.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/run_network.h"
#include "retrace/train/run_table.h"
#include "retrace/train/train_job.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace {

std::string number_text(float value) {  // the shortest text that reads back to the same bits
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

void check_predictable(const nn::Network& network) {
  for (const auto& output : network.outputs)
    if (output.kind != nn::OutputKind::class_scores && output.kind != nn::OutputKind::values)
      throw Error(ErrorKind::usage, 422, "predict writes classes and values")
          .got(fmt::format("network \"{}\", whose output \"{}\" is {}", network.name, output.name,
                           text_of(output.kind)));
}

// A field of a CSV file.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + "\"";
}

// The columns of the outputs for some samples, and their values row by row.
class PredictionTable {
 public:
  // files: of the samples, or none; classes: their names, or none.
  PredictionTable(const nn::Network& network, const std::vector<std::string>& files, ClassNames classes)
      : network_(network), files_(files), classes_(std::move(classes)) {}

  void add(const Tree& y, int64_t count) {
    if (csv_.empty()) csv_ = header(y);
    std::vector<std::vector<float>> values;
    for (const auto& output : network_.outputs) values.push_back(y[output.name].tensor().to_vector<float>());
    for (int64_t i = 0; i < count; ++i) add_row(values, count, i);
  }
  int64_t rows() const { return rows_; }
  std::string take() { return std::move(csv_); }

 private:
  bool is_class(size_t output) const { return network_.outputs[output].kind == nn::OutputKind::class_scores; }

  std::string header(const Tree& y) const {
    std::string text = files_.empty() ? "index" : "index,file";
    for (size_t k = 0; k < network_.outputs.size(); ++k) {
      const std::string& name = network_.outputs[k].name;
      const int64_t width = y[name].tensor().shape().back();
      if (is_class(k)) text += "," + name + (classes_.empty() ? "" : "," + name + "_name");
      for (int64_t c = 0; c < width; ++c)
        text += is_class(k)  ? "," + quoted((k == 0 ? "score_" : name + "_score_") + class_name(classes_, c))
                : width == 1 ? "," + name
                             : fmt::format(",{}_{}", name, c);
    }
    return text + "\n";
  }

  void add_row(const std::vector<std::vector<float>>& values, int64_t count, int64_t i) {
    csv_ += fmt::format("{}", rows_);
    if (!files_.empty()) csv_ += "," + quoted(files_[static_cast<size_t>(rows_)]);
    ++rows_;
    for (size_t k = 0; k < values.size(); ++k) {
      const auto width = static_cast<int64_t>(values[k].size()) / count;
      const auto row = values[k].begin() + i * width;
      if (is_class(k)) add_class(std::max_element(row, row + width) - row);
      for (int64_t c = 0; c < width; ++c) csv_ += "," + number_text(row[c]);
    }
    csv_ += "\n";
  }

  void add_class(int64_t number) {
    csv_ += fmt::format(",{}", number);
    if (!classes_.empty()) csv_ += "," + quoted(class_name(classes_, number));
  }

  const nn::Network& network_;
  const std::vector<std::string>& files_;
  const ClassNames classes_;
  std::string csv_;
  int64_t rows_ = 0;
};

}  // namespace

Prediction predict_run(const std::filesystem::path& run, const std::filesystem::path& input) {
  const FloatingPointScope floating_point;
  const auto [job, network] = read_run_to_predict(run);
  check_predictable(network);
  const auto [parameters, state] = from_safetensors(read_run_weights(run), {network.parameters, network.state},
                                                    (run / "weights.safetensors").string());
  PredictionInputs inputs(job, network, input, read_run_table(run));
  PredictionTable table(network, inputs.files(), read_class_names(run));
  while (const auto batch = inputs.next()) {
    const Tree y = network.forward(*batch, parameters, state, Phase::inference).y;
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
