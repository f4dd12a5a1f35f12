#include "retrace/nn/layers/image_input.h"

#include <fmt/format.h>

#include "retrace/nn/layer_kind.h"
#include "retrace/nn/normalization_rules.h"

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

std::vector<int64_t> sizes_of(const Shape& sample) { return {sample.begin(), sample.end()}; }

// A layer that normalises what `check` accepts: with a normalization it has an entry in the state.
Layer input_layer(std::function<void(const Tensor& x)> check, const ImageInputOptions& options,
                  std::optional<Shape> sample) {
  constexpr const char* name = "image_input";
  const OptionValues text{{"size", sample ? sizes_of(*sample) : std::vector<int64_t>()},
                          {"normalization", text_of(options.normalization)},
                          {"normalization_by", text_of(options.by)}};
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

}  // namespace

Layer image_input(const Shape& sample, const ImageInputOptions& options, Place place) {
  return input_layer([=](const Tensor& x) { check_sample(x, sample, place); }, options, sample);
}

Layer image_input(const ImageInputOptions& options, Place place) {
  return input_layer([=](const Tensor& x) { check_is_image(x, place); }, options, {});
}

LayerKind image_input_layer() {
  return {.name = "image_input",
          .help = "checks the shape of a sample, and normalises it by statistics of the training data",
          .options = {{.name = "size",
                       .help = "[height, width, channels]; without it those of the data",
                       .standard = std::vector<int64_t>{},
                       .low = 1,
                       .high = 65'536},
                      normalization_rule(),
                      normalization_by_rule({NormalizeBy::channel, NormalizeBy::element, NormalizeBy::all})},
          .layer = [](const OptionValues& options) {
            const auto& size = options.integers("size");
            const ImageInputOptions how{normalization_of(options), normalize_by_of(options)};
            return size.empty() ? image_input(how) : image_input(Shape(size), how);
          }};
}

}  // namespace retrace::nn
