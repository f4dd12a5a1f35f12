#include "retrace/train/generate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "retrace/base/fp_environment.h"
#include "retrace/data/token_text.h"
#include "retrace/ops/ops.h"
#include "retrace/run/accelerate.h"
#include "retrace/train/class_names.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/run_network.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace {

constexpr int64_t kMostTokens = 100'000'000;

void check(const GenerateOptions& options) {
  const auto refuse = [](const std::string& what, const std::string& got, const std::string& expected) {
    throw Error(ErrorKind::usage, 427, what).got(got).expected(expected);
  };
  if (options.count < 0 || options.count > kMostTokens)
    refuse("the number of tokens is out of range", fmt::format("{}", options.count),
           fmt::format("0 to {}", kMostTokens));
  if (!(options.temperature >= 0 && options.temperature <= 1000))
    refuse("the temperature is out of range", fmt::format("{}", options.temperature), "0 to 1000");
  if (options.start.empty()) refuse("there is nothing to go on from", "an empty start", "one character or more");
}

// The text and the network that continues it.
class Writer {
 public:
  Writer(const std::filesystem::path& run, const GenerateOptions& options)
      : options_(options), trained_(read_run_to_predict(run)), names_(read_class_names(run)) {
    if (trained_.job.data.source.value_or("") != "text" || names_.empty())
      throw Error(ErrorKind::usage, 428, "the run was not trained on text")
          .where(run.string())
          .got(fmt::format("data.source \"{}\"", trained_.job.data.source.value_or("")))
          .expected("a run of a job with data.source = \"text\", such as jobs/gpt-char.toml")
          .help("retrace predict asks other runs");
    const OptionValues& data = trained_.job.data.options;
    length_ = data.integer("length");
    for (const uint16_t token : token_text({{"--start", options.start}}, tokens_of(data), names_).numbers)
      tokens_.push_back(token);
    const nn::Network& network = trained_.network;
    weights_ = from_safetensors(read_run_weights(run), {network.parameters, network.state},
                                (run / "weights.safetensors").string());
    draws_ = uniform({options.count}, random_key(options.seed).split("generate")).to_vector<float>();
  }

  void write(FunctionRef<void(const std::string&)> write) {
    const auto of_whole_windows = accelerate([&](const Tensor& x) { return next_probabilities(x); });
    for (const float draw : draws_) {
      const auto from = tokens_.end() - std::min<int64_t>(length_, std::ssize(tokens_));
      const std::vector<float> window(from, tokens_.end());
      const Tensor x = Tensor::from<float>(window, {1, std::ssize(window)}, "BC");
      const Tensor next = std::ssize(window) == length_ ? of_whole_windows(x) : next_probabilities(x);
      const auto p = next.to_vector<float>();
      tokens_.push_back(static_cast<float>(options_.temperature > 0 ? drawn(p, draw) : likeliest(p)));
      write(token_bytes(names_[static_cast<size_t>(tokens_.back())]));
    }
  }

 private:
  // Of the tokens that there are, behind the last one of x.
  Tensor next_probabilities(const Tensor& x) const {
    const Tree y = trained_.network.forward(x, weights_.parameters, weights_.state, Phase::inference).y;
    const Tensor& scores = y.is_leaf() ? y.tensor() : y[trained_.network.outputs[0].name].tensor();
    const Tensor last = reshape(select(scores, 1, -1), {scores.shape().back()});
    const Tensor known = slice(last, 0, {0, std::ssize(names_)});
    if (options_.temperature == 0 || options_.temperature == 1) return known;
    return softmax(log(known) / options_.temperature, 0);
  }

  static int64_t likeliest(const std::vector<float>& p) { return std::max_element(p.begin(), p.end()) - p.begin(); }
  static int64_t drawn(const std::vector<float>& p, float draw) {
    double all = 0, sum = 0;
    for (const float one : p) all += one;
    for (size_t k = 0; k < p.size(); ++k)
      if (sum += p[k]; sum > draw * all) return static_cast<int64_t>(k);
    return likeliest(p);
  }

  const GenerateOptions& options_;
  const TrainedRun trained_;
  const ClassNames names_;
  int64_t length_ = 0;
  std::vector<float> tokens_, draws_;
  NetworkWeights weights_;
};

}  // namespace

void generate_text(const std::filesystem::path& run, const GenerateOptions& options,
                   FunctionRef<void(const std::string& bytes)> write) {
  const FloatingPointScope floating_point;
  check(options);
  Writer writer(run, options);
  write(options.start);
  writer.write(write);
}

}  // namespace retrace
