#include "retrace/train/job_start_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/train/network_toml.h"

namespace retrace {
namespace {

constexpr int64_t kBatch = 32;
constexpr int64_t kShards = 4;       // of mini-batches of images; small networks on numbers gain nothing by workers
constexpr int64_t kFewSteps = 1000;  // in a training of so few steps or more, small sets are learned, too

// The values in their own units; the layers before them compute with numbers near 1.
std::string scaling_layer_text(const FoundData& data) {
  if (data.scale == 1 && data.offset == 0) return "";
  return fmt::format("  {{type = \"scaling\", scale = {}, offset = {}}},  # deviation and mean of what is learned\n",
                     toml_text(OptionValue(data.scale)), toml_text(OptionValue(data.offset)));
}

// The end of the network: a number for each class or value.
std::string last_layers(const FoundData& data) {
  const bool classes = data.classes > 0;
  const int64_t width = classes ? data.classes : data.train.variables[1].shape.back();
  if (has_padding(data.target.kind))
    return fmt::format("  {{type = \"linear\", features = {}, flatten = false}},  # at each position: {}\n", width,
                       data.target.kind == nn::OutputKind::token_scores ? "a score for the blank and each token"
                       : classes                                        ? "a score for each class"
                                                                        : "the values") +
           scaling_layer_text(data);
  return fmt::format("  {{type = \"linear\", features = {}}},{}\n", width,
                     classes ? "  # a score for each class\n  {type = \"softmax\"}," : "  # the values") +
         scaling_layer_text(data);
}

// Convolutions and pools, until the images or volumes are small.
std::string convolution_layers(const Shape& sample) {
  std::string text;
  const int axes = sample.rank() - 1;
  const int64_t fewest = axes == 2 ? 16 : 8;
  int64_t side = *std::min_element(sample.begin(), sample.end() - 1);
  for (int64_t filters = fewest; filters <= 4 * fewest; filters *= 2, side /= 2) {
    text += fmt::format(
        "  {{type = \"conv{}d\", size = 3, filters = {}, padding = \"same\"}}, {{type = \"batch_norm\"}}, "
        "{{type = \"relu\"}},\n",
        axes, filters);
    if (side < 8) break;
    text += fmt::format("  {{type = \"max_pool{}d\", size = 2}},\n", axes);
  }
  return text;
}

std::string feature_layers() {
  return "  {type = \"batch_norm\"},  # brings all features to one scale\n"
         "  {type = \"linear\", features = 32}, {type = \"relu\"},\n"
         "  {type = \"linear\", features = 32}, {type = \"relu\"},\n";
}

// Blocks of attention and of two linear layers at each position.
std::string sequence_layers(const FoundData& data) {
  constexpr int64_t kFeatures = 64, kHeads = 4, kBlocks = 2;
  return fmt::format(
      "  {{type = \"embedding\", vocabulary = {}, features = {}}},  # a row of numbers for each token\n"
      "  {{type = \"position_embedding\", length = {}}},\n"
      "  {{repeat = {}, name = \"block\", layers = [\n"
      "    {{type = \"layer_norm\"}},\n"
      "    {{type = \"self_attention\", heads = {}, causal = true}},\n"
      "    {{type = \"add\", from = \"input\", name = \"attended\"}},\n"
      "    {{type = \"layer_norm\"}},\n"
      "    {{type = \"linear\", features = {}, flatten = false}}, {{type = \"gelu\"}},\n"
      "    {{type = \"linear\", features = {}, flatten = false}},\n"
      "    {{type = \"add\", from = \"attended\"}},\n"
      "  ]}},\n"
      "  {{type = \"layer_norm\"}},\n"
      "  {{type = \"linear\", features = {}, flatten = false}},  # a score for each token that may follow\n",
      data.classes, kFeatures, data.train.variables[0].shape[0], kBlocks, kHeads, 4 * kFeatures, kFeatures,
      data.classes);
}

// Whether samples are texts of a class, padded with the token 0.
bool of_padded_tokens(const FoundData& data) {
  return data.target.kind == nn::OutputKind::class_scores && data.source->size_keys == "data.length";
}

// Bytes, and the token that pads.
std::string padded_layers() {
  constexpr int64_t kTokens = 257, kFeatures = 32, kHidden = 64;
  return fmt::format(
      "  {{type = \"embedding\", vocabulary = {}, features = {}, padding_token = 0}},  # a row of numbers for each "
      "token\n"
      "  {{type = \"lstm\", features = {}, bidirectional = true}},\n"
      "  {{type = \"global_max_pool1d\"}},\n",
      kTokens, kFeatures, kHidden);
}

// Series of numbers, whose padding is NaN; rows up to a time have none.
std::string series_layers(const FoundData& data) {
  constexpr int64_t kHidden = 64;
  if (data.source->forecasts)
    return fmt::format(
        "  {{type = \"sequence_input\", normalization = \"zscore\"}},  # each column by its mean and deviation\n"
        "  {{type = \"lstm\", features = {}, last = true}},  # what the last row knows of those before\n",
        kHidden);
  const char* const pool = has_padding(data.target.kind) ? "" : "  {type = \"global_max_pool1d\"},\n";
  return fmt::format(
      "  {{type = \"sequence_input\", normalization = \"zscore\"}},  # each feature by its mean and deviation; knows "
      "padding\n"
      "  {{type = \"lstm\", features = {}, bidirectional = true}},\n{}",
      kHidden, pool);
}

// A convolution at full size, with what follows it.
std::string convolution_line(int64_t filters, const char* name) {
  return fmt::format(
      "  {{type = \"conv2d\", size = 3, filters = {}, padding = \"same\"}}, {{type = \"batch_norm\"}}, {{type = "
      "\"relu\"{}}},\n",
      filters, *name ? fmt::format(", name = \"{}\"", name) : "");
}

// Twice as high and wide, beside what was made at that size before.
std::string enlarging_lines(int64_t filters, const char* name) {
  return fmt::format(
             "  {{type = \"transposed_conv2d\", size = 2, stride = 2, filters = {}}}, {{type = \"concatenate\", from = "
             "\"{}\"}},\n",
             filters, name) +
         convolution_line(filters, "");
}

// A U-Net of two poolings: what is made of an image has its size.
std::string image_to_image_layers(const FoundData& data) {
  constexpr int64_t kFilters = 16;
  const char* const pool = "  {type = \"max_pool2d\", size = 2},\n";
  const bool classes = data.classes > 0;
  return convolution_line(kFilters, "fine") + pool + convolution_line(2 * kFilters, "middle") + pool +
         convolution_line(4 * kFilters, "") + enlarging_lines(2 * kFilters, "middle") +
         enlarging_lines(kFilters, "fine") +
         fmt::format("  {{type = \"conv2d\", size = 1, filters = {}}},{}\n",
                     classes ? data.classes : data.train.variables[1].shape.back(),
                     classes ? "  # a score for each class at each pixel\n  {type = \"softmax\"}," : "  # the image");
}

bool makes_images(const FoundData& data) {
  return data.target.kind == nn::OutputKind::image || data.target.kind == nn::OutputKind::pixel_scores;
}

std::string layers_text(const FoundData& data) {
  if (makes_images(data)) return image_to_image_layers(data);
  if (data.train.variables[0].shape.rank() == 2) return series_layers(data) + last_layers(data);
  if (of_padded_tokens(data)) return padded_layers() + last_layers(data);
  if (data.target.kind == nn::OutputKind::position_scores) return sequence_layers(data);
  const Shape& sample = data.train.variables[0].shape;
  return (sample.rank() >= 3 ? convolution_layers(sample) : feature_layers()) + last_layers(data);
}

std::string network_text(const FoundData& data, std::string network) {
  if (network.empty() && data.target.kind == nn::OutputKind::image && !data.source->reads_folder)
    network = "autoencoder";
  if (!network.empty()) return fmt::format("[network]\nname = {}\n", toml_text(OptionValue(network)));
  return "[network]  # docs/networks.md; retrace analyze shows sizes and learnables\nlayers = [\n" + layers_text(data) +
         "]\n";
}

// The options that are not the standard ones, with what they mean.
std::string data_text(const FoundData& data) {
  std::string text = "[data]  # docs/data.md\nsource = " + toml_text(OptionValue(data.source->name)) + "\n";
  if (data.source->reads_folder) text += "path = " + toml_text(OptionValue(data.request.path.string())) + "\n";
  if (data.test_share > 0)
    text += fmt::format("test_share = {}  # of the samples {} put aside for tests; always the same ones\n",
                        data.test_share, data.source->forecasts ? "are the last, which are" : "is");
  for (const auto& rule : data.source->options) {
    const OptionValue& value = *data.request.options.find(rule.name);
    const auto note = data.notes.find(std::string(rule.name));
    if (value != rule.standard)
      text += fmt::format("{} = {}  # {}\n", rule.name, toml_text(value),
                          note == data.notes.end() ? rule.help : note->second);
  }
  if (const OptionValue* dates = data.request.options.find("date_columns");
      dates && !std::get<std::vector<std::string>>(*dates).empty())
    text += "# do rows follow each other in time? retrace init --source forecast learns later ones from those before\n";
  if (data.train.variables[0].shape.rank() == 3 && data.classes > 0)
    text += "# transforms = [\"random-horizontal-flip\", \"random-crop\"]  # each image anew in every epoch\n";
  return text;
}

std::string training_text(const FoundData& data) {
  const int64_t samples = data.train.samples, batch = std::min(kBatch, samples);
  const int64_t shards = data.train.variables[0].shape.rank() >= 3 ? std::min(kShards, batch) : 1;
  const int64_t steps = (samples + batch - 1) / batch, epochs = std::clamp<int64_t>(kFewSteps / steps, 10, 100);
  return fmt::format(
             "[training]  # docs/training.md\n"
             "max_epochs = {}\n"
             "mini_batch_size = {}\n"
             "shards = {}  # parts of a mini-batch, so many workers can share it; another number is another result\n"
             "solver = \"adam\"\n"
             "initial_learn_rate = 0.001\n"
             "shuffle = \"every-epoch\"\n"
             "# schedule = \"cosine\"  # the learn rate falls to 0\n"
             "# gradient_threshold = 1.0  # gradients of a larger norm are clipped\n"
             "# output_network = \"best-validation\"  # not the weights of the last step\n",
             epochs, batch, shards) +
         (data.target.kind == nn::OutputKind::pixel_scores ? "metrics = [\"accuracy\", \"mean-iou\"]\n" : "");
}

std::string what_is_learned(const FoundData& data) {
  if (data.target.kind == nn::OutputKind::position_scores)
    return fmt::format("the token behind each of them, of {}, is", data.classes);
  if (data.target.kind == nn::OutputKind::token_scores) return fmt::format("texts of {} tokens are", data.classes - 1);
  const char* const where = data.target.kind == nn::OutputKind::pixel_scores ? " at each pixel"
                            : has_padding(data.target.kind)                  ? " at each position"
                                                                             : "";
  if (data.classes > 0) return fmt::format("{} classes{} are", data.classes, where);
  if (data.target.kind == nn::OutputKind::image) return "images are";
  const int64_t values = data.train.variables[1].shape.back();
  return values == 1 ? fmt::format("1 value{} is", where) : fmt::format("{} values{} are", values, where);
}

// What counts each class alike: the samples by the number of classes, divided by those of the class.
std::string uneven_text(const FoundData& data) {
  constexpr size_t kMost = 20;
  if (data.class_samples.empty()) return "";
  const auto [least, most] = std::minmax_element(data.class_samples.begin(), data.class_samples.end());
  const auto name = [&](auto at) {
    const auto number = static_cast<size_t>(at - data.class_samples.begin());
    const auto& names = data.train.facts.class_names;
    return number < names.size() ? fmt::format("\"{}\"", printable(names[number])) : fmt::format("{}", number);
  };
  std::string text = fmt::format(
      "# Classes have from {} samples ({}) to {} ({}): accuracy says little of rare ones, the metric f-score more, "
      "and\n"
      "# an output may weigh them (docs/networks.md 3)",
      *least, name(least), *most, name(most));
  if (data.class_samples.size() > kMost) return text + ".\n";
  std::string weights;
  for (const int64_t samples : data.class_samples)
    weights += fmt::format("{}{:.3g}", weights.empty() ? "" : ", ",
                           static_cast<double>(data.train.samples) /
                               static_cast<double>(std::ssize(data.class_samples) * std::max<int64_t>(1, samples)));
  return text + fmt::format(": class_weights = [{}]\n", weights);
}

std::string heading(const FoundData& data, const std::string& file) {
  const Shape& sample = data.train.variables[0].shape;
  const bool tokens = data.target.kind == nn::OutputKind::position_scores || of_padded_tokens(data);
  const std::string what = sample.rank() == 4       ? "volumes of " + sample.text()
                           : sample.rank() == 3     ? "images of " + sample.text()
                           : data.source->forecasts ? fmt::format("windows of {} rows", sample[0])
                           : sample.rank() == 2     ? fmt::format("series of at most {} positions", sample[0])
                                                    : fmt::format("{} {}", sample[0], tokens ? "tokens" : "features");
  return fmt::format(
      "# {} samples to train on and {} to test on: {}, from which {} learned.\n"
      "{}# A start, made by retrace init: change what you like. Train it: retrace train {}\n",
      data.train.samples, data.test.samples, what, what_is_learned(data), uneven_text(data), printable(file));
}

}  // namespace

std::string start_text(const FoundData& data, const std::string& network, const std::string& file) {
  return heading(data, file) + "seed = 1\n\n" + network_text(data, network) + "\n" + data_text(data) + "\n" +
         training_text(data) +
         "\n[validation]\nfrequency = 1  # epochs from one look at the test set to the next\n"
         "# patience = 5  # ends a training after so many validations in a row without a better one\n";
}

}  // namespace retrace
