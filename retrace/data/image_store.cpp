#include "retrace/data/image_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>
#include <optional>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/base/hash.h"
#include "retrace/data/broken_images.h"
#include "retrace/data/file_container.h"
#include "retrace/data/image_files.h"
#include "retrace/data/image_fit.h"
#include "retrace/data/image_pixels.h"
#include "retrace/data/random_stream.h"
#include "retrace/data/scale_pixels.h"
#include "retrace/data/stack.h"

namespace retrace {

// What all stores over one list of files share.
struct ImageReader {
  ImageReader(ImageFiles all, ImageInfo wanted, ImageFit how, bool scaled)
      : files(std::move(all)), sizes(wanted), fit(how), scale_bytes(scaled) {}

  ImageFiles files;
  ImageInfo sizes;
  ImageFit fit = ImageFit::exact;
  bool scale_bytes = false;

  bool has_labels() const { return !files.class_names.empty(); }
  ImagePixels pixels(size_t file) const {
    const std::string name = printable(files.paths[file]);
    return fitted(decoded(file, name), sizes, fit, name);
  }
  TensorSpec spec(const ImageInfo& image) const {
    const DType type = scale_bytes ? DType::f32 : DType::u8;
    return {type, {image.height, image.width, image.channels}, Labels("SSC"), {}};
  }
  // Writes the values in the type of spec().
  void write(const ImagePixels& image, std::byte* to) const {
    if (scale_bytes)
      scale_pixels(image.values.data(), reinterpret_cast<float*>(to), image.values.size());
    else
      std::memcpy(to, image.values.data(), image.values.size());
  }

 private:
  // The first file that cannot be read is reported with all others; later ones, of other threads, are the same error.
  ImagePixels decoded(size_t file, const std::string& name) const {
    try {
      return decode_image(files.bytes(file), name);
    } catch (const Error& error) {
      const std::lock_guard locked(broken_mutex_);
      if (!broken_) broken_ = broken_images_error(files, error);
      throw Error(*broken_);
    }
  }
  mutable std::mutex broken_mutex_;
  mutable std::optional<Error> broken_;
};

namespace {

class ImageSource : public DataSource {
 public:
  ImageSource(std::shared_ptr<const ImageReader> reader, std::shared_ptr<const std::vector<int64_t>> members)
      : reader_(std::move(reader)), members_(std::move(members)) {}
  int64_t size() const override { return static_cast<int64_t>(members_->size()); }
  int variables() const override { return reader_->has_labels() ? 2 : 1; }
  int64_t sample(int64_t index) const override { return (*members_)[static_cast<size_t>(index)]; }
  int64_t known_label(int64_t index, int variable) const override {
    return variable == 1 && reader_->has_labels() ? label(index) : -1;
  }

  Observation get(int64_t index, int64_t) const override {
    const ImagePixels pixels = reader_->pixels(file(index));
    const BlankTensor image(reader_->spec(pixels.info));
    reader_->write(pixels, image.bytes);
    Observation observation{image.tensor};
    if (reader_->has_labels()) observation.push_back(Tensor::scalar(label(index)));
    return observation;
  }

  std::vector<Tensor> gather(std::span<const int64_t> indices, int64_t pass, int variables) const override {
    prepare(indices);
    if (reader_->fit == ImageFit::any) return DataSource::gather(indices, pass, variables);
    const auto count = static_cast<int64_t>(indices.size());
    const BlankTensor images(stacked_spec(reader_->spec(reader_->sizes), count));
    const size_t bytes = count > 0 ? images.tensor.spec().bytes() / indices.size() : 0;
    for (size_t i = 0; i < indices.size(); ++i)
      reader_->write(reader_->pixels(file(indices[i])), images.bytes + i * bytes);
    std::vector<Tensor> batch{images.tensor};
    if (variables > 1) {
      std::vector<int32_t> labels;
      for (const int64_t index : indices) labels.push_back(label(index));
      batch.push_back(Tensor::from(labels, {count}, "B"));
    }
    return batch;
  }

  // Those of this store's images; an archive once.
  std::vector<SourceFile> files() const override {
    const ImageFiles& files = reader_->files;
    std::vector<SourceFile> found;
    for (int64_t index = 0; index < size(); ++index) {
      SourceFile one =
          files.container ? files.container->source(files.entries[file(index)]) : SourceFile{files.paths[file(index)]};
      if (found.empty() || found.back().path != one.path) found.push_back(std::move(one));
    }
    return found;
  }

  // All labels, and some images.
  uint64_t digest(std::span<const int64_t> indices) const override {
    uint64_t hash = DataSource::digest(indices);
    if (reader_->has_labels())
      for (const int64_t index : indices) hash = hash_combine(hash, static_cast<uint64_t>(label(index)));
    return hash | 1;
  }

 private:
  void prepare(std::span<const int64_t> indices) const {
    const ImageFiles& files = reader_->files;
    if (!files.container) return;
    std::vector<size_t> entries;
    for (const int64_t index : indices) entries.push_back(files.entries[file(index)]);
    files.container->prepare(entries);
  }
  size_t file(int64_t index) const { return static_cast<size_t>((*members_)[static_cast<size_t>(index)]); }
  int32_t label(int64_t index) const { return reader_->files.labels[file(index)]; }

  std::shared_ptr<const ImageReader> reader_;
  std::shared_ptr<const std::vector<int64_t>> members_;
};

void check_options(const char* call, const ImageDatastoreOptions& options, Place place) {
  const bool good = options.height >= 0 && options.width >= 0 &&
                    (options.channels == 0 || options.channels == 1 || options.channels == 3);
  if (good) return;
  throw Error(ErrorKind::usage, 342, fmt::format("{}: there are no images of these sizes", call))
      .where(place)
      .got(fmt::format("height {}, width {}, channels {}", options.height, options.width, options.channels))
      .expected("height and width of 1 or more, channels of 1 or 3; 0 takes those of the first image");
}

ImageInfo first_info(const ImageFiles& files) {
  try {
    return image_info(files, 0);
  } catch (const Error& error) {
    throw broken_images_error(files, error);
  }
}

ImageInfo wanted_sizes(const ImageDatastoreOptions& options, const ImageFiles& files) {
  const bool any = options.fit == ImageFit::any;
  ImageInfo wanted{any ? 0 : options.height, any ? 0 : options.width, options.channels};
  if (any && wanted.channels) return wanted;
  if (wanted.height && wanted.width && wanted.channels) return wanted;
  const ImageInfo found = first_info(files);
  if (!any && !wanted.height) wanted.height = found.height;
  if (!any && !wanted.width) wanted.width = found.width;
  if (!wanted.channels) wanted.channels = found.channels;
  return wanted;
}

void require_labels(const ImageReader& reader, const char* call, Place place) {
  if (reader.has_labels()) return;
  throw Error(ErrorKind::usage, 343, fmt::format("{}: this store has no labels", call))
      .where(place)
      .help("make it with .labels = LabelsFrom::folder_names");
}

Error wrong_parts(const std::string& what, Place place) {
  return Error(ErrorKind::usage, 344, "split_each_label: " + what).where(place);
}

// Whether the parts are fractions of classes; else they are numbers of images.
bool are_fractions(const std::vector<double>& parts, Place place) {
  double sum = 0;
  size_t fractions = 0, numbers = 0;
  for (const double part : parts) {
    fractions += part > 0 && part < 1;
    numbers += part >= 1 && part <= 1e15 && part == static_cast<double>(static_cast<int64_t>(part));
    sum += part;
  }
  if (parts.empty() || (fractions < parts.size() && numbers < parts.size()))
    throw wrong_parts("the parts are neither fractions nor numbers of images", place)
        .expected("fractions above 0 and below 1, or whole numbers of 1 or more");
  if (fractions && sum > 1 + 1e-9) throw wrong_parts(fmt::format("the fractions are {} in all", sum), place);
  return fractions > 0;
}

// How many images of a class of `count` go into each part.
std::vector<int64_t> part_sizes(const std::vector<double>& parts, bool fractions, const LabelCount& label,
                                Place place) {
  const FloatingPointScope floating_point;
  std::vector<int64_t> sizes;
  double sum = 0;
  for (const double part : parts) {
    const double size = fractions ? part * static_cast<double>(label.count) + 1e-9 : part;
    sizes.push_back(size <= 1e15 ? static_cast<int64_t>(size) : 0);
    sum += size;
  }
  if (!fractions && sum > static_cast<double>(label.count))
    throw wrong_parts(fmt::format("the class \"{}\" has {} images", printable(label.name), label.count), place)
        .expected(fmt::format("at least {} in every class", sum));
  return sizes;
}

}  // namespace

ImageDatastore::ImageDatastore(std::shared_ptr<const ImageReader> reader,
                               std::shared_ptr<const std::vector<int64_t>> members, Place place)
    : Datastore(std::make_shared<ImageSource>(reader, members), place),
      reader_(std::move(reader)),
      members_(std::move(members)) {}

std::vector<std::string> ImageDatastore::files() const {
  std::vector<std::string> paths;
  for (const int64_t number : *members_) paths.push_back(reader_->files.paths[static_cast<size_t>(number)]);
  return paths;
}

Shape ImageDatastore::sizes() const { return {reader_->sizes.height, reader_->sizes.width, reader_->sizes.channels}; }

const std::vector<std::string>& ImageDatastore::class_names() const { return reader_->files.class_names; }

std::vector<int32_t> ImageDatastore::labels(Place place) const {
  require_labels(*reader_, "labels", place);
  std::vector<int32_t> all;
  for (const int64_t number : *members_) all.push_back(reader_->files.labels[static_cast<size_t>(number)]);
  return all;
}

std::vector<std::vector<int64_t>> ImageDatastore::members_by_label() const {
  std::vector<std::vector<int64_t>> lists(class_names().size());
  int64_t index = 0;
  for (const int32_t label : labels()) lists[static_cast<size_t>(label)].push_back(index++);
  return lists;
}

std::vector<LabelCount> ImageDatastore::count_each_label(Place place) const {
  require_labels(*reader_, "count_each_label", place);
  std::vector<LabelCount> counts;
  for (const auto& list : members_by_label())
    counts.push_back({class_names()[counts.size()], static_cast<int64_t>(list.size())});
  return counts;
}

std::vector<ImageDatastore> ImageDatastore::split_each_label(const std::vector<double>& parts,
                                                             const LabelSplitOptions& options, Place place) const {
  require_labels(*reader_, "split_each_label", place);
  const bool fractions = are_fractions(parts, place);
  const auto counts = count_each_label(place);
  const auto lists = members_by_label();
  std::vector<std::vector<int64_t>> chosen(parts.size() + 1);
  for (size_t label = 0; label < lists.size(); ++label) {
    const auto& list = lists[label];
    auto sizes = part_sizes(parts, fractions, counts[label], place);
    const auto count = static_cast<int64_t>(list.size());
    sizes.push_back(count);  // the rest, at most
    std::vector<int64_t> order(list.size());
    std::iota(order.begin(), order.end(), 0);
    if (options.randomized) order = random_order(count, options.seed, "label split", label);
    size_t next = 0;
    for (size_t part = 0; part < sizes.size(); ++part)
      for (int64_t i = 0; i < sizes[part] && next < order.size(); ++i)
        chosen[part].push_back(list[static_cast<size_t>(order[next++])]);
  }
  std::vector<ImageDatastore> stores;
  for (auto& indices : chosen) {
    std::sort(indices.begin(), indices.end());
    stores.push_back(subset(indices, place));
  }
  return stores;
}

ImageDatastore ImageDatastore::members_of(const Datastore& part, Place place) const {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < part.size(); ++i) numbers.push_back(part.source()->sample(i));
  return {reader_, std::make_shared<const std::vector<int64_t>>(std::move(numbers)), place};
}

ImageDatastore ImageDatastore::partition(int64_t n, int64_t i, Place place) const {
  return members_of(Datastore::partition(n, i, place), place);
}

ImageDatastore ImageDatastore::shuffle(uint64_t seed, Place place) const {
  return members_of(Datastore::shuffle(seed, place), place);
}

ImageDatastore ImageDatastore::subset(std::span<const int64_t> indices, Place place) const {
  return members_of(Datastore::subset(indices, place), place);
}

ImageDatastore store_of_files(ImageFiles files, const ImageDatastoreOptions& options, Place place) {
  const ImageInfo sizes = wanted_sizes(options, files);
  std::vector<int64_t> all(files.paths.size());
  std::iota(all.begin(), all.end(), 0);
  auto reader = std::make_shared<ImageReader>(std::move(files), sizes, options.fit, options.scale_bytes);
  return {std::move(reader), std::make_shared<const std::vector<int64_t>>(std::move(all)), place};
}

ImageDatastore image_datastore(const std::string& location, const ImageDatastoreOptions& options, Place place) {
  check_options("image_datastore", options, place);
  return with_place(place, [&] {
    return store_of_files(find_image_files(location, options.labels == LabelsFrom::folder_names, options.class_names),
                          options, place);
  });
}

ImageDatastore image_list_datastore(const std::vector<std::string>& files, const std::vector<std::string>& labels,
                                    const ImageDatastoreOptions& options, Place place) {
  check_options("image_list_datastore", options, place);
  return with_place(
      place, [&] { return store_of_files(listed_image_files(files, labels, options.class_names), options, place); });
}

}  // namespace retrace
