#pragma once
// The files of the page, which are embedded when retrace is built (cmake/web.cmake).

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace retrace {

struct PageFile {
  std::string_view path;  // "/page.js"
  std::string_view type;
  std::span<const std::byte> packed;  // retrace/device/cuda/packed.h

  std::string text() const;
};

// None where retrace was built without Boost or dygraphs.
std::span<const PageFile> page_files();

}  // namespace retrace
