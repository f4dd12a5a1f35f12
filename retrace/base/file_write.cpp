#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

#include "retrace/base/file.h"

namespace retrace {
namespace fs = std::filesystem;

Error write_failed(const fs::path& path, int error_number) {
  Error error(ErrorKind::output, 503,
              fmt::format("cannot write \"{}\": {}", printable(path.string()), system_reason(error_number)));
  if (error_number == ENOSPC || error_number == EDQUOT) error.help("make room, or write to another disk");
  return error;
}

namespace {

constexpr int kMostLinks = 40;
constexpr size_t kLongestPrefix = 200;  // of a temporary name: names end at 255 bytes

using Status = struct stat;

bool same_file(const Status& a, const Status& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

// The thing at a path, links followed; `exists` is false if there is nothing.
struct Found {
  bool exists = false;
  Status status{};
};

Found look(const fs::path& path) {
  Found found;
  found.exists = ::stat(path.c_str(), &found.status) == 0;
  if (!found.exists && errno != ENOENT) throw write_failed(path, errno);
  return found;
}

bool is_standard_output(const Status& status) {
  Status standard{};
  return ::fstat(STDOUT_FILENO, &standard) == 0 && same_file(status, standard);
}

// True if the target is replaced as a whole, false if it is written into. Throws for anything else.
bool is_replaced(const fs::path& path, const Found& target) {
  if (!target.exists) return true;
  const auto mode = target.status.st_mode;
  if (S_ISDIR(mode)) throw write_failed(path, EISDIR);
  if (S_ISBLK(mode))
    throw Error(
        ErrorKind::output, 505,
        fmt::format("cannot write \"{}\": it is a block device, and its data would be lost", printable(path.string())));
  return S_ISREG(mode) && !is_standard_output(target.status);
}

// The file at the end of the links, which need not exist.
fs::path without_links(const fs::path& path) {
  fs::path end = path;
  std::error_code failure;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!fs::is_symlink(fs::symlink_status(end, failure))) return end;
    const fs::path target = fs::read_symlink(end, failure);
    if (failure) throw write_failed(path, failure.value());
    end = end.parent_path() / target;  // the target alone where it is absolute
  }
  throw write_failed(path, ELOOP);
}

bool write_pieces(int descriptor, std::span<const std::string_view> pieces) {
  for (const auto piece : pieces)
    if (!write_all(descriptor, piece)) return false;
  return true;
}

void write_into(const fs::path& path, const Found& target, std::span<const std::string_view> pieces) {
  FileDescriptor own;
  int descriptor = STDOUT_FILENO;
  if (S_ISREG(target.status.st_mode) || S_ISSOCK(target.status.st_mode)) {  // not to be opened, or not at its place
    if (!is_standard_output(target.status)) throw write_failed(path, ENXIO);
  } else {
    int opened = -1;
    do opened = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    while (opened < 0 && errno == EINTR);
    if (opened < 0) throw write_failed(path, errno);
    own = FileDescriptor(opened), descriptor = opened;
  }
  if (!write_pieces(descriptor, pieces)) throw write_failed(path, errno);
  if (own.get() >= 0 && ::close(own.release()) != 0) throw write_failed(path, errno);
}

// Keeps the permissions of the file, and its owner as far as this user may give it away.
bool keep_access(int descriptor, const Found& target) {
  if (!target.exists) return true;
  const bool other = target.status.st_uid != ::geteuid() || target.status.st_gid != ::getegid();
  if (other && ::fchown(descriptor, target.status.st_uid, target.status.st_gid) != 0) errno = 0;
  return ::fchmod(descriptor, target.status.st_mode & 07777) == 0;
}

void replace(const fs::path& path, const Found& target, std::span<const std::string_view> pieces, Lasting lasting) {
  static std::atomic<unsigned> counter{0};
  const fs::path end = without_links(path);
  if (target.exists && ::access(end.c_str(), W_OK) != 0) throw write_failed(path, errno);
  const fs::path folder = end.parent_path().empty() ? fs::path(".") : end.parent_path();
  const fs::path temporary =
      folder / fmt::format(".{}.{}-{}.partial", end.filename().string().substr(0, kLongestPrefix), ::getpid(),
                           counter.fetch_add(1));
  FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.get() < 0) throw write_failed(path, errno);
  const bool synced = lasting == Lasting::machine;
  bool good =
      write_pieces(file.get(), pieces) && keep_access(file.get(), target) && (!synced || ::fsync(file.get()) == 0);
  int failure = good ? 0 : errno;
  if (::close(file.release()) != 0 && good) good = false, failure = errno;
  if (good && ::rename(temporary.c_str(), end.c_str()) != 0) good = false, failure = errno;
  if (!good) {
    ::unlink(temporary.c_str());
    throw write_failed(path, failure);
  }
  if (!synced) return;
  const FileDescriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) throw write_failed(path, errno);
}

}  // namespace

void write_file_whole(const fs::path& path, std::span<const std::string_view> pieces, Lasting lasting) {
  const Found target = look(path);
  if (is_replaced(path, target))
    replace(path, target, pieces, lasting);
  else
    write_into(path, target, pieces);
}

void write_file_whole(const fs::path& path, std::string_view text) {
  write_file_whole(path, std::span<const std::string_view>(&text, 1));
}

bool is_standard_output(const fs::path& path) {
  Status status{};
  return ::stat(path.c_str(), &status) == 0 && is_standard_output(status);
}

void check_output(const fs::path& output, std::span<const fs::path> inputs) {
  const Found target = look(output);
  const bool replaced = is_replaced(output, target);
  const fs::path end = without_links(output);
  if (target.exists && replaced && ::access(end.c_str(), W_OK) != 0) throw write_failed(output, errno);
  if (!target.exists) {
    const fs::path folder = end.parent_path().empty() ? fs::path(".") : end.parent_path();
    if (::access(folder.c_str(), W_OK | X_OK) != 0) throw write_failed(output, errno);
  }
  for (const auto& input : inputs) {
    Status status{};
    if (!replaced || !target.exists || ::stat(input.c_str(), &status) != 0 || !same_file(target.status, status))
      continue;
    throw Error(ErrorKind::usage, 506,
                fmt::format("\"{}\" would be written over what is read", printable(output.string())))
        .got(fmt::format("the same file as \"{}\"", printable(input.string())))
        .help("give another name for the output");
  }
}

}  // namespace retrace
