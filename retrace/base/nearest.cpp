#include "retrace/base/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "retrace/base/error.h"

namespace retrace {
namespace {

constexpr size_t kLongestName = 200, kMostEdits = 3;

// What other frameworks call things, and our names of them.
constexpr std::pair<const char*, const char*> kElsewhere[] = {
    {"avg_pool2d", "average_pool2d"},
    {"batch_norm1d", "batch_norm"},
    {"batch_norm2d", "batch_norm"},
    {"bce", "binary-cross-entropy"},
    {"bce_with_logits", "binary-cross-entropy"},
    {"bilstm", "lstm"},
    {"categorical_crossentropy", "cross-entropy"},
    {"checkpoint", "--resume"},
    {"clip_grad_norm", "gradient_threshold"},
    {"conv2d_transpose", "transposed_conv2d"},
    {"conv_transpose2d", "transposed_conv2d"},
    {"cpu", "--device"},
    {"create", "init"},
    {"criterion", "loss"},
    {"cuda", "--device"},
    {"dashboard", "monitor"},
    {"dataset", "source"},
    {"dense", "linear"},
    {"diff", "compare"},
    {"eval", "test"},
    {"evaluate", "test"},
    {"fc", "linear"},
    {"fit", "train"},
    {"fully_connected", "linear"},
    {"gpu", "--device"},
    {"gpus", "--device"},
    {"grad_clip", "gradient_threshold"},
    {"hidden_size", "features"},
    {"in_features", "features"},
    {"infer", "predict"},
    {"inference", "predict"},
    {"input_dim", "vocabulary"},
    {"j", "--threads"},
    {"kernel_size", "size"},
    {"learning_rate", "--learn-rate"},
    {"learning_rate", "initial_learn_rate"},
    {"lr", "--learn-rate"},
    {"lr", "initial_learn_rate"},
    {"lr_scheduler", "schedule"},
    {"mae", "mean-absolute-error"},
    {"mask_zero", "padding_token"},
    {"mean", "global_average_pool1d"},
    {"mse", "mean-squared-error"},
    {"multihead_attention", "self_attention"},
    {"name", "source"},
    {"new", "init"},
    {"nll_loss", "cross-entropy"},
    {"num_classes", "features"},
    {"num_embeddings", "vocabulary"},
    {"num_epochs", "--epochs"},
    {"num_features", "features"},
    {"num_heads", "heads"},
    {"num_threads", "--threads"},
    {"num_workers", "loader_threads"},
    {"o", "--out"},
    {"optimizer", "solver"},
    {"out_channels", "filters"},
    {"out_features", "features"},
    {"output", "--out"},
    {"p", "probability"},
    {"padding_idx", "padding_token"},
    {"parse_dates", "date_columns"},
    {"pool_size", "size"},
    {"pretrained", "initial_weights"},
    {"relu6", "clipped_relu"},
    {"resume", "train"},
    {"return_sequences", "last"},
    {"run", "train"},
    {"sample", "generate"},
    {"scheduler", "schedule"},
    {"smooth_l1", "huber"},
    {"sparse_categorical_crossentropy", "cross-entropy"},
    {"summary", "analyze"},
    {"swish", "silu"},
    {"tensorboard", "monitor"},
    {"test_size", "test_share"},
    {"test_split", "test_share"},
    {"tune", "sweep"},
    {"units", "features"},
    {"upsample", "resize2d"},
    {"val_split", "test_share"},
    {"validate", "test"},
    {"validation_split", "test_share"},
    {"vocab_size", "vocabulary"},
};

// Letters that are added, left out or replaced, and neighbours that are swapped: the smallest number of these mistakes.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, above, row(b.size() + 1);  // the rows of i - 2, i - 1 and i letters of a
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j - 1] + (a[i - 1] != b[j - 1]), above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// Without a locale.
std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

// MaxPool2d is max_pool2d.
std::string joined_words(std::string name) {
  std::erase_if(name, [](char c) { return c == '_' || c == '-'; });
  return name;
}

std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find_first_of("_-", at), name.size());
    words.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// Whether all words of `part` stand in `whole`, in their order.
bool has_words(const std::vector<std::string_view>& part, const std::vector<std::string_view>& whole) {
  size_t found = 0;
  for (const auto& word : whole) found += found < part.size() && word == part[found];
  return found == part.size();
}

// The shortest of the known names that is `name` with more words: max_epochs for epochs.
std::string with_more_words(const std::string& name, const std::vector<std::string>& known) {
  const auto words = words_of(name);
  std::string best;
  for (const auto& candidate : known)
    if (has_words(words, words_of(candidate)) && (best.empty() || candidate.size() < best.size())) best = candidate;
  return best;
}

}  // namespace

std::string name_elsewhere(std::string_view name, const std::vector<std::string>& known) {
  const std::string lower = lower_case(name);
  for (const auto& [other, ours] : kElsewhere)
    if (joined_words(lower) == joined_words(other) && std::find(known.begin(), known.end(), ours) != known.end())
      return ours;
  return "";
}

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  if (name.empty() || name.size() > kLongestName) return "";
  if (std::string ours = name_elsewhere(name, known); !ours.empty()) return ours;
  const std::string lower = lower_case(name);
  const size_t most = std::min(std::clamp<size_t>(name.size() / 3, 2, kMostEdits), name.size() - 1);
  std::string best;
  size_t best_distance = most + 1;
  for (const auto& candidate : known) {
    if (candidate.size() > name.size() + most) continue;
    const std::string known_name = lower_case(candidate);
    const size_t distance =
        std::min(edit_distance(lower, known_name), edit_distance(joined_words(lower), joined_words(known_name)));
    if (distance < best_distance) best = candidate, best_distance = distance;
  }
  return best.empty() ? with_more_words(lower, known) : best;
}

}  // namespace retrace
