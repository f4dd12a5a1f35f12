#include "retrace/train/layer_mistakes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "retrace/base/joined.h"
#include "retrace/nn/analyze.h"
#include "retrace/nn/layer_graph.h"
#include "retrace/nn/loss_kind.h"
#include "retrace/train/job_data.h"
#include "retrace/train/metric_kind.h"

namespace retrace {
namespace {

class LayerMistakes {
 public:
  LayerMistakes(const Job& job, const GivenKeys& given, const SourceKind& source)
      : job_(job), given_(given), source_(source), targets_(targets_of(source, job.data.options)) {}

  std::vector<Error> find() {
    nn::checked_layers(job_.network.layers, job_.network.outputs, errors_);
    std::vector<std::string> seen;
    for (const auto& output : job_.network.outputs) {
      if (std::count(seen.begin(), seen.end(), output.name))
        add(fmt::format("two outputs have the name \"{}\"", output.name));
      seen.push_back(output.name);
      check_output(output);
    }
    const Shape& sample = job_.network.input;
    if (std::count(sample.begin(), sample.end(), 0)) add_unknown_sizes();
    if (errors_.empty()) attempt([&] { check_shapes(); });
    return std::move(errors_);
  }

 private:
  Error& add(const std::string& what) {
    return errors_.emplace_back(job_mistake(given_, 458, "network.outputs", what).got(""));
  }

  // Layers are made before files are read.
  void add_unknown_sizes() {
    std::vector<std::string> unknown;
    for (const auto& rule : source_.options)
      if (std::holds_alternative<int64_t>(rule.standard) && job_.data.options.integer(rule.name) == 0 &&
          says_more(rule))
        unknown.push_back(fmt::format("data.{}", rule.name));
    errors_.push_back(
        job_mistake(given_, 459, "data.source", "a network of layers needs the size of a sample")
            .got(job_.network.input.text())
            .help("set " + (source_.size_keys.empty() ? joined(unknown, ", ") : std::string(source_.size_keys))));
  }

  // Whether more would be known of a sample with that option: a transform may make it known, too.
  bool says_more(const OptionRule& rule) const {
    Job job = job_;
    job.data.options.set(rule.name, static_cast<int64_t>(rule.high));
    const Shape sample = likely_sample(job, source_);
    return std::count(sample.begin(), sample.end(), 0) <
           std::count(job_.network.input.begin(), job_.network.input.end(), 0);
  }

  template <class F>
  void attempt(F&& f) {
    try {
      f();
    } catch (const Error& error) {
      errors_.push_back(error);
    }
  }

  void check_output(const nn::NetworkOutput& output) {
    const std::vector<std::string> targets = names_of(targets_);
    if (!target_of(targets_, output)) {
      const auto near = nearest(output.name, targets);
      add(fmt::format("data source \"{}\" has no targets for the output \"{}\"", source_.name, output.name))
          .expected(joined(targets, ", "))
          .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
      return;
    }
    if (!std::isfinite(output.weight) || output.weight < 0)
      add(fmt::format("the weight of the output \"{}\" is out of range", output.name))
          .expected("0 or a positive number");
    attempt([&] { nn::loss_of({output}, {}); });
    attempt([&] { metric_of(output); });
  }

  // Of the layer that makes the output; "": a block.
  std::string last_type(const nn::NetworkOutput& output) const {
    const auto& layers = job_.network.layers;
    for (const auto& layer : layers)
      if (!output.from.empty() && layer.name == output.from) return layer.type;
    return layers.empty() ? "" : layers.back().type;
  }

  void check_shapes() {
    const auto made = nn::analyze(job_.network, {});
    attempt([&] { nn::training_factors(job_.network); });
    for (const auto& output : job_.network.outputs) {
      const Shape& shape = made.outputs[output.name].tensor().shape();
      const bool score = is_scores(output.kind);
      const bool pixels = output.kind == nn::OutputKind::pixel_scores;
      const int rank = static_cast<int>(nn::target_labels(output.kind).size()) + (score && !pixels ? 1 : 0);
      if (output.kind == nn::OutputKind::token_scores && last_type(output) == "softmax")
        errors_.push_back(job_mistake(given_, 405, "network.layers", "the loss \"ctc\" takes logits, no probabilities")
                              .got("a softmax at the end of the layers")
                              .help("remove the softmax: it is a part of the loss"));
      if (shape.rank() == rank) continue;
      add(fmt::format("the output \"{}\" is not {}", output.name, text_of(output.kind)))
          .got(fmt::format("{} for a batch of one", shape.text()))
          .expected(pixels               ? "[batch,height,width,classes]"
                    : rank == 4          ? "[batch,height,width,channels]"
                    : rank == 3 && score ? "[batch,length,classes]"
                    : rank == 3          ? "[batch,length,features]"
                                         : "[batch,features]")
          .help(pixels              ? "end with {type = \"conv2d\", size = 1, filters = CLASSES}, {type = \"softmax\"}"
                : rank == 4         ? ""
                : rank == 3         ? "end with a linear layer with flatten = false"
                : shape.rank() == 4 ? "end with a linear layer, or make a row of numbers by {type = \"flatten\"}"
                                    : "end with a linear layer");
    }
  }

  const Job& job_;
  const GivenKeys& given_;
  const SourceKind& source_;
  const std::vector<SourceTarget> targets_;
  std::vector<Error> errors_;
};

}  // namespace

std::vector<Error> find_layer_mistakes(const Job& job, const GivenKeys& given, const SourceKind& source) {
  return LayerMistakes(job, given, source).find();
}

}  // namespace retrace
