#include "retrace/train/job_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/fp_environment.h"
#include "retrace/data/array_store.h"
#include "retrace/data/digits.h"
#include "retrace/data/mnist.h"
#include "retrace/data/peaks.h"
#include "retrace/data/random_stream.h"
#include "retrace/train/data_check.h"

namespace retrace {
namespace {

constexpr int64_t kPadded = 32;  // side of the autoencoder's images
constexpr int64_t kSynthetic = 1000;

Datastore first_samples(const Datastore& store, int64_t count, const char* key) {
  if (count > store.size())
    throw Error(ErrorKind::usage, 425, fmt::format("{} is larger than the set", key))
        .got(fmt::format("{}", count))
        .expected(fmt::format("at most {}", store.size()))
        .help("0 takes all samples that there are");
  if (count <= 0 || count == store.size()) return store;
  std::vector<int64_t> indices(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) indices[static_cast<size_t>(i)] = i;
  return store.subset(indices);
}

// Digits in a frame of 32 x 32, and the same with salt and pepper on one pixel in twenty.
Datastore noisy_digits(Split split, uint64_t seed) {
  const ImageSet set = make_digits(split);
  const size_t size = static_cast<size_t>(set.count * kPadded * kPadded);
  std::vector<float> clean(size), noisy(size);
  const int64_t margin = (kPadded - kDigitSize) / 2;
  for (int64_t n = 0; n < set.count; ++n) {
    RandomStream random(seed, split == Split::train ? "noise/train" : "noise/test", 0, 0, static_cast<uint64_t>(n));
    for (int64_t i = 0; i < kPadded * kPadded; ++i) {
      const int64_t y = i / kPadded - margin, x = i % kPadded - margin;
      const bool inside = y >= 0 && y < kDigitSize && x >= 0 && x < kDigitSize;
      const size_t at = static_cast<size_t>(n * kPadded * kPadded + i);
      if (inside)
        clean[at] = static_cast<float>(set.pixels[static_cast<size_t>((n * kDigitSize + y) * kDigitSize + x)]) / 255.0f;
      const uint64_t chance = random.below(40);
      noisy[at] = chance == 0 ? 0.0f : chance == 1 ? 1.0f : clean[at];
    }
  }
  const Shape shape{set.count, kPadded, kPadded, 1};
  return array_store({Tensor::from(noisy, shape, "BSSC"), Tensor::from(clean, shape, "BSSC")});
}

// Noise images in which the class shows as a bright band of rows of one colour.
Datastore synthetic_images(Split split, uint64_t seed) {
  std::vector<float> pixels;
  std::vector<int32_t> labels;
  for (int64_t n = 0; n < kSynthetic; ++n) {
    RandomStream random(seed, split == Split::train ? "synthetic/train" : "synthetic/test", 0, 0,
                        static_cast<uint64_t>(n));
    const auto label = static_cast<int32_t>(n % 10);
    labels.push_back(label);
    for (int64_t i = 0; i < 32 * 32 * 3; ++i) {
      const bool band = i / (32 * 3) / 7 == label % 5 && i % 3 == label / 5;
      pixels.push_back(0.5f * random.uniform() + (band ? 0.5f : 0.0f));
    }
  }
  return array_store({Tensor::from(pixels, {kSynthetic, 32, 32, 3}, "BSSC"), Tensor::from(labels, {kSynthetic}, "B")});
}

Datastore load(const Job& job, Split split) {
  const auto& data = job.data;
  const int samples = split == Split::train ? data.train_samples : data.test_samples;
  const char* key = split == Split::train ? "data.train_samples" : "data.test_samples";
  if (data.source == "peaks") return first_samples(peaks_points(split, samples), samples, key);
  const Datastore store = [&] {
    if (job.network.name == "autoencoder") return noisy_digits(split, job.seed);
    if (data.source == "mnist") return mnist(data.path, split);
    if (data.source == "cifar10-synthetic") return synthetic_images(split, job.seed);
    return digits(split);
  }();
  return first_samples(store, samples, key);
}

}  // namespace

JobData load_job_data(const Job& given, const nn::Network& network) {
  const FloatingPointScope floating_point;
  const Job job = resolved(given);
  JobData data{load(job, Split::train), load(job, Split::test), {}};
  data.formats.push_back(network.sample.rank() == 3 ? "BSSC" : "BC");
  for (const auto& output : network.outputs)
    data.formats.push_back(output == "class" ? "B" : output == "image" ? "BSSC" : "BC");
  if (data.train.variables() < static_cast<int>(data.formats.size()))
    throw Error(ErrorKind::usage, 420, fmt::format("the data \"{}\" has no angles", *job.data.source))
        .help("set network.heads = [\"class\"]");
  check_job_data(job, network, data);
  return data;
}

nn::Network make_job_network(const Job& job) {
  const auto& heads = job.network.heads;
  return nn::make_network(
      job.network.name, random_key(job.seed).split("parameters"),
      {.angle = std::find(heads.begin(), heads.end(), "angle") != heads.end(), .width = job.network.width.value_or(0)});
}

Tensor image_batch(const ImageSet& images, int64_t first, int64_t count) {
  const FloatingPointScope floating_point;
  const int64_t size = images.height * images.width;
  std::vector<float> pixels(static_cast<size_t>(count * size));
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<float>(images.pixels[static_cast<size_t>(first * size) + i]) / 255.0f;
  return Tensor::from(pixels, {count, images.height, images.width, 1}, "BSSC");
}

}  // namespace retrace
