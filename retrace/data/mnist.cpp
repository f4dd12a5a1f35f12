#include "retrace/data/datasets.h"

#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/data/idx.h"
#include "retrace/data/mnist_files.h"

namespace retrace {
namespace {

constexpr std::string_view kOfImages = "u8[images,height,width]", kOfLabels = "u8[images]";

Error refused(const std::filesystem::path& path, std::string_view what) {
  return Error(ErrorKind::bad_data, 318, fmt::format("IDX file \"{}\" {}", printable(path.string()), what));
}

IdxArray checked(IdxArray array, const std::filesystem::path& path, int axes, std::string_view expected) {
  if (array.type != DType::u8 || array.shape.rank() != axes)
    throw refused(path, fmt::format("does not hold {}", axes == 1 ? "labels" : "images"))
        .got(fmt::format("{}{}", name_of(array.type), array.shape.text()))
        .expected(std::string(expected));
  return array;
}

// The file or its compressed form.
std::filesystem::path either(const std::filesystem::path& folder, const std::string& name) {
  std::error_code ignored;
  if (std::filesystem::exists(folder / name, ignored)) return folder / name;
  return folder / (name + ".gz");
}

}  // namespace

Shape read_image_sizes(const std::filesystem::path& images, const std::filesystem::path& labels) {
  const Shape sizes = checked(read_idx_header(images), images, 3, kOfImages).shape;
  const int64_t count = checked(read_idx_header(labels), labels, 1, kOfLabels).shape[0];
  if (sizes.contains(0)) throw refused(images, "holds no pixels").got(fmt::format("u8{}", sizes.text()));
  if (sizes[0] != count)
    throw refused(labels, fmt::format("has {} labels for {} images", count, sizes[0]))
        .got(fmt::format("images from \"{}\"", printable(images.string())))
        .expected("one label for each image");
  return sizes;
}

ImageSet read_image_set(const std::string& images, const std::string& labels, int classes) {
  const Shape sizes = read_image_sizes(images, labels);  // most mistakes are found before the pixels are read
  const IdxArray numbers = checked(read_idx(labels), labels, 1, kOfLabels);
  const IdxArray pixels = checked(read_idx(images), images, 3, kOfImages);
  if (!(pixels.shape == sizes) || numbers.shape[0] != sizes[0]) throw refused(images, "changed while it was read");
  ImageSet set;
  set.count = pixels.shape[0], set.height = pixels.shape[1], set.width = pixels.shape[2];
  const auto bytes = pixels.values<uint8_t>(), classes_read = numbers.values<uint8_t>();
  set.pixels.assign(bytes.begin(), bytes.end());
  set.labels.assign(classes_read.begin(), classes_read.end());
  for (size_t i = 0; i < set.labels.size(); ++i)
    if (set.labels[i] >= classes)
      throw refused(labels, fmt::format("has the label {} at index {}", set.labels[i], i))
          .expected(fmt::format("labels of 0 to {}", classes - 1));
  return set;
}

namespace datasets {

MnistFiles mnist_files(const std::filesystem::path& folder, Split split) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder, ignored)) throw missing_path(folder, "data folder");
  if (!std::filesystem::is_directory(folder, ignored))
    throw Error(ErrorKind::missing, 330, fmt::format("\"{}\" is no folder", printable(folder.string())))
        .expected("the folder of the four IDX files");
  const std::string prefix = split == Split::train ? "train" : "t10k";
  return {either(folder, prefix + "-images-idx3-ubyte"), either(folder, prefix + "-labels-idx1-ubyte")};
}

ImageSet read_mnist(const std::string& folder, Split split) {
  const auto files = mnist_files(folder, split);
  return read_image_set(files.images, files.labels);
}

Datastore mnist(const std::string& folder, Split split) {
  const auto files = mnist_files(folder, split);
  return image_set_store(read_image_set(files.images, files.labels), {files.images.string(), files.labels.string()});
}

}  // namespace datasets
}  // namespace retrace
