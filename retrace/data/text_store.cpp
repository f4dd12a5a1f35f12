#include "retrace/data/text_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/file.h"
#include "retrace/base/folder.h"

namespace retrace {
namespace {

constexpr uint64_t kTextLimit = uint64_t{1} << 30;

class TextSource : public DataSource {
 public:
  TextSource(std::shared_ptr<const TokenText> text, const TextWindows& windows, std::vector<std::string> files)
      : text_(std::move(text)), windows_(windows), files_(std::move(files)) {}

  int64_t size() const override { return (windows_.end - windows_.first - 1 - windows_.length) / windows_.stride + 1; }
  int variables() const override { return 2; }

  Observation get(int64_t index, int64_t) const override {
    return {window<float>({&index, 1}, {windows_.length}, "C", 0),
            window<int32_t>({&index, 1}, {windows_.length}, "T", 1)};
  }

  std::vector<Tensor> gather(std::span<const int64_t> indices, int64_t, int variables) const override {
    const Shape shape{std::ssize(indices), windows_.length};
    std::vector<Tensor> batch;
    if (variables > 0) batch.push_back(window<float>(indices, shape, "BC", 0));
    if (variables > 1) batch.push_back(window<int32_t>(indices, shape, "BT", 1));
    return batch;
  }

  std::vector<SourceFile> files() const override {
    std::vector<SourceFile> files;
    for (const auto& path : files_) files.push_back({path});
    return files;
  }

 private:
  // `ahead`: how many tokens behind its first one each window begins.
  template <class T>
  Tensor window(std::span<const int64_t> indices, const Shape& shape, const char* labels, int64_t ahead) const {
    std::vector<T> values;
    values.reserve(indices.size() * static_cast<size_t>(windows_.length));
    for (const int64_t index : indices) {
      const auto first = text_->numbers.begin() + windows_.first + index * windows_.stride + ahead;
      values.insert(values.end(), first, first + windows_.length);
    }
    return Tensor::from(values, shape, labels);
  }

  const std::shared_ptr<const TokenText> text_;
  const TextWindows windows_;
  const std::vector<std::string> files_;
};

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::error_code failure;
  std::vector<std::string> names = folder_names(folder, failure);
  if (failure) throw read_failed(folder, "text folder", failure.value());
  std::sort(names.begin(), names.end());
  std::vector<std::filesystem::path> files;
  for (const auto& name : names) {
    std::error_code ignored;
    const auto status = std::filesystem::symlink_status(folder / name, ignored);
    if (name[0] != '.' && std::filesystem::is_regular_file(status)) files.push_back(folder / name);
  }
  return files;
}

}  // namespace

Datastore text_windows(std::shared_ptr<const TokenText> text, const TextWindows& windows,
                       std::vector<std::string> files) {
  TextWindows own = windows;
  if (own.end < 0) own.end = std::ssize(text->numbers);
  if (own.stride == 0) own.stride = own.length;
  const int64_t count = own.end - own.first;
  if (count <= own.length)
    throw Error(ErrorKind::bad_data, 238, fmt::format("a text of {} tokens has no window", count))
        .where(files.empty() ? "" : printable(files[0]))
        .expected(fmt::format("{} tokens or more: a window, and the token behind it", own.length + 1))
        .help("give a longer text, or shorter windows: in a job data.length");
  return Datastore(std::make_shared<TextSource>(std::move(text), own, std::move(files)), Place());
}

std::vector<TextPiece> read_text(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) throw missing_path(path, "text file");
  std::vector<std::filesystem::path> files{path};
  if (std::filesystem::is_directory(path, ignored)) files = files_in(path);
  std::vector<TextPiece> pieces;
  uint64_t left = kTextLimit;
  for (const auto& file : files) {
    pieces.push_back({file.string(), read_file(file, "text file", left)});
    left -= pieces.back().bytes.size();
  }
  return pieces;
}

}  // namespace retrace
