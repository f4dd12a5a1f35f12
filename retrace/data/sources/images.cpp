#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/base/folder.h"
#include "retrace/cloud/s3_location.h"
#include "retrace/data/broken_images.h"
#include "retrace/data/image_files.h"
#include "retrace/data/image_options.h"
#include "retrace/data/image_search.h"
#include "retrace/data/s3_archive.h"
#include "retrace/data/s3_files.h"
#include "retrace/data/source_kind.h"
#include "retrace/data/tar.h"

namespace retrace {
namespace {

// Whether so many folders or more within this one have images in them.
bool has_classes(const std::filesystem::path& path, int least) {
  int classes = 0;
  std::error_code ignored;
  for (const auto& name : folder_names(path, ignored)) {
    std::error_code failure;
    if (name[0] == '.' || !std::filesystem::is_directory(path / name, failure)) continue;
    const auto inside = folder_names(path / name, failure);
    classes += std::any_of(inside.begin(), inside.end(), [](const std::string& file) { return is_image_name(file); });
  }
  return classes >= least;
}

// The folder of a split, which may be in an archive or be one. Where there is no folder `train`, the set may be all
// there is.
std::string folder_of(Split split, const SourceRequest& request) {
  const std::string folder = (request.path / (split == Split::train ? "train" : "test")).string();
  if (is_s3(folder)) return s3_archive_of(folder).value_or(folder);
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return folder;
  for (const std::string_view ending : archive_endings())
    if (const std::string archive = folder + std::string(ending); std::filesystem::exists(archive, ignored))
      return archive;
  if (!std::filesystem::is_directory(request.path, ignored)) return folder;
  const bool tested = request.only_test && !std::filesystem::exists(request.path / "train", ignored);
  const bool whole = split == Split::train ? has_classes(request.path, 2) : tested && has_classes(request.path, 1);
  return whole ? request.path.string() : folder;
}

void check_path(const std::filesystem::path& path) {
  std::error_code ignored;
  if (is_s3(path.string()) || std::filesystem::exists(path, ignored) || archive_path(path.string())) return;
  throw missing_path(path, is_archive_name(path.string()) ? "data archive" : "data folder");
}

// Whether the names of the classes are known without the training set, which is not there.
bool stands_alone(const SourceRequest& request) {
  if (request.training.class_names.empty()) return false;
  std::error_code ignored;
  const std::string train = folder_of(Split::train, request);
  if (is_s3(train)) return !s3_exists(train) && !s3_archive_path(train);
  if (train == request.path) return !request.whole;
  return std::filesystem::is_directory(request.path, ignored) && !std::filesystem::exists(train, ignored) &&
         !archive_path(train);
}

// The classes in turn: the first of each, the second of each, ... So the first so many have them evenly.
ImageDatastore in_turn(const ImageDatastore& store) {
  const auto labels = store.labels();
  std::vector<std::pair<int64_t, int64_t>> order;  // the number within its class, and the index
  std::vector<int64_t> counts(store.class_names().size()), indices;
  for (size_t i = 0; i < labels.size(); ++i)
    order.emplace_back(counts[static_cast<size_t>(labels[i])]++, static_cast<int64_t>(i));
  std::sort(order.begin(), order.end());
  for (const auto& [number, index] : order) indices.push_back(index);
  return store.subset(indices);
}

TrainingFacts facts_of_images(const ImageDatastore& train) {
  return {.class_names = train.class_names(), .sizes = train.sizes()};
}

int64_t classes_of_images(const ImageDatastore& store) { return static_cast<int64_t>(store.class_names().size()); }

// Classes and sizes are those of the training set, where there is one.
ImageDatastore store_of_images(Split split, const SourceRequest& request) {
  ImageDatastoreOptions options = image_store_options(request);
  options.labels = LabelsFrom::folder_names;
  check_path(request.path);
  if (split == Split::train) return image_datastore(folder_of(Split::train, request), options, Place());
  TrainingFacts facts = request.training;
  if (facts.sizes.rank() == 0 && !stands_alone(request))
    facts = facts_of_images(image_datastore(folder_of(Split::train, request), options, Place()));
  options = image_store_options(request, facts.sizes);
  options.labels = LabelsFrom::folder_names;
  options.class_names = facts.class_names;
  return image_datastore(folder_of(Split::test, request), options, Place());
}

// The sizes of the first image, if it is not large; images of other sizes are brought to them.
OptionValues look_images(const std::filesystem::path& folder) {
  const ImageDatastore train =
      image_datastore(folder_of(Split::train, {.path = folder}), {.labels = LabelsFrom::folder_names}, Place());
  if (!is_s3(train.files()[0])) tell_broken_images(find_image_files(folder_of(Split::train, {.path = folder}), true));
  return image_look(train.sizes());
}

}  // namespace

SourceKind images_source() {
  return {
      .name = "images",
      .help =
          "JPEG and PNG files in the folders data.path/train/CLASS and data.path/test/CLASS, or data.path/CLASS with "
          "data.test_share, also of a tar archive or s3://BUCKET",
      .targets = {{.name = "class"}},
      .reads_folder = true,
      .reads_objects = true,
      .files = "train/CLASS and test/CLASS, or CLASS alone, folders of images",
      .options = image_rules(),
      .sample = sample_of_images,
      .load =
          [](Split split, const SourceRequest& request) {
            const ImageDatastore store = store_of_images(split, request);
            return SourceSet(in_turn(store), classes_of_images(store), facts_of_images(store));
          },
      .description =
          [](Split split, const SourceRequest& request) {
            const ImageDatastore store = store_of_images(split, request);
            return SourceDescription{store.size(),
                                     {{DType::f32, store.sizes(), Labels("SSC"), {}}, {DType::i32, {}, {}, {}}},
                                     classes_of_images(store),
                                     facts_of_images(store)};
          },
      .class_names =
          [](const SourceRequest& request) {
            return stands_alone(request) ? request.training.class_names
                                         : store_of_images(Split::train, request).class_names();
          },
      .look = look_images,
      .origin = [](Split split, int, const SourceRequest& request) { return printable(folder_of(split, request)); }};
}

}  // namespace retrace
