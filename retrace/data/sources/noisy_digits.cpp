#include "retrace/data/datasets.h"
#include "retrace/data/random_stream.h"
#include "retrace/data/source_kind.h"

namespace retrace {
namespace {

constexpr int64_t kSide = 32;

// The brightness of a pixel of a digit in a frame of 32 x 32.
float framed_pixel(const ImageSet& set, int64_t image, int64_t pixel) {
  constexpr int64_t margin = (kSide - datasets::kDigitSize) / 2;
  const int64_t y = pixel / kSide - margin, x = pixel % kSide - margin;
  if (y < 0 || y >= datasets::kDigitSize || x < 0 || x >= datasets::kDigitSize) return 0;
  return static_cast<float>(
             set.pixels[static_cast<size_t>((image * datasets::kDigitSize + y) * datasets::kDigitSize + x)]) /
         255.0f;
}

// One pixel in twenty is black or white in the input.
Datastore noisy_digits(Split split, const SourceRequest& request) {
  const ImageSet set =
      datasets::make_digits(split, {.count = request.first_of(datasets::DigitsOptions().count), .seed = 1});
  std::vector<float> clean, noisy;
  for (int64_t n = 0; n < set.count; ++n) {
    RandomStream random(request.seed, split == Split::train ? "noise/train" : "noise/test", 0, 0,
                        static_cast<uint64_t>(n));
    for (int64_t i = 0; i < kSide * kSide; ++i) {
      const uint64_t chance = random.below(40);
      clean.push_back(framed_pixel(set, n, i));
      noisy.push_back(chance == 0 ? 0.0f : chance == 1 ? 1.0f : clean.back());
    }
  }
  const Shape shape{set.count, kSide, kSide, 1};
  return array_store({Tensor::from(noisy, shape, "BSSC"), Tensor::from(clean, shape, "BSSC")});
}

}  // namespace

SourceKind noisy_digits_source() {
  return {.name = "noisy-digits",
          .help = "the generated digits in a frame of 32 x 32 pixels, with salt and pepper; without it as targets",
          .targets = {{.name = "image", .kind = nn::OutputKind::image}},
          .sample = [](const SourceRequest&) { return Shape{kSide, kSide, 1}; },
          .load = [](Split split, const SourceRequest& request) { return noisy_digits(split, request); },
          .description =
              [](Split, const SourceRequest& request) {
                const TensorSpec image{DType::f32, {kSide, kSide, 1}, Labels("SSC"), {}};
                return SourceDescription{request.first_of(datasets::DigitsOptions().count), {image, image}};
              }};
}

}  // namespace retrace
