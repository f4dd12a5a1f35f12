#include "retrace/data/cifar10.h"

#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/data/cifar10_files.h"

namespace retrace {
namespace {

constexpr int64_t kPixels = kCifar10Side * kCifar10Side, kRecord = 1 + 3 * kPixels;
constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of a file

Error refused(const std::filesystem::path& path, const std::string& what) {
  return Error(ErrorKind::bad_data, 375, fmt::format("CIFAR-10 file \"{}\" {}", printable(path.string()), what));
}

struct Arrays {
  std::vector<uint8_t> pixels;
  std::vector<int32_t> labels;
};

// Planes of colours become pixels.
void add_record(const char* record, Arrays& to) {
  to.labels.push_back(static_cast<unsigned char>(record[0]));
  for (int64_t i = 0; i < kPixels; ++i)
    for (int64_t c = 0; c < 3; ++c) to.pixels.push_back(static_cast<uint8_t>(record[1 + c * kPixels + i]));
}

void add_file(const Cifar10File& file, Arrays& to) {
  const std::string bytes = read_file(file.path, "CIFAR-10 file", kMostBytes);
  if (static_cast<int64_t>(bytes.size()) != file.images * kRecord)
    throw refused(file.path, "changed while it was read");
  for (int64_t n = 0; n < file.images; ++n) {
    add_record(bytes.data() + n * kRecord, to);
    if (to.labels.back() >= kCifar10Classes)
      throw refused(file.path, fmt::format("has the label {} at index {}", to.labels.back(), n))
          .expected("labels of 0 to 9")
          .help("unpack the file again; CIFAR-100 has other records");
  }
}

}  // namespace

std::vector<Cifar10File> cifar10_files(const std::filesystem::path& folder, Split split) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder, ignored)) throw missing_path(folder, "data folder");
  const auto inner = folder / "cifar-10-batches-bin";
  const auto& place = std::filesystem::is_directory(inner, ignored) ? inner : folder;
  std::vector<std::string> names;
  for (int i = 1; i <= 5; ++i) names.push_back(fmt::format("data_batch_{}.bin", i));
  if (split == Split::test) names = {"test_batch.bin"};
  std::vector<Cifar10File> files;
  for (const auto& name : names) {
    const auto path = place / name;
    if (!std::filesystem::exists(path, ignored)) throw missing_path(path, "CIFAR-10 file");
    const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path, ignored));
    if (ignored || bytes == 0 || bytes % kRecord != 0)
      throw refused(path, "is no number of whole records")
          .got(ignored ? "no regular file" : fmt::format("{} bytes", bytes))
          .expected(fmt::format("a multiple of {} bytes: a label and 32 x 32 x 3 values", kRecord))
          .help("unpack the file again");
    files.push_back({path, bytes / kRecord});
  }
  return files;
}

namespace datasets {

Datastore cifar10(const std::string& folder, Split split) {
  Arrays arrays;
  std::vector<std::string> files;
  for (const auto& file : cifar10_files(folder, split)) {
    add_file(file, arrays);
    files.push_back(file.path.string());
  }
  const auto count = static_cast<int64_t>(arrays.labels.size());
  return array_store({Tensor::from(arrays.pixels, {count, kCifar10Side, kCifar10Side, 3}, "BSSC"),
                      Tensor::from(arrays.labels, {count}, "B")},
                     {.scale_bytes = true, .files = std::move(files)});
}

}  // namespace datasets
}  // namespace retrace
