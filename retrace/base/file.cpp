#include "retrace/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <vector>

namespace retrace {
namespace fs = std::filesystem;

namespace {
constexpr int kMaxListed = 2000;  // names looked at to find a similar one

// A name in `folder` similar to `name`, or "".
std::string similar_name(const fs::path& folder, const std::string& name) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; entry != end && names.size() < kMaxListed;
       entry.increment(ignored)) {
    if (ignored) break;
    names.push_back(entry->path().filename().string());
  }
  return nearest(name, names);
}

// Length of the valid UTF-8 sequence at the start of `text`, 0 if there is none.
size_t sequence_length(std::string_view text) {
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
}  // namespace

std::string system_reason(int error_number) { return std::generic_category().message(error_number); }

std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t length = sequence_length(text.substr(i));
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
  std::error_code ignored;
  fs::path rest = path.lexically_normal(), folder = rest;
  while (!folder.empty() && !fs::exists(folder, ignored) && folder.has_relative_path())
    rest = folder, folder = folder.parent_path();
  if (!folder.empty() && !fs::exists(folder, ignored)) folder.clear();
  const std::string similar = similar_name(folder.empty() ? fs::path(".") : folder, rest.filename().string());
  if (!similar.empty())
    error.help(fmt::format("did you mean \"{}\"?", printable((folder / similar).string())));
  else
    error.help(
        fmt::format("the nearest folder that exists is \"{}\"", printable(folder.empty() ? "." : folder.string())));
  return error;
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
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return true;
}

Error write_failed(const fs::path& path, int error_number) {
  return Error(ErrorKind::output, 503,
               fmt::format("cannot write \"{}\": {}", printable(path.string()), system_reason(error_number)));
}

std::string read_file(const fs::path& path, std::string_view what, uint64_t limit) {
  const std::string shown = printable(path.string());
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) throw missing_path(path, what);
    throw Error(ErrorKind::missing, 502, fmt::format("cannot read {} \"{}\": {}", what, shown, system_reason(errno)));
  }
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(ErrorKind::bad_data, 502, fmt::format("{} \"{}\" is not a regular file", what, shown));
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > limit)
    throw Error(ErrorKind::bad_data, 504, fmt::format("{} \"{}\" is too large", what, shown))
        .got(fmt::format("{} bytes", size))
        .expected(fmt::format("at most {} bytes", limit));
  std::string bytes(size, '\0');
  if (!read_exactly(file.get(), std::as_writable_bytes(std::span(bytes)), 0))
    throw Error(ErrorKind::bad_data, 502, fmt::format("{} \"{}\" became shorter while it was read", what, shown));
  return bytes;
}

void write_file_whole(const fs::path& path, std::span<const std::string_view> pieces) {
  static std::atomic<unsigned> counter{0};
  const fs::path folder = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  const fs::path temporary =
      folder / fmt::format(".{}.{}-{}.partial", path.filename().string(), ::getpid(), counter.fetch_add(1));
  FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.get() < 0) throw write_failed(path, errno);
  bool good = true;
  for (const auto piece : pieces) good = good && write_all(file.get(), piece);
  good = good && ::fsync(file.get()) == 0;
  int failure = good ? 0 : errno;
  if (::close(file.release()) != 0 && good) good = false, failure = errno;
  if (good && ::rename(temporary.c_str(), path.c_str()) != 0) good = false, failure = errno;
  if (!good) {
    ::unlink(temporary.c_str());
    throw write_failed(path, failure);
  }
  const FileDescriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) throw write_failed(path, errno);
}

void write_file_whole(const fs::path& path, std::string_view text) {
  write_file_whole(path, std::span<const std::string_view>(&text, 1));
}

}  // namespace retrace
