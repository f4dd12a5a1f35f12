#pragma once
// Programs of this machine that make pictures, run without a shell.

#include <string>
#include <vector>

#include "retrace/base/file.h"

namespace retrace {

// A file of its own in the system's folder for such, removed at the end. Error(output) if there can be none.
class TemporaryFile {
 public:
  explicit TemporaryFile(const char* suffix);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }
  int descriptor() const { return file_.get(); }

 private:
  std::string path_;
  FileDescriptor file_;
};

struct ProgramEnd {
  bool installed = true;
  int status = 0;       // exit status; 1 for one that a signal ended
  std::string message;  // the first line of what it wrote
};

// Runs the program words[0] with the other words, and waits for it. It has no input. Throws Error(output) if there can
// be no temporary file.
ProgramEnd run_program(std::vector<std::string> words);

}  // namespace retrace
