#pragma once
// An append-only text file of lines that a crash can tear only at its end.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/base/file.h"

namespace retrace {

class MetricsLog {
 public:
  // Opens or creates the file for appending. A torn last line of an earlier process is ended first. Errors: output.
  explicit MetricsLog(std::filesystem::path path);

  // Appends `line` (which holds no '\n') and '\n' with one system call, so that a reader sees whole lines.
  // Errors: output.
  void append(std::string_view line);
  // Returns when all lines are on the disk. Errors: output.
  void sync();

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

// The complete lines of such a file, of at most 1 GB, without '\n'; what follows the last '\n' is torn and left
// out. Errors: missing, bad_data.
std::vector<std::string> read_log_lines(const std::filesystem::path& path);

// Keeps the complete lines of such a file before the first one for which ends(line) is true. Nothing if there is no
// such file. Errors: as reading; output.
void cut_log(const std::filesystem::path& path, const std::function<bool(const std::string& line)>& ends);

}  // namespace retrace
