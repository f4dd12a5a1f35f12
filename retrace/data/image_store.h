#pragma once
// Files of images as a store.

#include <memory>
#include <string>
#include <vector>

#include "retrace/data/datastore.h"
#include "retrace/data/image_file.h"

namespace retrace {

struct ImageFiles;   // retrace/data/image_files.h
struct ImageReader;  // retrace/data/image_store.cpp

// Where the labels of images come from.
enum class LabelsFrom {
  none,          // there are none: an observation is an image
  folder_names,  // the name of the folder that an image lies in is its class
};

// What happens to an image that has not the wanted height and width.
enum class ImageFit {
  exact,        // it is an error
  resize,       // it is resized, each axis by its own factor; smoothed where it becomes smaller
  center_crop,  // the middle is cut out; an image that is smaller is an error
  any,          // it stays as it is: height and width mean nothing, and a transform brings images to one size
};

// Options of image_datastore.
struct ImageDatastoreOptions {
  LabelsFrom labels = LabelsFrom::none;
  // The classes in the order of their labels; a class that is found and not among them is an error. None: those that
  // are found, in the order of the bytes of their names. Give those of the training set to the store of the test set.
  std::vector<std::string> class_names = {};
  int64_t height = 0, width = 0;  // of all images; 0: as the first one has
  int64_t channels = 0;           // 1: grey; 3: red, green, blue; 0: as the first one has. Others are converted
  ImageFit fit = ImageFit::exact;
  bool scale_bytes = false;  // images are f32, each value divided by 255, in place of u8
};

// How ImageDatastore::split_each_label chooses.
struct LabelSplitOptions {
  bool randomized = false;  // else the first files of each class
  uint64_t seed = 0;
};

// The number of images of a class.
struct LabelCount {
  std::string name;
  int64_t count = 0;
  bool operator==(const LabelCount&) const = default;
};

// A store whose observations are images, each decoded when it is read: image [height,width,channels] "SSC", u8 or f32;
// with labels, the index of its class, a single i32. The queue's threads decode ahead. Reading one throws
// Error(bad_data) or Error(missing) that names the file.
class ImageDatastore : public Datastore {
 public:
  // The paths in the order of the observations.
  std::vector<std::string> files() const;
  // The shape of every image: [height,width,channels]; height and width are 0 with ImageFit::any.
  Shape sizes() const;
  // The names of the classes in the order of their labels; empty without labels.
  const std::vector<std::string>& class_names() const;
  // The label of every observation. Error(usage) without labels.
  std::vector<int32_t> labels(Place place = Place::here()) const;
  // The number of observations of every class, in the order of the labels. Error(usage) without labels.
  std::vector<LabelCount> count_each_label(Place place = Place::here()) const;
  // Parts of every class, and what is left of it as the last store: each in the order of this store. All parts are
  // fractions (above 0, below 1; of a class of n images, the part p is p n images, rounded down after 1e-9 was added)
  // or all are whole numbers of images. Error(usage) for other parts, for fractions of more than 1 in all, for numbers
  // that a class does not have, and without labels.
  std::vector<ImageDatastore> split_each_label(const std::vector<double>& parts, const LabelSplitOptions& options = {},
                                               Place place = Place::here()) const;

  // As those of Datastore, with the classes.
  ImageDatastore partition(int64_t n, int64_t i, Place place = Place::here()) const;
  ImageDatastore shuffle(uint64_t seed, Place place = Place::here()) const;
  ImageDatastore subset(std::span<const int64_t> indices, Place place = Place::here()) const;
  ImageDatastore subset(std::initializer_list<int64_t> indices, Place place = Place::here()) const {
    return subset(std::span(indices.begin(), indices.size()), place);
  }

 private:
  friend ImageDatastore store_of_files(ImageFiles files, const ImageDatastoreOptions& options, Place place);
  ImageDatastore(std::shared_ptr<const ImageReader> reader, std::shared_ptr<const std::vector<int64_t>> members,
                 Place place);
  ImageDatastore members_of(const Datastore& part, Place place) const;
  std::vector<std::vector<int64_t>> members_by_label() const;

  std::shared_ptr<const ImageReader> reader_;
  std::shared_ptr<const std::vector<int64_t>> members_;  // numbers of files, in the order of the observations
};

// The images of a folder and of the folders in it, of a path with the wildcards * and ? in any part, or of one file:
// JPEG and PNG, by names that end in .jpg, .jpeg or .png. Names with a leading '.' are left out. The order is that of
// the bytes of the paths, so it does not depend on the file system. The header of the first file alone is read here.
// A tar archive is read in place like a folder: "pets.tar/train" is the folder `train` in it (docs/data.md).
// Errors: missing for a location without images; bad_data for a folder of a class without images or an image beside
// them, and for a class that is not in class_names; those of image_info() of the first file; usage for options.
ImageDatastore image_datastore(const std::string& location, const ImageDatastoreOptions& options = {},
                               Place place = Place::here());

// The images of these files, which lie on the disk, in this order; one may be named several times. `labels`: the name
// of the class of each, in place of options.labels; none: there are no labels. Errors: those of image_info() of the
// first file; missing for a file that is not there, bad_data for a class that is not in class_names; usage for no
// files, other numbers of labels than of files, and options.
ImageDatastore image_list_datastore(const std::vector<std::string>& files, const std::vector<std::string>& labels = {},
                                    const ImageDatastoreOptions& options = {}, Place place = Place::here());

}  // namespace retrace
