#include "retrace/report/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "retrace/base/fp_environment.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/data/png_encoder.h"
#include "retrace/monitor/svg.h"
#include "retrace/report/page.h"
#include "retrace/train/class_names.h"
#include "retrace/train/class_numbers.h"
#include "retrace/train/class_pictures.h"
#include "retrace/train/job_data.h"
#include "retrace/train/job_scope.h"
#include "retrace/train/prediction_images.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/run_network.h"
#include "retrace/train/run_table.h"
#include "retrace/train/token_path.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace {

constexpr int64_t kLooked = 500, kBatch = 100, kRows = 20;
constexpr size_t kShown = 24;
constexpr int64_t kLargestPicture = 128;

// An image as a PNG: values from 0 to 1, others from the smallest to the largest. One of other channels than 1 and 3
// shows its first; of a large one every n-th row and column is taken.
std::string picture(std::span<const float> values, const Shape& shape) {
  const int64_t height = shape[0], width = shape[1], channels = shape[2], shown = channels == 3 ? 3 : 1;
  const int64_t every = (std::max(height, width) + kLargestPicture - 1) / kLargestPicture;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const bool plain = *least >= 0 && *most <= 1;
  const float low = plain ? 0 : *least, range = plain ? 1 : std::max(*most - *least, 1e-30f);
  std::vector<uint8_t> bytes;
  for (int64_t y = 0; y < height; y += every)
    for (int64_t x = 0; x < width; x += every)
      for (int64_t c = 0; c < shown; ++c) {
        const float share = (values[static_cast<size_t>((y * width + x) * channels + c)] - low) / range;
        bytes.push_back(share > 0 ? static_cast<uint8_t>(std::min(share, 1.0f) * 255 + 0.5f) : 0);
      }
  return data_address(encode_png(bytes, (height + every - 1) / every, (width + every - 1) / every, shown));
}

bool is_nan(float x) { return std::isnan(x); }

std::string values_text(std::span<const float> values) {
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(values.size(), 8); ++i)
    text += fmt::format("{}{:.4g}", i ? ", " : "", values[i]);
  return values.size() > 8 ? text + ", ..." : text;
}

// A sample and what was made of it.
struct Sample {
  int64_t index = 0;
  std::vector<std::string> pictures;                                  // addresses
  std::string input;                                                  // of features
  std::vector<std::pair<std::string, std::string>> predicted, truth;  // by the names of outputs
  bool wrong = false;
};

// The samples of a mini-batch.
class BatchReader {
 public:
  BatchReader(const nn::Network& network, const ClassNames& names) : network_(network), names_(names) {}

  // `first`: the index of the first sample.
  std::vector<Sample> read(int64_t first, const Tensor& x, const Tree& y, const Tree& targets) const {
    const int64_t count = x.shape()[0];
    std::vector<Sample> samples(static_cast<size_t>(count));
    const auto inputs = x.to_vector<float>();
    for (int64_t i = 0; i < count; ++i) {
      Sample& sample = samples[static_cast<size_t>(i)];
      sample.index = first + i;
      const auto own = part(inputs, count, i);
      if (network_.sample.rank() == 3)
        sample.pictures.push_back(picture(own, network_.sample));
      else
        sample.input = values_text(own);
    }
    for (const auto& output : network_.outputs)
      add(output, y[output.name].tensor(), targets[output.name].tensor(), samples);
    return samples;
  }

 private:
  static std::span<const float> part(const std::vector<float>& values, int64_t count, int64_t i) {
    const size_t size = values.size() / static_cast<size_t>(count);
    return std::span(values).subspan(static_cast<size_t>(i) * size, size);
  }

  void add(const nn::NetworkOutput& output, const Tensor& y, const Tensor& target, std::vector<Sample>& samples) const {
    if (output.kind == nn::OutputKind::class_scores) return add_classes(output.name, y, target, samples);
    if (output.kind == nn::OutputKind::position_scores || output.kind == nn::OutputKind::series_scores)
      return add_positions(output.name, y, target, samples);
    if (output.kind == nn::OutputKind::token_scores) return add_tokens(output.name, y, target, samples);
    if (output.kind == nn::OutputKind::pixel_scores) return add_pixels(y, target, samples);
    const auto count = static_cast<int64_t>(samples.size());
    const auto made = y.to_vector<float>(), wanted = target.to_vector<float>();
    const Shape shape = sample_shape(y.shape());
    for (int64_t i = 0; i < count; ++i) {
      Sample& sample = samples[static_cast<size_t>(i)];
      const auto own = part(made, count, i), truth = part(wanted, count, i);
      if (output.kind == nn::OutputKind::image) {
        sample.pictures.push_back(picture(own, shape));
        sample.pictures.push_back(picture(truth, shape));
      } else {
        const auto counts = static_cast<size_t>(std::find_if(truth.begin(), truth.end(), is_nan) - truth.begin());
        sample.predicted.emplace_back(output.name, values_text(own.first(counts)));
        sample.truth.emplace_back(output.name, values_text(truth.first(counts)));
      }
    }
  }

  void add_classes(const std::string& name, const Tensor& y, const Tensor& target, std::vector<Sample>& samples) const {
    const auto count = static_cast<int64_t>(samples.size());
    const auto scores = y.to_vector<float>();
    const auto labels = target.to_vector<int32_t>();
    for (int64_t i = 0; i < count; ++i) {
      Sample& sample = samples[static_cast<size_t>(i)];
      const auto own = part(scores, count, i);
      const auto best = std::max_element(own.begin(), own.end());
      const int64_t found = best - own.begin(), truth = labels[static_cast<size_t>(i)];
      sample.predicted.emplace_back(name, fmt::format("{} ({:.3f})", class_name(names_, found), *best));
      sample.truth.emplace_back(name, class_name(names_, truth));
      sample.wrong = sample.wrong || found != truth;
    }
  }

  // The most probable class at each position, one behind the other.
  void add_positions(const std::string& name, const Tensor& y, const Tensor& target,
                     std::vector<Sample>& samples) const {
    const auto scores = y.to_vector<float>();
    const auto labels = class_numbers(target);
    const auto count = static_cast<int64_t>(samples.size()), length = std::ssize(labels) / count;
    for (int64_t i = 0; i < count * length; ++i) {
      if (i % length == 0) {
        samples[static_cast<size_t>(i / length)].predicted.emplace_back(name, "");
        samples[static_cast<size_t>(i / length)].truth.emplace_back(name, "");
      }
      Sample& sample = samples[static_cast<size_t>(i / length)];
      if (labels[static_cast<size_t>(i)] < 0) continue;  // padding
      const auto own = part(scores, count * length, i);
      const int64_t found = std::max_element(own.begin(), own.end()) - own.begin(),
                    truth = labels[static_cast<size_t>(i)];
      const char* const between = names_.empty() && i % length > 0 ? " " : "";
      sample.predicted.back().second += between + class_name(names_, found);
      sample.truth.back().second += between + class_name(names_, truth);
      sample.wrong = sample.wrong || found != truth;
    }
  }

  // Pictures of the most probable classes and of the right ones.
  void add_pixels(const Tensor& y, const Tensor& target, std::vector<Sample>& samples) const {
    const auto count = static_cast<int64_t>(samples.size());
    const Shape shape = sample_shape(y.shape());
    const auto colours = visible_colours(names_, shape[2]);
    const auto scores = y.to_vector<float>();
    const auto labels = class_numbers(target);
    for (int64_t i = 0; i < count; ++i) {
      auto& pictures = samples[static_cast<size_t>(i)].pictures;
      const auto pixels = static_cast<size_t>(shape[0] * shape[1]);
      const auto found = highest_classes(part(scores, count, i), shape[2]);
      const auto truth = std::span(labels).subspan(static_cast<size_t>(i) * pixels, pixels);
      pictures.push_back(data_address(class_png(found, shape[0], shape[1], colours)));
      pictures.push_back(data_address(class_png(truth, shape[0], shape[1], colours)));
    }
  }

  // Those of the best path.
  void add_tokens(const std::string& name, const Tensor& y, const Tensor& target, std::vector<Sample>& samples) const {
    const auto scores = y.to_vector<float>();
    const auto targets = class_numbers(target);
    const auto count = static_cast<int64_t>(samples.size()), width = std::ssize(targets) / count;
    for (int64_t i = 0; i < count; ++i) {
      const auto found = best_path(part(scores, count, i), y.shape().back());
      const auto own = std::span(targets).subspan(static_cast<size_t>(i * width), static_cast<size_t>(width));
      const auto truth = own.first(static_cast<size_t>(std::find(own.begin(), own.end(), -1) - own.begin()));
      Sample& sample = samples[static_cast<size_t>(i)];
      sample.predicted.emplace_back(name, tokens_text(found));
      sample.truth.emplace_back(name, tokens_text(truth));
      sample.wrong = sample.wrong || !std::equal(found.begin(), found.end(), truth.begin(), truth.end());
    }
  }

  std::string tokens_text(std::span<const int32_t> tokens) const {
    std::string text;
    for (const int32_t token : tokens) text += (text.empty() ? "" : " ") + class_name(names_, token);
    return text;
  }

  const nn::Network& network_;
  const ClassNames& names_;
};

// The first samples of the test set.
std::vector<Sample> read_samples(const Job& job, const nn::Network& network, const std::filesystem::path& run) {
  const auto [parameters, state] = from_safetensors(read_run_weights(run), {network.parameters, network.state},
                                                    (run / "weights.safetensors").string());
  const ClassNames names = read_class_names(run);
  const JobData data = load_test_data(job, network, read_run_facts(run));
  std::vector<int64_t> indices(static_cast<size_t>(std::min(kLooked, data.test.size())));
  std::iota(indices.begin(), indices.end(), 0);
  MiniBatchQueue queue(
      data.test.subset(indices),
      {.mini_batch_size = kBatch, .formats = data.formats, .outputs = static_cast<int>(data.formats.size())});
  const BatchReader reader(network, names);
  std::vector<Sample> samples;
  while (queue.has_data()) {
    const auto batch = queue.next(Place());
    const Tree y = network.forward(batch[0], parameters, state, Phase::inference).y;
    const auto more = reader.read(static_cast<int64_t>(samples.size()), batch[0], y, targets_of(network, data, batch));
    samples.insert(samples.end(), more.begin(), more.end());
  }
  return samples;
}

std::string caption_of(const Sample& sample) {
  std::string html = fmt::format("#{}", sample.index);
  for (size_t i = 0; i < sample.predicted.size(); ++i)
    html += fmt::format("<br>{}: <b>{}</b>, predicted {}", markup_text(sample.predicted[i].first),
                        markup_text(sample.truth[i].second), markup_text(sample.predicted[i].second));
  return html;
}

std::string gallery_html(const std::vector<Sample>& samples, bool mistakes) {
  std::string html = "<div class=\"samples\">\n";
  size_t shown = 0;
  for (const auto& sample : samples) {
    if ((mistakes && !sample.wrong) || shown == kShown) continue;
    ++shown;
    html += sample.wrong ? "<figure class=\"wrong\">" : "<figure>";
    for (const auto& address : sample.pictures) html += fmt::format("<img src=\"{}\" alt=\"\">", address);
    html += fmt::format("<figcaption>{}</figcaption></figure>\n", caption_of(sample));
  }
  return html + "</div>\n";
}

std::string rows_html(const std::vector<Sample>& samples) {
  std::vector<std::vector<std::string>> rows{{"sample", "input"}};
  for (const auto& [name, text] : samples[0].truth) {
    rows[0].push_back(name);
    rows[0].push_back("predicted " + name);
  }
  for (const auto& sample : samples) {
    if (sample.index == kRows) break;
    rows.push_back({fmt::format("{}", sample.index), sample.input});
    for (size_t i = 0; i < sample.predicted.size(); ++i) {
      rows.back().push_back(sample.truth[i].second);
      rows.back().push_back(sample.predicted[i].second);
    }
  }
  return table_html(rows);
}

}  // namespace

std::string samples_html(const std::filesystem::path& run) {
  const FloatingPointScope floating_point;
  const auto [job, network] = read_run_to_test(run);
  const JobScope scope(settings_of(job));
  const auto samples = read_samples(job, network, run);
  if (network.sample.rank() != 3) return rows_html(samples);
  std::string html = makes_images(network) ? paragraph_html("Input, output, target.") : "";
  html += gallery_html(samples, false);
  const auto wrong = std::count_if(samples.begin(), samples.end(), [](const Sample& one) { return one.wrong; });
  if (wrong == 0) return html;
  return html + paragraph_html(fmt::format("Mistakes among the first {} samples: {}.", samples.size(), wrong)) +
         gallery_html(samples, true);
}

}  // namespace retrace
