#pragma once
// Libraries that are opened while the program runs, so that it starts where they are absent.

#include <span>
#include <string>

namespace retrace {

// An opened library. It stays open until the process ends: what it started may still use it.
class SharedLibrary {
 public:
  // Opens the first of `files` that can be opened: paths, or names that the system's loader looks for. The library is
  // then open(); if none can be, reason() says why for each.
  explicit SharedLibrary(std::span<const std::string> files);

  bool open() const { return handle_ != nullptr; }
  const std::string& file() const { return file_; }
  const std::string& reason() const { return reason_; }
  // The address of a symbol, or null.
  void* find(const char* symbol) const;

 private:
  void* handle_ = nullptr;
  std::string file_, reason_;
};

}  // namespace retrace
