#pragma once
// Images that each have another image as their target, by the names of their files.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "retrace/data/image_store.h"
#include "retrace/data/mask_classes.h"
#include "retrace/data/source_kind.h"
#include "retrace/data/transform.h"

namespace retrace {

// What the folders of inputs and targets are called, and what the names of targets have behind those of the inputs.
struct PairNames {
  std::string input, target, suffix;
};

// The folder `name` of a split: PATH/train/NAME or PATH/NAME/train, or, of a set that is whole, PATH/NAME.
std::filesystem::path pair_folder(Split split, const SourceRequest& request, const std::string& name);

// Whether the training set is there.
bool has_training_pairs(const SourceRequest& request, const PairNames& names);

// Paths of files, in the order of the bytes of those of the inputs; targets[i] belongs to inputs[i].
struct ImagePairs {
  std::vector<std::string> inputs, targets;
};
// Names are compared without their endings, with the folders that they lie in. Targets that no input has are left out.
// Errors: missing for a folder without images; bad_data for the first 20 inputs without a target, and for two targets
// of one input.
ImagePairs find_image_pairs(Split split, const SourceRequest& request, const PairNames& names);

// The names of folders in the training set of which one has the names of the other's images and is called as masks or
// targets are: "masks", "labels", "annotations", "clean", ... Nothing if there are none.
std::optional<PairNames> guess_pair_names(const SourceRequest& request);

// The colours of masks.
struct MaskLook {
  std::vector<std::string> classes, ignored;
};
// Nothing where images are no masks: they have many colours. 255 is taken for pixels that do not count where the other
// grey values are the numbers of classes, 0, 1, ...
std::optional<MaskLook> look_at_masks(const std::vector<std::string>& files);

// The colours of all these masks but those that are ignored, as texts. Error(bad_data) for too many.
std::vector<std::string> colours_as_classes(const std::vector<std::string>& files,
                                            const std::vector<std::string>& ignored);

// A store of images and masks, u8 [height,width,3], with class numbers in place of the masks, brought to the sizes of
// the images: each pixel of one that is resized is that in which its middle lies. `files`: of the masks.
// Error(bad_data), when it is read, for a mask of another size than its image, where that is not resized.
Datastore with_mask_classes(const Datastore& both, const MaskClasses& classes, ImageFit fit,
                            std::vector<std::string> files);

}  // namespace retrace
