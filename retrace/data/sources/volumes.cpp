#include "retrace/base/file.h"
#include "retrace/data/class_folders.h"
#include "retrace/data/npy.h"
#include "retrace/data/source_kind.h"
#include "retrace/data/volume_files.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

const ClassFolderWords kVolumes{"folder of volumes", "volume", {".npy"}};

fs::path folder_of_volumes(Split split, const SourceRequest& request) {
  return set_of_classes(split, request, kVolumes);
}

// Those of the training set.
std::vector<std::string> class_names_of_volumes(const SourceRequest& request) {
  const auto& known = request.training.class_names;
  return known.empty() ? classes_in(folder_of_volumes(Split::train, request), kVolumes) : known;
}

Shape sample_of_volumes(const SourceRequest& request) {
  const auto& options = request.options;
  return {options.integer("volume_depth"), options.integer("volume_height"), options.integer("volume_width"),
          options.integer("volume_channels")};
}

// What the options leave open is that of this file.
Shape shape_of_set(const SourceRequest& request, const fs::path& first) {
  Shape shape = sample_of_volumes(request);
  const Shape found = volume_shape(first);
  for (int i = 0; i < shape.rank(); ++i)
    if (shape[i] == 0) shape[i] = found[i];
  return shape;
}

SourceSet load_volumes(Split split, const SourceRequest& request) {
  const auto classes = class_names_of_volumes(request);
  auto files = files_of_classes(folder_of_volumes(split, request), classes, kVolumes);
  const Shape shape = shape_of_set(request, files[0].path);
  return {volume_files(std::move(files), shape), std::ssize(classes), {.class_names = classes}};
}

SourceDescription description_of_volumes(Split split, const SourceRequest& request) {
  const auto classes = class_names_of_volumes(request);
  const auto files = files_of_classes(folder_of_volumes(split, request), classes, kVolumes);
  return {std::ssize(files),
          {{DType::f32, shape_of_set(request, files[0].path), Labels("SSSC"), {}}, {DType::i32, {}, {}, {}}},
          std::ssize(classes),
          {.class_names = classes}};
}

// Arrays of other numbers of axes are data of other sources.
OptionValues look_volumes(const fs::path& folder) {
  const fs::path train = folder_of_volumes(Split::train, {.path = folder});
  const auto files = files_of_classes(train, classes_in(train, kVolumes), kVolumes);
  if (const int rank = read_npy_header(files[0].path).shape.rank(); rank != 3 && rank != 4)
    throw missing_path(train / "CLASS/*.npy", kVolumes.file.c_str());
  const Shape shape = volume_shape(files[0].path);
  return {{"volume_depth", shape[0]},
          {"volume_height", shape[1]},
          {"volume_width", shape[2]},
          {"volume_channels", shape[3]}};
}

SourceInputs inputs_of_volumes(const fs::path& input, const SourceRequest& request) {
  std::vector<ClassFile> files;
  std::vector<std::string> names;
  for (const auto& path : files_to_predict(input, kVolumes)) {
    files.push_back({path});
    names.push_back(path.string());
  }
  const Shape shape = shape_of_set(request, files[0].path);
  return {volume_files(std::move(files), shape), std::move(names)};
}

}  // namespace

SourceKind volumes_source() {
  const auto size = [](const char* name, const char* help) {
    return OptionRule{.name = name, .help = help, .standard = int64_t{0}, .high = 65535};
  };
  return {.name = "volumes",
          .help =
              "volumes of classes: the files data.path/train/CLASS/*.npy and data.path/test/CLASS/*.npy, or "
              "data.path/CLASS/*.npy with data.test_share",
          .targets = {{.name = "class"}},
          .reads_folder = true,
          .files = "train/CLASS and test/CLASS, or CLASS alone, folders of volumes",
          .options = {size("volume_depth", "of all volumes; 0: as the first one of the set has"),
                      size("volume_height", "of all volumes; 0: as the first one of the set has"),
                      size("volume_width", "of all volumes; 0: as the first one of the set has"),
                      size("volume_channels", "of all volumes; 0: as the first one of the set has")},
          .sample = sample_of_volumes,
          .load = load_volumes,
          .description = description_of_volumes,
          .inputs = inputs_of_volumes,
          .class_names = class_names_of_volumes,
          .look = look_volumes,
          .origin = [](Split split, int, const SourceRequest& request) {
            return printable(folder_of_volumes(split, request).string());
          }};
}

}  // namespace retrace
