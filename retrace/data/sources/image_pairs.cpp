// Images whose targets are images: masks of classes, or other images.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "retrace/base/file.h"
#include "retrace/base/folder.h"
#include "retrace/data/broken_images.h"
#include "retrace/data/image_options.h"
#include "retrace/data/image_pairs.h"
#include "retrace/data/source_kind.h"

namespace retrace {
namespace {

bool are_masks(const OptionValues& options) { return options.text("task") == "segmentation"; }

PairNames names_of_pairs(const OptionValues& options) {
  return {options.text("input_folder"), options.text("target_folder"), options.text("target_suffix")};
}

// A set as it was read.
struct ReadPairs {
  ImageDatastore inputs, targets;
  std::vector<std::string> classes;
};

// The colours that are classes: those that the job names, else those of the training set.
std::vector<std::string> classes_of_masks(const ImageDatastore& masks, const SourceRequest& request,
                                          const TrainingFacts& facts) {
  if (!facts.class_names.empty()) return facts.class_names;
  const auto& named = request.options.texts("mask_values");
  return named.empty() ? colours_as_classes(masks.files(), request.options.texts("ignored_mask_values")) : named;
}

ReadPairs read_pairs(Split split, const SourceRequest& request, const TrainingFacts& facts) {
  const ImageDatastoreOptions wanted = image_store_options(request, facts.sizes);
  const bool masks = are_masks(request.options);
  const ImagePairs pairs = find_image_pairs(split, request, names_of_pairs(request.options));
  const ImageDatastore inputs = image_list_datastore(pairs.inputs, {}, wanted, Place());
  if (masks) {
    const ImageDatastore read = image_list_datastore(pairs.targets, {}, {.channels = 3, .fit = ImageFit::any}, Place());
    return {inputs, read, classes_of_masks(read, request, facts)};
  }
  ImageDatastoreOptions of_targets = image_store_options(request);
  of_targets.channels = request.options.integer("target_channels");
  return {inputs, image_list_datastore(pairs.targets, {}, of_targets, Place()), {}};
}

TrainingFacts facts_of(const ReadPairs& read) { return {.class_names = read.classes, .sizes = read.inputs.sizes()}; }

// Whether the request says them, so that they do not depend on the training set.
bool says_classes(const SourceRequest& request) {
  return !are_masks(request.options) || !request.training.class_names.empty() ||
         !request.options.texts("mask_values").empty();
}
bool says_sizes(const SourceRequest& request) {
  const Shape sample = sample_of_images(request);
  return request.training.sizes.rank() > 0 || (sample[0] > 0 && sample[1] > 0 && sample[2] > 0);
}

// What the request does not say is that of the training set. Without one the first image may say the sizes.
ReadPairs read_pairs(Split split, const SourceRequest& request) {
  if (split == Split::train) return read_pairs(split, request, {});
  const bool alone = says_sizes(request) || !has_training_pairs(request, names_of_pairs(request.options));
  if (says_classes(request) && alone) return read_pairs(split, request, request.training);
  return read_pairs(split, request, facts_of(read_pairs(Split::train, request, request.training)));
}

SourceSet load_image_pairs(Split split, const SourceRequest& request) {
  const ReadPairs read = read_pairs(split, request);
  const Datastore both = combine({read.inputs, read.targets});
  if (!are_masks(request.options)) return {both, 0, facts_of(read)};
  const MaskClasses classes(read.classes, request.options.texts("ignored_mask_values"));
  const ImageFit fit = image_store_options(request).fit;
  return {with_mask_classes(both, classes, fit, read.targets.files()), std::ssize(read.classes), facts_of(read)};
}

SourceDescription description_of_image_pairs(Split split, const SourceRequest& request) {
  const ReadPairs read = read_pairs(split, request);
  const Shape sizes = read.inputs.sizes();
  SourceDescription made{read.inputs.size(), {{DType::f32, sizes, Labels("SSC"), {}}}};
  made.classes = std::ssize(read.classes), made.facts = facts_of(read);
  if (are_masks(request.options))
    made.variables.push_back({DType::i32, {sizes[0], sizes[1], 1}, Labels("SSC"), {}});
  else
    made.variables.push_back({DType::f32, read.targets.sizes(), Labels("SSC"), {}});
  return made;
}

OptionValues look_image_pairs(const std::filesystem::path& folder) {
  const SourceRequest request{.path = folder, .whole = true};
  const auto names = guess_pair_names(request);
  if (!names) throw missing_path(folder / "train" / "images", "folder of images with masks");
  const ImagePairs pairs = find_image_pairs(Split::train, request, *names);
  tell_broken_images(listed_image_files(pairs.inputs, {}));
  OptionValues found = image_look(image_list_datastore(pairs.inputs, {}, {}, Place()).sizes());
  for (const char* const size : {"image_height", "image_width"}) {  // poolings and their reverse meet
    constexpr int64_t kMultiple = 4;
    found.set(size, std::max(kMultiple, found.integer(size) / kMultiple * kMultiple));
  }
  found.set("input_folder", names->input);
  found.set("target_folder", names->target);
  found.set("target_suffix", names->suffix);
  const auto masks = look_at_masks(pairs.targets);
  found.set("task", std::string(masks ? "segmentation" : "regression"));
  if (masks) found.set("mask_values", masks->classes), found.set("ignored_mask_values", masks->ignored);
  return found;
}

std::vector<OptionRule> rules_of_image_pairs() {
  const std::vector<std::string> none;
  std::vector<OptionRule> all{
      {.name = "task",
       .help = "what is learned: the class of each pixel (masks), or another image (regression)",
       .standard = std::string("segmentation"),
       .choices = {"segmentation", "regression"}},
      {.name = "input_folder", .help = "the folder of the images", .standard = std::string("images")},
      {.name = "target_folder",
       .help = "the folder of the masks or images that are learned, with the names of the images",
       .standard = std::string("masks")},
      {.name = "target_suffix",
       .help = "what the names of targets have behind those of the images, such as _mask",
       .standard = std::string(),
       .may_be_empty = true},
      {.name = "target_channels",
       .help = "of images that are learned; 1: grey, 3: colours, 0: as the first one has",
       .standard = int64_t{0},
       .high = 3},
      {.name = "mask_values",
       .help = "the grey values or colours of masks that are classes, in their order; none: all that there are",
       .standard = none,
       .may_be_empty = true},
      {.name = "ignored_mask_values",
       .help = "the grey values or colours of pixels that count in no loss and no metric",
       .standard = none,
       .may_be_empty = true}};
  for (auto& rule : image_rules()) all.push_back(std::move(rule));
  return all;
}

}  // namespace

SourceKind image_pairs_source() {
  return {.name = "image-pairs",
          .help =
              "JPEG and PNG files in data.path/train/images, with a mask or another image for each in "
              "data.path/train/masks; the same below test, or without both and with data.test_share",
          .targets = {{.name = "pixel", .kind = nn::OutputKind::pixel_scores},
                      {.name = "image", .kind = nn::OutputKind::image}},
          .reads_folder = true,
          .files = "train/images and train/masks, folders of images with the same names",
          .options = rules_of_image_pairs(),
          .has_target = [](const SourceTarget& target,
                           const OptionValues& options) { return are_masks(options) == (target.name == "pixel"); },
          .sample = sample_of_images,
          .load = load_image_pairs,
          .description = description_of_image_pairs,
          .class_names =
              [](const SourceRequest& request) {
                if (!are_masks(request.options)) return std::vector<std::string>();
                const auto& known = request.training.class_names;
                return known.empty() ? read_pairs(Split::train, request).classes : known;
              },
          .look = look_image_pairs,
          .nearer_than = "images",
          .origin =
              [](Split split, int variable, const SourceRequest& request) {
                const PairNames names = names_of_pairs(request.options);
                return printable(pair_folder(split, request, variable == 0 ? names.input : names.target).string());
              }};
}

}  // namespace retrace
