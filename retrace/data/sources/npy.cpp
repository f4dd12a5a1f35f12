#include "retrace/data/npy.h"

#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/data/npy_shapes.h"
#include "retrace/data/npy_store.h"
#include "retrace/data/npz_arrays.h"
#include "retrace/data/source_kind.h"

namespace retrace {
namespace {

// Where it is an NPZ file, the training set may be an array that is called as no set is, and so may what is only
// tested.
std::filesystem::path array_of_npz(Split split, NpzPart part, const SourceRequest& request) {
  const auto names = npz_names(request.path);
  auto found = npz_array_of(names, split == Split::train ? "train" : "test", part);
  if (!found && (split == Split::train || request.only_test)) found = npz_array_of(names, "", part);
  if (found) return request.path / (*found + ".npy");
  const bool set = npz_array_of(names, "train", part) || npz_array_of(names, "", part);
  throw Error(set ? ErrorKind::missing : ErrorKind::bad_data, 491,
              fmt::format("NPZ file \"{}\" has no {} of a {} set", printable(request.path.string()),
                          part == NpzPart::inputs ? "inputs" : "targets", split == Split::train ? "training" : "test"))
      .got(printable(fmt::format("the arrays {}", joined(names, ", "))))
      .expected("x_train, y_train, x_test and y_test, or x and y")
      .help(set ? "without a test set data.test_share = 0.2 puts a fifth of the training set aside as one"
                : "name them so: numpy.savez(\"named.npz\", x_train=a[\"...\"], y_train=a[\"...\"], ...)");
}

std::filesystem::path file_of_npy(Split split, NpzPart part, const SourceRequest& request) {
  if (is_npz(request.path)) return array_of_npz(split, part, request);
  return request.path / fmt::format("{}_{}.npy", split == Split::train ? "train" : "test",
                                    part == NpzPart::inputs ? "inputs" : "targets");
}

bool is_regression_npy(const OptionValues& options) { return options.text("task") == "regression"; }

void check_folder_npy(const SourceRequest& request) {
  std::error_code ignored;
  if (std::filesystem::exists(request.path, ignored)) return;
  throw missing_path(request.path, request.path.extension() == ".npz" ? "NPZ file" : "data folder");
}

Datastore store_of_npy(Split split, const SourceRequest& request) {
  check_folder_npy(request);
  return npy_store(
      file_of_npy(split, NpzPart::inputs, request).string(), file_of_npy(split, NpzPart::targets, request).string(),
      {.task = is_regression_npy(request.options) ? Task::regression : Task::classification, .scale_bytes = true},
      Place());
}

Shape sample_of_npy(const SourceRequest& request) {
  const auto& options = request.options;
  if (const int64_t features = options.integer("features"); features > 0) return {features};
  return {options.integer("image_height"), options.integer("image_width"), options.integer("image_channels")};
}

// Of one observation, by the headers.
SourceDescription description_of_npy(Split split, const SourceRequest& request) {
  check_folder_npy(request);
  const auto inputs = file_of_npy(split, NpzPart::inputs, request),
             targets = file_of_npy(split, NpzPart::targets, request);
  const Shape shape = npy_input_shape(read_npy_header(inputs).shape, inputs.string());
  const Shape values = read_npy_header(targets).shape;
  const TensorSpec target = is_regression_npy(request.options)
                                ? TensorSpec{DType::f32, {values.rank() == 2 ? values[1] : 1}, Labels("C"), {}}
                                : TensorSpec{DType::i32, {}, {}, {}};
  const Shape one(std::span(shape.begin() + 1, shape.end()));
  return {shape[0], {{DType::f32, one, Labels(one.rank() == 1 ? "C" : "SSC"), {}}, target}};
}

OptionValues look_npy(const std::filesystem::path& folder) {
  const SourceRequest request{.path = folder};
  const auto inputs = file_of_npy(Split::train, NpzPart::inputs, request);
  const NpyArray targets = read_npy_header(file_of_npy(Split::train, NpzPart::targets, request));
  const Shape shape = npy_input_shape(read_npy_header(inputs).shape, inputs.string());
  const bool single = targets.shape.rank() == 1 || (targets.shape.rank() == 2 && targets.shape[1] == 1);
  const bool classes = !targets.is_floating() && single;
  OptionValues found{{"task", std::string(classes ? "classification" : "regression")}};
  if (shape.rank() == 2) found.set("features", shape[1]);
  if (shape.rank() != 4) return found;
  found.set("image_height", shape[1]), found.set("image_width", shape[2]), found.set("image_channels", shape[3]);
  return found;
}

}  // namespace

SourceKind npy_source() {
  constexpr double kMost = 65535;
  const auto size = [](const char* name, const char* help, double most) {
    return OptionRule{.name = name, .help = help, .standard = int64_t{0}, .high = most};
  };
  return {
      .name = "npy",
      .help =
          "the files train_inputs.npy, train_targets.npy, test_inputs.npy and test_targets.npy of data.path, or an NPZ "
          "file with x_train, y_train, x_test and y_test",
      .targets = {{.name = "class"}, {.name = "value", .kind = nn::OutputKind::values}},
      .reads_folder = true,
      .files = "train_inputs.npy, train_targets.npy, test_inputs.npy and test_targets.npy, or an NPZ file",
      .options = {{.name = "task",
                   .help = "what is learned: a class or values",
                   .standard = std::string("classification"),
                   .choices = {"classification", "regression"}},
                  size("features", "the number of features of a sample; 0: samples are images", 1'000'000),
                  size("image_height", "of images; 0: as in the files", kMost),
                  size("image_width", "of images; 0: as in the files", kMost),
                  size("image_channels", "of images; 0: as in the files", kMost)},
      .has_target = [](const SourceTarget& target,
                       const OptionValues& options) { return is_regression_npy(options) == (target.name == "value"); },
      .size_keys = "data.features, or data.image_height, data.image_width and data.image_channels",
      .sample = sample_of_npy,
      .load = store_of_npy,
      .description = description_of_npy,
      .look = look_npy,
      .origin =
          [](Split split, int variable, const SourceRequest& request) {
            return printable(file_of_npy(split, variable > 0 ? NpzPart::targets : NpzPart::inputs, request).string());
          }};
}

}  // namespace retrace
