// Any bytes: the reader of tar archives gives members that lie within the archive, or Error(bad_data).

#include <cstdint>

#include "retrace/data/tar.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    const TarArchive archive(bytes, "input");
    const std::string* last = nullptr;
    for (const auto& entry : archive.entries()) {
      ensure(!last || *last < entry.name, "names are in the order of their bytes, and each is there once");
      last = &entry.name;
      ensure(!entry.name.empty() && entry.name.front() != '/' && entry.name.back() != '/', "names are paths");
      ensure(("/" + entry.name + "/").find("/../") == std::string::npos, "names stay within the archive");
      ensure(archive.read(entry).size() == entry.bytes, "the content is there");
      ensure(archive.read(entry, 3).size() == std::min<uint64_t>(entry.bytes, 3), "the start is there");
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_data) throw;
  }
  return 0;
}
