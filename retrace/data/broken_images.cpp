#include "retrace/data/broken_images.h"

#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/base/warning.h"
#include "retrace/data/file_container.h"
#include "retrace/data/image_orientation.h"
#include "retrace/data/image_pixels.h"

namespace retrace {
namespace {

constexpr size_t kListed = 10;
constexpr uint64_t kMostLookedAt = uint64_t{256} << 20;  // some seconds

}  // namespace

std::string BrokenImages::text() const {
  const std::string rest = count > first.size() ? fmt::format("\n            and {} more", count - first.size()) : "";
  return joined(first, "\n            ") + rest;
}

std::string BrokenImages::summary() const { return fmt::format("{} of {} images cannot be read", count, looked_at); }

BrokenImages find_broken_images(const ImageFiles& files, uint64_t most) {
  BrokenImages found;
  if (files.container && files.container->kind() == "bucket") return found;
  uint64_t read = 0;
  for (size_t file = 0; file < files.paths.size() && read < most; ++file, ++found.looked_at) {
    try {
      const std::string bytes = files.bytes(file);
      read += bytes.size();
      decode_image(bytes, printable(files.paths[file]));
      found.turned += image_orientation(bytes) != 1;
    } catch (const Error& error) {
      if (found.count++ < kListed) found.first.push_back(error.message());
    }
  }
  return found;
}

void tell_broken_images(const ImageFiles& files) {
  constexpr uint64_t kMostBytes = uint64_t{32} << 20;
  const BrokenImages broken = find_broken_images(files, kMostBytes);
  if (broken.count > 0)
    warn(fmt::format("{}: take them out of the folder, or fetch them again\n            {}", broken.summary(),
                     broken.text()));
  if (broken.turned > 0)
    warn(fmt::format(
        "{} of {} images have an orientation of EXIF, which is not applied, as in PyTorch and Keras: to turn "
        "them, in Python PIL.ImageOps.exif_transpose(PIL.Image.open(name)).save(name)",
        broken.turned, broken.looked_at));
}

Error broken_images_error(const ImageFiles& files, const Error& met) {
  if (met.kind() != ErrorKind::bad_data) return met;
  const BrokenImages found = find_broken_images(files, kMostLookedAt);
  if (found.count < 2) return met;
  return Error(ErrorKind::bad_data, 531, found.summary())
      .got(found.text())
      .help("fetch these files again, or take them out of the folder");
}

}  // namespace retrace
