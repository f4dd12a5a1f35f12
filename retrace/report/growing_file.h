#pragma once
// A file that another process appends to, read as it grows.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace retrace {

class GrowingFile {
 public:
  explicit GrowingFile(std::filesystem::path path) : path_(std::move(path)) {}

  // What is given `bytes` from where it stopped returns how many of them it has taken; the others come again, with
  // more.
  using Take = std::function<size_t(std::string_view bytes)>;
  // Gives what came since the last call to `take`. Where what was read is not there any more (the file was cut back, or
  // is another one), `anew` is called first, and the file is read from its beginning. True if anything was given or
  // `anew` was called. A file that is not there, cannot be read or is no regular one has nothing new. A file that was
  // cut back and grew again to other content is noticed by its last bytes before the place where reading stopped.
  bool refresh(const Take& take, const std::function<void()>& anew);

  // Forgets what was read: the next refresh() begins at the beginning, without `anew`.
  void rewind();
  const std::filesystem::path& path() const { return path_; }

 private:
  // What stat() says; equal ones: nothing has come.
  struct Look {
    uint64_t device = 0, file = 0, size = 0, seconds = 0, nanoseconds = 0;
    bool operator==(const Look&) const = default;
  };
  bool is_continued(int descriptor, const Look& now) const;
  bool read_on(int descriptor, uint64_t size, const Take& take);

  std::filesystem::path path_;
  Look seen_;
  uint64_t taken_ = 0;
  std::string mark_;  // the last bytes that were taken
};

// The same by complete lines, without '\n'. A line of more than 16 MiB is left out.
class GrowingLines {
 public:
  explicit GrowingLines(std::filesystem::path path) : file_(std::move(path)) {}
  bool refresh(const std::function<void(std::string_view line)>& take, const std::function<void()>& anew);

 private:
  GrowingFile file_;
  bool skips_ = false;  // what comes belongs to a line that is left out
};

}  // namespace retrace
