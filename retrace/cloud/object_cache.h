#pragma once
// Objects of object storage that were read, kept on the disk for later epochs, runs and other processes.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "retrace/base/error.h"

namespace retrace {

// Files in a folder, each an object with a checksum. Any number of processes may use one folder. What cannot be read or
// written there, or is damaged, counts as absent, after a warning at the first write that fails.
class ObjectCache {
 public:
  // With `folder` empty nothing is kept. Files of more than `most` bytes together: those go that were used the longest
  // time ago (to the hour).
  ObjectCache(std::string folder, uint64_t most);
  // That of RETRACE_OBJECT_CACHE and RETRACE_OBJECT_CACHE_SIZE, one for the process.
  static ObjectCache& shared();

  // `name` stands for one content for ever: bucket, key and tag.
  std::optional<std::string> find(const std::string& name) const;
  // Whether there is a file of it, which may be damaged.
  bool has(const std::string& name) const;
  void keep(const std::string& name, std::string_view bytes);
  void forget(const std::string& name);

 private:
  std::string path_of(const std::string& name) const;
  void make_room();

  const std::string folder_;
  const uint64_t most_;
  std::atomic<uint64_t> added_;  // bytes since the folder was measured
  std::atomic<bool> warned_{false};
};

}  // namespace retrace
