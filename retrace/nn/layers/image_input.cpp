#include "retrace/nn/layers/image_input.h"

#include <fmt/format.h>

#include "retrace/nn/layer_kind.h"

namespace retrace::nn {
namespace {

void check_sample(const Tensor& x, const Shape& sample, Place place) {
  bool fits = x.rank() == sample.rank() + 1;
  for (int i = 0; fits && i < sample.rank(); ++i) fits = x.shape()[i + 1] == sample[i];
  if (!fits)
    throw Error(ErrorKind::usage, 195, fmt::format("image_input: a sample is not {}", sample.text()))
        .where(place)
        .got(x.spec().text())
        .expected("a batch axis, then " + sample.text());
}

void check_is_image(const Tensor& x, Place place) {
  if (x.rank() != 4)
    throw Error(ErrorKind::usage, 195, "image_input: a sample is no image")
        .where(place)
        .got(x.spec().text())
        .expected("a batch axis, then [height,width,channels]");
}

template <class Choice>
struct Named {
  const char* name;
  Choice choice;
};

constexpr Named<Normalization> kNormalizations[] = {{"none", Normalization::none},
                                                    {"zerocenter", Normalization::zerocenter},
                                                    {"zscore", Normalization::zscore},
                                                    {"rescale-symmetric", Normalization::rescale_symmetric},
                                                    {"rescale-zero-one", Normalization::rescale_zero_one}};
constexpr Named<NormalizeBy> kBy[] = {
    {"channel", NormalizeBy::channel}, {"element", NormalizeBy::element}, {"all", NormalizeBy::all}};

// The first one for the text of an option that nobody gave.
template <class Choice, size_t n>
Choice chosen(const Named<Choice> (&all)[n], const std::string& text) {
  for (const auto& one : all)
    if (text == one.name) return one.choice;
  return all[0].choice;
}

// Empty for the first one, as where nobody gave the option.
template <class Choice, size_t n>
std::string text_of(const Named<Choice> (&all)[n], Choice choice) {
  for (size_t i = 1; i < n; ++i)
    if (all[i].choice == choice) return all[i].name;
  return "";
}

std::vector<int64_t> sizes_of(const Shape& sample) { return {sample.begin(), sample.end()}; }

// A layer that normalises what `check` accepts: with a normalization it has an entry in the state.
Layer input_layer(std::function<void(const Tensor& x)> check, const ImageInputOptions& options,
                  std::optional<Shape> sample) {
  constexpr const char* name = "image_input";
  const OptionValues text{{"size", sample ? sizes_of(*sample) : std::vector<int64_t>()},
                          {"normalization", text_of(kNormalizations, options.normalization)},
                          {"normalization_by", text_of(kBy, options.by)}};
  if (options.normalization == Normalization::none)
    return Layer(
               "",
               [=](Walk&, const Tree& x) {
                 check(x.tensor());
                 return x;
               },
               std::move(sample))
        .shown_as(name)
        .with_options(text);
  return Layer(
             name,
             [=](Walk& walk, const Tree& x) {
               check(x.tensor());
               const Tree own = walk.statistics(x.tensor(), options.normalization, options.by);
               return own.empty() ? x : Tree((x.tensor() - own["offset"]) / own["scale"]);
             },
             std::move(sample))
      .with_options(text);
}

template <class Choice, size_t n>
OptionRule rule_of(const char* name, const char* help, const Named<Choice> (&all)[n]) {
  OptionRule rule{.name = name, .help = help, .standard = std::string()};
  for (const auto& one : all) rule.choices.emplace_back(one.name);
  return rule;
}

}  // namespace

Layer image_input(const Shape& sample, const ImageInputOptions& options, Place place) {
  return input_layer([=](const Tensor& x) { check_sample(x, sample, place); }, options, sample);
}

Layer image_input(const ImageInputOptions& options, Place place) {
  return input_layer([=](const Tensor& x) { check_is_image(x, place); }, options, {});
}

LayerKind image_input_layer() {
  return {
      .name = "image_input",
      .help = "checks the shape of a sample, and normalises it by statistics of the training data",
      .options = {{.name = "size",
                   .help = "[height, width, channels]; without it those of the data",
                   .standard = std::vector<int64_t>{},
                   .low = 1,
                   .high = 65'536},
                  rule_of("normalization", "what is subtracted, and divided by; without it nothing", kNormalizations),
                  rule_of("normalization_by", "which numbers have statistics in common; without it a channel's", kBy)},
      .layer = [](const OptionValues& options) {
        const auto& size = options.integers("size");
        const ImageInputOptions how{chosen(kNormalizations, options.text("normalization")),
                                    chosen(kBy, options.text("normalization_by"))};
        return size.empty() ? image_input(how) : image_input(Shape(size), how);
      }};
}

}  // namespace retrace::nn
