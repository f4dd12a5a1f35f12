#include "retrace/report/growing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "retrace/base/file.h"

namespace retrace {
namespace {
constexpr size_t kPiece = 1 << 20, kMark = 64, kLongestLine = 16 << 20;
}

bool GrowingFile::refresh(const Take& take, const std::function<void()>& anew) {
  struct stat status{};
  const auto look = [&] {
    return Look{status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size),
                static_cast<uint64_t>(status.st_mtim.tv_sec), static_cast<uint64_t>(status.st_mtim.tv_nsec)};
  };
  if (::stat(path_.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || look() == seen_) return false;
  const FileDescriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const Look now = look();
  const bool began = taken_ > 0, goes_on = is_continued(file.get(), now);
  if (!goes_on) rewind();
  if (began && !goes_on) anew();
  seen_ = now;
  return read_on(file.get(), now.size, take) || (began && !goes_on);
}

void GrowingFile::rewind() { seen_ = {}, taken_ = 0, mark_.clear(); }

bool GrowingFile::is_continued(int descriptor, const Look& now) const {
  if (taken_ == 0) return true;
  if (now.device != seen_.device || now.file != seen_.file || now.size < taken_) return false;
  std::string mark(mark_.size(), '\0');
  return read_exactly(descriptor, std::as_writable_bytes(std::span(mark)), taken_ - mark.size()) && mark == mark_;
}

bool GrowingFile::read_on(int descriptor, uint64_t size, const Take& take) {
  std::string bytes;
  const uint64_t before = taken_;
  for (uint64_t read = taken_; read < size;) {
    const size_t kept = bytes.size(), more = std::min<uint64_t>(kPiece, size - read);
    bytes.resize(kept + more);
    if (!read_exactly(descriptor, std::as_writable_bytes(std::span(bytes)).subspan(kept), read)) break;
    read += more;
    const size_t used = take(bytes);
    if (used == 0) continue;
    taken_ += used;
    mark_ = bytes.substr(used - std::min(used, kMark), std::min(used, kMark));
    bytes.erase(0, used);
  }
  return taken_ > before;
}

bool GrowingLines::refresh(const std::function<void(std::string_view line)>& take, const std::function<void()>& anew) {
  const auto lines = [&](std::string_view bytes) -> size_t {
    size_t begin = 0;
    for (size_t end; (end = bytes.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
      if (!skips_) take(bytes.substr(begin, end - begin));
      skips_ = false;
    }
    if (bytes.size() - begin <= kLongestLine) return begin;
    skips_ = true;
    return bytes.size();
  };
  return file_.refresh(lines, [&] {
    skips_ = false;
    anew();
  });
}

}  // namespace retrace
