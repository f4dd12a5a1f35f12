#include "retrace/train/prediction_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "retrace/train/job_data.h"
#include "retrace/train/token_path.h"

namespace retrace {
namespace {

std::string number_text(float value) {  // the shortest text that reads back to the same bits
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return std::string(text, end);
}

// A field of a CSV file.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + "\"";
}

}  // namespace

PredictionTable::PredictionTable(const Job& job, const nn::Network& network, const PredictionInputs& inputs,
                                 ClassNames classes)
    : job_(resolved(job)), network_(network), inputs_(inputs), classes_(std::move(classes)) {
  for (size_t k = 0; k < network_.outputs.size(); ++k) by_position_ = by_position_ || has_positions(k);
}

void PredictionTable::add(const Tree& y, int64_t count) {
  if (csv_.empty()) csv_ = header(y);
  std::vector<Made> made;
  for (size_t k = 0; k < network_.outputs.size(); ++k) {
    const Tensor& one = y[network_.outputs[k].name].tensor();
    const bool wide = has_positions(k) || network_.outputs[k].kind == nn::OutputKind::token_scores;
    const int64_t positions = wide ? one.shape()[1] : 1;
    made.push_back({one.to_vector<float>(), count > 0 ? one.size() / (count * positions) : 0, positions});
  }
  for (int64_t i = 0; i < count; ++i, ++samples_) {
    const int64_t positions = by_position_ ? inputs_.length(samples_) : 1;
    for (int64_t position = 0; position < positions; ++position) add_row(made, i, position);
  }
}

bool PredictionTable::is_class(size_t output) const {
  const auto kind = network_.outputs[output].kind;
  return kind == nn::OutputKind::class_scores || kind == nn::OutputKind::series_scores;
}

bool PredictionTable::has_positions(size_t output) const {
  const auto kind = network_.outputs[output].kind;
  return kind == nn::OutputKind::series_scores || kind == nn::OutputKind::series_values;
}

std::string PredictionTable::header(const Tree& y) const {
  std::string text = inputs_.files().empty() ? "index" : "index,file";
  if (by_position_) text += ",position";
  for (size_t k = 0; k < network_.outputs.size(); ++k) {
    const std::string& name = network_.outputs[k].name;
    const int64_t width = y[name].tensor().shape().back();
    if (network_.outputs[k].kind == nn::OutputKind::token_scores) {
      text += "," + name;
      continue;
    }
    if (is_class(k)) text += "," + name + (classes_.empty() ? "" : "," + name + "_name");
    for (int64_t c = 0; c < width; ++c)
      text += is_class(k)  ? "," + quoted((k == 0 ? "score_" : name + "_score_") + class_name(classes_, c))
              : width == 1 ? "," + name
                           : fmt::format(",{}_{}", name, c);
  }
  return text + "\n";
}

void PredictionTable::add_row(const std::vector<Made>& made, int64_t i, int64_t position) {
  csv_ += fmt::format("{}", samples_);
  if (!inputs_.files().empty()) csv_ += "," + quoted(inputs_.files()[static_cast<size_t>(samples_)]);
  if (by_position_) csv_ += fmt::format(",{}", position);
  ++rows_;
  for (size_t k = 0; k < made.size(); ++k) {
    if (network_.outputs[k].kind == nn::OutputKind::token_scores) {
      csv_ += "," + quoted(tokens(made[k], i));
      continue;
    }
    const int64_t width = made[k].width, at = has_positions(k) ? i * made[k].positions + position : i;
    const auto row = made[k].values.begin() + at * width;
    if (is_class(k)) add_class(std::max_element(row, row + width) - row);
    for (int64_t c = 0; c < width; ++c) csv_ += "," + number_text(row[c]);
  }
  csv_ += "\n";
}

void PredictionTable::add_class(int64_t number) {
  csv_ += fmt::format(",{}", number);
  if (!classes_.empty()) csv_ += "," + quoted(class_name(classes_, number));
}

std::string PredictionTable::tokens(const Made& made, int64_t i) const {
  const auto size = static_cast<size_t>(made.positions * made.width);
  std::vector<std::string> names;
  for (const int32_t token : best_path(std::span(made.values).subspan(static_cast<size_t>(i) * size, size), made.width))
    names.push_back(class_name(classes_, token));
  return source_of(job_).text_of_tokens(names, job_.data.options);
}

}  // namespace retrace
