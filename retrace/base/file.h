#pragma once
// Files: bounded reading, writing whole or not at all, and the one text for a path that does not exist.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "retrace/base/error.h"

namespace retrace {

// Error(missing) for a path that does not exist. It names the nearest existing path: a similar name in the
// same folder, else the deepest folder that exists. `what` says what was expected there ("job file").
Error missing_path(const std::filesystem::path& path, std::string_view what);

// The bytes of a regular file of at most `limit` bytes, `what` as above. Errors: missing (see missing_path);
// bad_data for a folder, a device or a larger file; missing with the system's reason if it cannot be read.
std::string read_file(const std::filesystem::path& path, std::string_view what, uint64_t limit);

// Writes the pieces one after another to `path`, whole or not at all: a new file of a temporary name in the same
// folder, synced, renamed, folder synced. On failure `path` keeps its old content (or absence), the temporary
// file is removed, and Error(output) gives the system's reason (disk full, no permission).
void write_file_whole(const std::filesystem::path& path, std::span<const std::string_view> pieces);
void write_file_whole(const std::filesystem::path& path, std::string_view text);

// The system's text for an errno value, independent of the locale.
std::string system_reason(int error_number);

// A path or name as it may be shown on a terminal: control characters and broken UTF-8 become '?'.
std::string printable(std::string_view text);

// An owned file descriptor; -1 is none.
class FileDescriptor {
 public:
  explicit FileDescriptor(int value = -1) : value_(value) {}
  FileDescriptor(FileDescriptor&& other) noexcept : value_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();
  int get() const { return value_; }
  int release();

 private:
  int value_;
};

// Writes all bytes; false, with errno set, if the system refuses.
bool write_all(int descriptor, std::string_view bytes);
// Reads exactly bytes.size() bytes from `offset`; false if the file ends before or cannot be read.
bool read_exactly(int descriptor, std::span<std::byte> bytes, uint64_t offset);
// Error(output) with the reason of `error_number`.
Error write_failed(const std::filesystem::path& path, int error_number);

}  // namespace retrace
