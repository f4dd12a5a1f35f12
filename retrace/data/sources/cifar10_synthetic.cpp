#include "retrace/data/array_store.h"
#include "retrace/data/random_stream.h"
#include "retrace/data/source_kind.h"

namespace retrace {
namespace {

constexpr int64_t kImages = 1000, kSide = 32, kColours = 3;

// Noise in which the class shows as a bright band of rows of one colour.
Datastore synthetic_images(Split split, uint64_t seed) {
  std::vector<float> pixels;
  std::vector<int32_t> labels;
  for (int64_t n = 0; n < kImages; ++n) {
    RandomStream random(seed, split == Split::train ? "synthetic/train" : "synthetic/test", 0, 0,
                        static_cast<uint64_t>(n));
    const auto label = static_cast<int32_t>(n % 10);
    labels.push_back(label);
    for (int64_t i = 0; i < kSide * kSide * kColours; ++i) {
      const bool band = i / (kSide * kColours) / 7 == label % 5 && i % kColours == label / 5;
      pixels.push_back(0.5f * random.uniform() + (band ? 0.5f : 0.0f));
    }
  }
  return array_store(
      {Tensor::from(pixels, {kImages, kSide, kSide, kColours}, "BSSC"), Tensor::from(labels, {kImages}, "B")});
}

}  // namespace

SourceKind cifar10_synthetic_source() {
  return {.name = "cifar10-synthetic",
          .help = "1,000 + 1,000 generated colour images of 32 x 32 pixels in ten classes",
          .targets = {{.name = "class"}},
          .sample = [](const SourceRequest&) { return Shape{kSide, kSide, kColours}; },
          .load = [](Split split, const SourceRequest& request) { return synthetic_images(split, request.seed); },
          .description =
              [](Split, const SourceRequest&) {
                return SourceDescription{
                    kImages, {{DType::f32, {kSide, kSide, kColours}, Labels("SSC"), {}}, {DType::i32, {}, {}, {}}}};
              }};
}

}  // namespace retrace
