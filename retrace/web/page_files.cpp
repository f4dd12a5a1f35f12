#include "retrace/web/page_files.h"

#include <utility>

#include "retrace/base/error.h"
#include "retrace/device/cuda/packed.h"

namespace retrace {

std::string PageFile::text() const {
  auto file = cuda::unpacked(packed);
  ensure(file.has_value(), "the files of the page are whole");
  return *std::move(file);
}

}  // namespace retrace
