#include "retrace/data/volume_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "retrace/base/file.h"
#include "retrace/data/npy.h"

namespace retrace {
namespace {

Error wrong_volume(const std::filesystem::path& file, const std::string& what) {
  return Error(ErrorKind::bad_data, 419, "a volume " + what).where(printable(file.string()));
}

Shape shape_of_volume(const NpyArray& array, const std::filesystem::path& file) {
  const int rank = array.shape.rank();
  if ((rank != 3 && rank != 4) || array.shape.count() == 0)
    throw wrong_volume(file, "has no depth, height and width")
        .got(array.text())
        .expected("[depth,height,width] or [depth,height,width,channels]");
  return rank == 4 ? array.shape : Shape{array.shape[0], array.shape[1], array.shape[2], 1};
}

class VolumeFiles : public DataSource {
 public:
  VolumeFiles(std::vector<ClassFile> files, const Shape& shape) : files_(std::move(files)), shape_(shape) {}

  int64_t size() const override { return std::ssize(files_); }
  int variables() const override { return 2; }
  Observation get(int64_t index, int64_t) const override {
    const ClassFile& file = files_[static_cast<size_t>(index)];
    return {volume(file.path), Tensor::scalar(file.number)};
  }
  int64_t known_label(int64_t index, int variable) const override {
    return variable == 1 ? files_[static_cast<size_t>(index)].number : -1;
  }
  std::vector<SourceFile> files() const override {
    std::vector<SourceFile> files;
    for (const auto& file : files_) files.push_back({file.path.string()});
    return files;
  }

 private:
  Tensor volume(const std::filesystem::path& file) const {
    const NpyArray array = read_npy(file);
    if (shape_of_volume(array, file) != shape_)
      throw wrong_volume(file, "has another shape than the others")
          .got(array.text())
          .expected(shape_.text())
          .help("volumes are not resized: bring all to one shape, or take the file away");
    std::vector<float> values = array.floats();
    if (array.kind == NpyKind::natural && array.item == 1)
      for (float& value : values) value /= 255;
    if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); }))
      throw wrong_volume(file, "has numbers that are not finite").help("fill its gaps, or take the file away");
    return Tensor::from(values, shape_, "SSSC");
  }

  const std::vector<ClassFile> files_;
  const Shape shape_;
};

}  // namespace

Shape volume_shape(const std::filesystem::path& file) { return shape_of_volume(read_npy_header(file), file); }

Datastore volume_files(std::vector<ClassFile> files, const Shape& shape) {
  return Datastore(std::make_shared<VolumeFiles>(std::move(files), shape), Place());
}

}  // namespace retrace
