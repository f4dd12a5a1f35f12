#pragma once
// Files: bounded reading, writing whole or not at all, and the one text for a path that does not exist.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "retrace/base/error.h"

namespace retrace {

// Error(missing) for a path that does not exist. It names the link that leads nowhere, or the file that stands where a
// folder is meant, or the nearest existing path: a similar name in the same folder, else the deepest folder that
// exists. `what` says what was expected there ("job file"); where it ends in "folder", folders are proposed, else
// files.
Error missing_path(const std::filesystem::path& path, std::string_view what);

// The bytes of a regular file of at most `limit` bytes, `what` as above. Errors: missing (see missing_path);
// bad_data for a folder, a device or a larger file; missing with the system's reason if it cannot be read.
std::string read_file(const std::filesystem::path& path, std::string_view what, uint64_t limit);
// The same of a file of any size, but at most its first `most` bytes.
std::string read_file_start(const std::filesystem::path& path, std::string_view what, uint64_t most);

// Writes the pieces one after another to `path`. Where nothing or a regular file stands, whole or not at all: a new
// file of a temporary name in the same folder, synced, renamed, folder synced. A link is followed, an existing file
// keeps its mode. On failure the old content (or absence) stays, the temporary file is removed, and Error(output) gives
// the system's reason (disk full, no permission). A pipe, a character device and what is standard output are written
// into. A folder or a block device is Error(output).
// With Lasting::process it is not synced: it outlives the process, but not the machine.
enum class Lasting { machine, process };
void write_file_whole(const std::filesystem::path& path, std::span<const std::string_view> pieces,
                      Lasting lasting = Lasting::machine);
void write_file_whole(const std::filesystem::path& path, std::string_view text);

// Whether `path` leads to what this process has as standard output.
bool is_standard_output(const std::filesystem::path& path);

// Refuses before the work what write_file_whole would refuse after it, and Error(usage) for an output that is one of
// `inputs`, under any name or link.
void check_output(const std::filesystem::path& output, std::span<const std::filesystem::path> inputs);

// The system's text for an errno value, independent of the locale.
std::string system_reason(int error_number);

// The bytes of the character at the start of a text that is not empty; 0 if they are no valid UTF-8.
size_t utf8_length(std::string_view text);

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
// Reads exactly bytes.size() bytes from `offset`; false, with errno set, if the file cannot be read, and with errno 0
// if it ends before.
bool read_exactly(int descriptor, std::span<std::byte> bytes, uint64_t offset);
// Error(missing) with the reason of `error_number`; 0: Error(bad_data), the file became shorter while it was read.
Error read_failed(const std::filesystem::path& path, std::string_view what, int error_number);
// Error(output) with the reason of `error_number`.
Error write_failed(const std::filesystem::path& path, int error_number);

}  // namespace retrace
