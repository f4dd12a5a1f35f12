#include "retrace/data/array_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/copy_bytes.h"
#include "retrace/base/hash.h"
#include "retrace/data/scale_pixels.h"
#include "retrace/data/stack.h"

namespace retrace {
namespace {

class ArraySource : public DataSource {
 public:
  // Arrays of equal length whose first axis is the iteration axis.
  ArraySource(std::vector<Tensor> arrays, const ArrayStoreOptions& options)
      : arrays_(std::move(arrays)), scale_bytes_(options.scale_bytes), files_(options.files) {}
  std::vector<SourceFile> files() const override {
    std::vector<SourceFile> found;
    for (const auto& path : files_) found.push_back({path});
    return found;
  }
  int64_t size() const override { return arrays_[0].shape()[0]; }
  int variables() const override { return static_cast<int>(arrays_.size()); }

  Observation get(int64_t index, int64_t) const override {
    Observation observation;
    for (const auto& array : arrays_) {
      TensorSpec spec = batch_spec(array, 1);
      const Labels labels = spec.labels;
      const Shape shape = spec.shape;
      spec.shape = Shape(std::span(shape.begin() + 1, shape.end()));
      spec.labels = labels.empty() ? Labels() : Labels(labels.text().substr(1));
      observation.push_back(copied(array, std::span(&index, 1), spec));
    }
    return observation;
  }

  std::vector<Tensor> gather(std::span<const int64_t> indices, int64_t, int variables) const override {
    std::vector<Tensor> batch;
    for (const auto& array : std::span(arrays_).first(static_cast<size_t>(variables)))
      batch.push_back(copied(array, indices, batch_spec(array, static_cast<int64_t>(indices.size()))));
    return batch;
  }
  bool is_in_memory() const override { return true; }

  uint64_t digest(std::span<const int64_t> indices) const override {
    uint64_t hash = indices.size() + 1;
    for (const auto& array : arrays_) hash = hash_combine(hash, digest_of(array, indices));
    return hash | 1;
  }

 private:
  // Reads all of a row of at most kWholeRow bytes, and of a longer row some words at positions that wander from row to
  // row.
  static uint64_t digest_of(const Tensor& array, std::span<const int64_t> indices) {
    constexpr size_t kWholeRow = 64, kWords = 4, kStep = 7919;  // a prime
    const auto items = static_cast<size_t>(array.shape().count(1, array.rank()));
    const size_t bytes = items * size_of(array.type());
    const auto* const data = static_cast<const char*>(array.data());
    uint64_t hash = bytes, place = 0;
    for (int64_t index : indices) {
      const char* const row = data + static_cast<size_t>(index) * bytes;
      if (bytes <= kWholeRow) {
        hash = hash_combine(hash, hash_bytes({row, bytes}));
        continue;
      }
      for (size_t i = 0; i < kWords; ++i, place += kStep)
        hash = hash_combine(hash, hash_bytes({row + place % (bytes - 7), 8}));
    }
    return hash;
  }

  TensorSpec batch_spec(const Tensor& array, int64_t count) const {
    TensorSpec spec = array.spec();
    spec.shape[0] = count;
    if (!spec.labels.empty() && spec.labels[0] != 'B')
      spec.labels = Labels("B" + std::string(spec.labels.text().substr(1)));
    if (spec.labels.empty() && spec.shape.rank() == 1) spec.labels = Labels("B");
    if (scale_bytes_ && spec.type == DType::u8) spec.type = DType::f32;
    return spec;
  }
  // The chosen rows under the given description.
  Tensor copied(const Tensor& array, std::span<const int64_t> indices, const TensorSpec& spec) const {
    const BlankTensor blank(spec);
    const auto items = static_cast<size_t>(array.shape().count(1, array.rank()));
    const size_t bytes = items * size_of(array.type());
    const auto* rows = static_cast<const std::byte*>(array.data());
    if (items == 0) return blank.tensor;
    if (spec.type == array.type()) {
      for (size_t i = 0; i < indices.size(); ++i)
        copy_bytes(blank.bytes + i * bytes, rows + static_cast<size_t>(indices[i]) * bytes, bytes);
      return blank.tensor;
    }
    auto* to = reinterpret_cast<float*>(blank.bytes);
    for (int64_t index : indices) {
      scale_pixels(reinterpret_cast<const uint8_t*>(rows) + static_cast<size_t>(index) * items, to, items);
      to += items;
    }
    return blank.tensor;
  }

  std::vector<Tensor> arrays_;
  bool scale_bytes_;
  std::vector<std::string> files_;
};

// The array with `axis` moved to the front.
Tensor moved_to_front(const Tensor& array, int axis) {
  if (axis == 0) return with_spec(array, {array.type(), array.shape(), array.spec().labels, {}});
  TensorSpec spec{array.type(), {array.shape()[axis]}, {}, {}};
  std::string labels = array.labels().empty() ? "" : std::string(1, array.labels()[static_cast<size_t>(axis)]);
  for (int i = 0; i < array.rank(); ++i) {
    if (i == axis) continue;
    spec.shape.push_back(array.shape()[i]);
    if (!labels.empty()) labels += array.labels()[static_cast<size_t>(i)];
  }
  spec.labels = Labels(labels);
  const auto outer = static_cast<size_t>(array.shape().count(0, axis)), n = static_cast<size_t>(spec.shape[0]);
  const size_t inner = static_cast<size_t>(array.shape().count(axis + 1, array.rank())) * size_of(array.type());
  const BlankTensor blank(spec);
  const auto* from = static_cast<const std::byte*>(array.data());
  for (size_t o = 0; o < outer; ++o)
    for (size_t i = 0; i < n; ++i)
      if (inner) copy_bytes(blank.bytes + (i * outer + o) * inner, from + (o * n + i) * inner, inner);
  return blank.tensor;
}

int iteration_axis(const Tensor& array, size_t number, const Axes& wanted, Place place) {
  const std::string function = fmt::format("array_store: iteration_axis of array {}", number);
  const int batch = array.spec().labels.find('B');
  const int axis = wanted.empty() ? normalized_axis(std::max(batch, 0), array.rank(), function, place)
                                  : wanted.one_of(array.spec(), function, place);
  if (batch < 0 || axis == batch) return axis;
  throw Error(ErrorKind::usage, 313, fmt::format("{}: axis {} is not the batch", function, axis))
      .where(place)
      .got(array.spec().text())
      .expected("the axis labelled B")
      .help("leave iteration_axis out");
}

}  // namespace

Datastore array_store(std::vector<Tensor> arrays, const ArrayStoreOptions& options, Place place) {
  if (arrays.empty()) throw Error(ErrorKind::usage, 313, "array_store: no array was given").where(place);
  for (size_t i = 0; i < arrays.size(); ++i) {
    arrays[i] =
        moved_to_front(arrays[i].to(cpu_device(), place), iteration_axis(arrays[i], i, options.iteration_axis, place));
    if (arrays[i].shape()[0] != arrays[0].shape()[0])
      throw Error(ErrorKind::usage, 313,
                  fmt::format("array_store: array 0 has {} observations, array {} has {}", arrays[0].shape()[0], i,
                              arrays[i].shape()[0]))
          .where(place)
          .got(fmt::format("{} and {}", arrays[0].spec().text(), arrays[i].spec().text()))
          .expected("the same number for all arrays");
  }
  return Datastore(std::make_shared<ArraySource>(std::move(arrays), options));
}

Datastore image_set_store(const ImageSet& images, std::vector<std::string> files) {
  std::vector<Tensor> arrays = {Tensor::from(images.pixels, {images.count, images.height, images.width, 1}, "BSSC"),
                                Tensor::from(images.labels, {images.count}, "B")};
  if (!images.angles.empty()) arrays.push_back(Tensor::from(images.angles, {images.count, 1}, "BC"));
  return array_store(std::move(arrays), {.scale_bytes = true, .files = std::move(files)});
}

Tensor image_batch(const ImageSet& images, int64_t first, int64_t count) {
  const int64_t size = images.height * images.width;
  std::vector<float> pixels(static_cast<size_t>(count * size));
  scale_pixels(images.pixels.data() + first * size, pixels.data(), pixels.size());
  return Tensor::from(pixels, {count, images.height, images.width, 1}, "BSSC");
}

}  // namespace retrace
