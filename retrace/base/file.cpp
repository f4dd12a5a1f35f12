#include "retrace/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "retrace/base/folder.h"

namespace retrace {
namespace fs = std::filesystem;

namespace {
constexpr size_t kMaxListed = 2000;  // names looked at to find a similar one

// The point where a path ceases to exist: `folder` exists, `first` is the path of the part below it that does not, and
// `rest` is what follows.
struct Break {
  fs::path folder, first, rest;
};

Break find_break(const fs::path& path) {
  std::error_code ignored;
  Break found{path.lexically_normal(), {}, {}};
  while (!found.folder.empty() && !fs::exists(found.folder, ignored) && found.folder.has_relative_path()) {
    if (!found.first.empty())
      found.rest = found.rest.empty() ? found.first.filename() : found.first.filename() / found.rest;
    found.first = found.folder, found.folder = found.folder.parent_path();
  }
  if (!found.folder.empty() && !fs::exists(found.folder, ignored)) found.folder.clear();
  if (found.folder.empty()) found.folder = ".";
  return found;
}

// A path with a similar name at the break that is what was meant, or "".
fs::path similar_path(const Break& found, bool folder_meant) {
  std::error_code ignored;
  std::vector<std::string> names = folder_names(found.folder, ignored);
  if (names.size() > kMaxListed) names.resize(kMaxListed);
  const auto full = [&](const std::string& name) {
    const fs::path base = found.folder == "." ? fs::path(name) : found.folder / name;
    return found.rest.empty() ? base : base / found.rest;
  };
  std::erase_if(names, [&](const std::string& name) {
    const fs::file_status status = fs::status(full(name), ignored);
    return !fs::exists(status) || fs::is_directory(status) != folder_meant;
  });
  const std::string name = nearest(found.first.filename().string(), names);
  return name.empty() ? fs::path() : full(name);
}

}  // namespace

std::string system_reason(int error_number) { return std::generic_category().message(error_number); }

size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = byte(0) < 0x80   ? 1
                        : byte(0) < 0xc2 ? 0
                        : byte(0) < 0xe0 ? 2
                        : byte(0) < 0xf0 ? 3
                        : byte(0) < 0xf5 ? 4
                                         : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (length == 3 && ((byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xed && byte(1) > 0x9f))) return 0;
  if (length == 4 && ((byte(0) == 0xf0 && byte(1) < 0x90) || (byte(0) == 0xf4 && byte(1) > 0x8f))) return 0;
  return length;
}

std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text.substr(i));
    const auto first = static_cast<unsigned char>(text[i]);
    const bool c1 = length == 2 && first == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (length == 0 || first < 0x20 || first == 0x7f || c1)
      out += '?';
    else
      out += text.substr(i, length);
    i += std::max<size_t>(length, 1);
  }
  return out;
}

Error missing_path(const fs::path& path, std::string_view what) {
  Error error(ErrorKind::missing, 501, fmt::format("{} \"{}\" does not exist", what, printable(path.string())));
  std::error_code failure;
  const Break found = find_break(path);
  const std::string folder = printable(found.folder.string());
  if (fs::is_symlink(fs::symlink_status(found.first, failure)))
    return error.help(fmt::format("\"{}\" is a link to \"{}\", which does not exist", printable(found.first.string()),
                                  printable(fs::read_symlink(found.first, failure).string())));
  if (!fs::is_directory(found.folder, failure))
    return error.help(fmt::format("\"{}\" is a file, not a folder", folder));
  if (const fs::path similar = similar_path(found, what.ends_with("folder")); !similar.empty())
    return error.help(fmt::format("did you mean \"{}\"?", printable(similar.string())));
  return error.help(fmt::format("the nearest folder that exists is \"{}\"", folder));
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    if (value_ >= 0) ::close(value_);
    value_ = other.release();
  }
  return *this;
}
FileDescriptor::~FileDescriptor() {
  if (value_ >= 0) ::close(value_);
}
int FileDescriptor::release() {
  const int value = value_;
  value_ = -1;
  return value;
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), std::min<size_t>(bytes.size(), 1u << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool read_exactly(int descriptor, std::span<std::byte> bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pread(descriptor, bytes.data(), std::min<size_t>(bytes.size(), 1u << 30), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = 0;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return true;
}

Error read_failed(const fs::path& path, std::string_view what, int error_number) {
  const std::string shown = printable(path.string());
  if (error_number == 0)
    return Error(ErrorKind::bad_data, 502, fmt::format("{} \"{}\" became shorter while it was read", what, shown));
  return Error(ErrorKind::missing, 502,
               fmt::format("cannot read {} \"{}\": {}", what, shown, system_reason(error_number)));
}

namespace {

struct OpenFile {
  FileDescriptor descriptor;
  uint64_t size = 0;
};

OpenFile open_regular(const fs::path& path, std::string_view what) {
  OpenFile file{FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))};
  if (file.descriptor.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) throw missing_path(path, what);
    throw read_failed(path, what, errno);
  }
  struct stat status{};
  if (::fstat(file.descriptor.get(), &status) != 0) throw read_failed(path, what, errno);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::bad_data, 502,
                fmt::format("{} \"{}\" is not a regular file", what, printable(path.string())));
  file.size = static_cast<uint64_t>(status.st_size);
  return file;
}

std::string read_bytes(const OpenFile& file, uint64_t size, const fs::path& path, std::string_view what) {
  std::string bytes(size, '\0');
  if (!read_exactly(file.descriptor.get(), std::as_writable_bytes(std::span(bytes)), 0))
    throw read_failed(path, what, errno);
  return bytes;
}

}  // namespace

std::string read_file(const fs::path& path, std::string_view what, uint64_t limit) {
  const OpenFile file = open_regular(path, what);
  if (file.size > limit)
    throw Error(ErrorKind::bad_data, 504, fmt::format("{} \"{}\" is too large", what, printable(path.string())))
        .got(fmt::format("{} bytes", file.size))
        .expected(fmt::format("at most {} bytes", limit));
  return read_bytes(file, file.size, path, what);
}

std::string read_file_start(const fs::path& path, std::string_view what, uint64_t most) {
  const OpenFile file = open_regular(path, what);
  return read_bytes(file, std::min(file.size, most), path, what);
}

}  // namespace retrace
