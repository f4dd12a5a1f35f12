#pragma once
// Files that do not lie on the disk by themselves: members of an archive, objects of a bucket.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "retrace/data/datastore.h"

namespace retrace {

struct ContainedFile {
  enum class Kind { file, folder, hard_link, symbolic_link };
  std::string name;  // a path without '/' at its ends
  Kind kind = Kind::file;
  uint64_t bytes = 0;  // of its content
};

class FileContainer {
 public:
  virtual ~FileContainer() = default;
  virtual const std::string& name() const = 0;  // what stands before the names of its files
  virtual const std::string& kind() const = 0;  // "archive" or "bucket"
  virtual size_t size() const = 0;              // number of files
  virtual const ContainedFile& file(size_t i) const = 0;
  // The content, or its first `most` bytes. Safe from several threads. Errors: of reading.
  virtual std::string content(size_t i, uint64_t most) const = 0;
  // Says that the contents of these files are asked for next: where that takes waiting, it waits for all of them
  // together. No error; content() has them.
  virtual void prepare(std::span<const size_t> files) const { static_cast<void>(files); }
  // The file that file i is kept in: the archive, or the object.
  virtual SourceFile source(size_t i) const = 0;
};

}  // namespace retrace
