#include "retrace/data/image_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "retrace/base/file.h"
#include "retrace/base/folder.h"
#include "retrace/data/image_files.h"
#include "retrace/data/image_search.h"
#include "retrace/data/resize.h"
#include "retrace/data/stack.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

const char* name_of_split(Split split) { return split == Split::train ? "train" : "test"; }

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

// The path of a file within a folder, without its ending.
std::string stem_in(const fs::path& folder, const std::string& file) {
  const std::string inside = file.substr(folder.string().size());
  return inside.substr(0, inside.rfind('.'));
}

// The images of a folder by their names.
std::map<std::string, std::string> images_by_stem(const fs::path& folder, const std::string& suffix) {
  std::map<std::string, std::string> found;
  for (const auto& file : find_image_files(folder.string(), false).paths) {
    std::string stem = stem_in(folder, file);
    if (!stem.ends_with(suffix)) continue;
    stem.resize(stem.size() - suffix.size());
    const auto [first, is_new] = found.emplace(std::move(stem), file);
    if (!is_new)
      throw Error(ErrorKind::bad_data, 569, "two files are the target of one image")
          .got(fmt::format("{} and {}", printable(first->second), printable(file)))
          .help("take one of them out of the folder");
  }
  return found;
}

Error no_target(const std::string& image, const fs::path& folder, const std::string& stem, const std::string& suffix) {
  return Error(ErrorKind::bad_data, 570, fmt::format("the image \"{}\" has no target", printable(image)))
      .expected(printable(folder.string() + stem + suffix) + ".png, .jpg or .jpeg")
      .help("take the image out of the folder, or say how targets are named: data.target_suffix = \"_mask\"");
}

// -- what folders are called ----------------------------------------------------------------------------------------

bool is_target_name(std::string name) {
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const char* const part : {"mask", "label", "annot", "target", "truth", "seg", "gt", "clean", "output"})
    if (name.find(part) != std::string::npos) return true;
  return false;
}

std::vector<std::string> folders_within(const fs::path& folder) {
  std::vector<std::string> folders;
  std::error_code failure;
  for (const auto& name : folder_names(folder, failure))
    if (name[0] != '.' && is_folder(folder / name)) folders.push_back(name);
  return folders;
}

std::vector<std::string> images_in(const fs::path& folder) {
  try {
    return find_image_files(folder.string(), false).paths;
  } catch (const Error&) {
    return {};
  }
}

// What the names of targets have behind that of the first image; nothing if it has none.
std::optional<std::string> suffix_of(const fs::path& inputs, const fs::path& targets) {
  const auto images = images_in(inputs), others = images_in(targets);
  if (images.empty()) return std::nullopt;
  const std::string stem = stem_in(inputs, images[0]);
  std::optional<std::string> shortest;
  for (const auto& other : others)
    if (const std::string name = stem_in(targets, other); name.starts_with(stem))
      if (!shortest || name.size() - stem.size() < shortest->size()) shortest = name.substr(stem.size());
  return shortest;
}

// -- masks ----------------------------------------------------------------------------------------------------------

// The part of a mask that the middle of its image was cut out at.
Tensor middle_of(const Tensor& mask, int64_t height, int64_t width) {
  const BlankTensor blank(TensorSpec{mask.type(), {height, width, 1}, Labels("SSC"), {}});
  const int64_t top = (mask.shape()[0] - height) / 2, left = (mask.shape()[1] - width) / 2;
  const auto* from = static_cast<const int32_t*>(mask.data());
  auto* to = reinterpret_cast<int32_t*>(blank.bytes);
  for (int64_t y = 0; y < height; ++y) to = std::copy_n(from + (top + y) * mask.shape()[1] + left, width, to);
  return blank.tensor;
}

Tensor of_size(const Tensor& mask, const Tensor& image, ImageFit fit, const std::string& name) {
  const int64_t height = image.shape()[0], width = image.shape()[1];
  if (mask.shape()[0] == height && mask.shape()[1] == width) return mask;
  if (fit == ImageFit::resize) return resized(mask, height, width, Interpolation::nearest);
  if (fit == ImageFit::center_crop && mask.shape()[0] >= height && mask.shape()[1] >= width)
    return middle_of(mask, height, width);
  throw Error(ErrorKind::bad_data, 572, fmt::format("the mask \"{}\" has another size than its image", name))
      .got(fmt::format("{} x {} pixels (height x width)", mask.shape()[0], mask.shape()[1]))
      .expected(fmt::format("{} x {}", height, width))
      .help("give it the size of its image, or resize both: data.image_fit = \"resize\"");
}

}  // namespace

fs::path pair_folder(Split split, const SourceRequest& request, const std::string& name) {
  const fs::path outer = request.path / name_of_split(split) / name, inner = request.path / name / name_of_split(split);
  if (is_folder(outer)) return outer;
  if (is_folder(inner)) return inner;
  const bool alone = !is_folder(request.path / "train") && !is_folder(request.path / name / "train");
  const bool whole = alone && (split == Split::train || request.only_test);
  return whole && is_folder(request.path / name) ? request.path / name : outer;
}

bool has_training_pairs(const SourceRequest& request, const PairNames& names) {
  return is_folder(request.path / "train" / names.input) || is_folder(request.path / names.input / "train") ||
         (request.whole && is_folder(request.path / names.input));
}

ImagePairs find_image_pairs(Split split, const SourceRequest& request, const PairNames& names) {
  constexpr size_t kMost = 20;
  const fs::path inputs = pair_folder(split, request, names.input), targets = pair_folder(split, request, names.target);
  for (const auto& folder : {inputs, targets})
    if (!is_folder(folder)) throw missing_path(folder, "folder of images");
  const auto by_stem = images_by_stem(targets, names.suffix);
  ImagePairs pairs;
  std::vector<Error> mistakes;
  for (const auto& file : find_image_files(inputs.string(), false).paths) {
    const std::string stem = stem_in(inputs, file);
    const auto found = by_stem.find(stem);
    if (found != by_stem.end())
      pairs.inputs.push_back(file), pairs.targets.push_back(found->second);
    else if (mistakes.size() < kMost)
      mistakes.push_back(no_target(file, targets, stem, names.suffix));
  }
  throw_all(mistakes);
  return pairs;
}

std::optional<PairNames> guess_pair_names(const SourceRequest& request) {
  const fs::path train = request.path / "train";
  const auto names = folders_within(is_folder(train) ? train : request.path);
  for (const auto& target : names)
    for (const auto& input : names) {
      if (input == target || !is_target_name(target) || is_target_name(input)) continue;
      if (const auto suffix =
              suffix_of(pair_folder(Split::train, request, input), pair_folder(Split::train, request, target)))
        return PairNames{input, target, *suffix};
    }
  return std::nullopt;
}

std::optional<MaskLook> look_at_masks(const std::vector<std::string>& files) {
  constexpr MaskColour kWhite = 0xffffff, kStep = 0x010101;
  constexpr size_t kMostFew = 64;
  auto colours = colours_of_masks(listed_image_files(files, {}));
  if (colours.size() > kMostFew) return std::nullopt;
  MaskLook look;
  const bool numbers = colours.count(kWhite) && colours.size() > 2 &&
                       *std::next(colours.rbegin()) == kStep * (static_cast<MaskColour>(colours.size()) - 2);
  if (numbers) colours.erase(kWhite), look.ignored.push_back(text_of_colour(kWhite));
  for (const MaskColour colour : colours) look.classes.push_back(text_of_colour(colour));
  return look;
}

std::vector<std::string> colours_as_classes(const std::vector<std::string>& files,
                                            const std::vector<std::string>& ignored) {
  const auto colours = colours_of_masks(listed_image_files(files, {}));
  std::vector<std::string> classes;
  for (const MaskColour colour : colours)
    if (const auto text = text_of_colour(colour); !std::count(ignored.begin(), ignored.end(), text))
      classes.push_back(text);
  if (colours.size() <= kMostMaskClasses) return classes;
  throw Error(ErrorKind::bad_data, 571, "the masks have too many colours to be classes")
      .got(fmt::format("more than {}, as in \"{}\"", kMostMaskClasses, printable(files[0])))
      .help(
          "store masks as PNG, since JPEG changes colours; for images that are no masks set data.task = "
          "\"regression\"");
}

Datastore with_mask_classes(const Datastore& both, const MaskClasses& classes, ImageFit fit,
                            std::vector<std::string> files) {
  return transform(both, [=, files = std::move(files)](const Observation& pair, const TransformContext& context) {
    const std::string name = printable(files[static_cast<size_t>(context.sample)]);
    return Observation{pair[0], of_size(classes.numbers(pair[1], name), pair[0], fit, name)};
  });
}

}  // namespace retrace
