// An event file of anybody's: its reader gives points that are in order, or says that the file is damaged. So that the
// fuzzer gets past the checksums, the input is a file (first byte even), or is framed with right sums (odd).

#include <stdlib.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#include "retrace/base/crc32c.h"
#include "retrace/base/error.h"
#include "retrace/report/event_series.h"

namespace {

using namespace retrace;

void put(std::string& bytes, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i & 255);
}

uint32_t masked(std::string_view bytes) { return std::rotr(crc32c(bytes), 15) + 0xa282ead8u; }

// Messages: a byte with the length, then so many bytes.
std::string framed(std::string_view input) {
  std::string file;
  while (!input.empty()) {
    const std::string_view message = input.substr(1, static_cast<unsigned char>(input[0]));
    input.remove_prefix(1 + message.size());
    std::string length;
    put(length, message.size(), 8);
    file += length;
    put(file, masked(length), 4);
    file += message;
    put(file, masked(message), 4);
  }
  return file;
}

std::filesystem::path folder() {
  static const std::string path = [] {
    std::string pattern =
        std::filesystem::is_directory("/dev/shm") ? "/dev/shm/retrace_fuzz_XXXXXX" : "/tmp/retrace_fuzz_XXXXXX";
    return std::string(::mkdtemp(pattern.data()));
  }();
  static const struct Removal {
    ~Removal() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  } removal;
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string file = data[0] & 1 ? framed(input) : std::string(input);
  const auto path = folder() / "events.out.tfevents.1.fuzz";
  const size_t cut = file.size() * (data[0] >> 1) / 128;
  std::ofstream(path, std::ios::binary) << file.substr(0, cut);
  const auto series = event_series(folder());
  series->refresh();
  std::ofstream(path, std::ios::binary | std::ios::app) << file.substr(cut);
  series->refresh();
  const double all = std::numeric_limits<double>::infinity();
  for (const auto& one : series->list()) {
    uint64_t points = 0;
    double last = -all;
    for (const auto& bucket : series->read(one.name, -all, all, 100)) {
      ensure(bucket.x_first >= last && bucket.x_last >= bucket.x_first, "points are in order");
      ensure(!(bucket.minimum > bucket.maximum) && bucket.points > 0, "extremes are extremes");
      last = bucket.x_last, points += bucket.points;
    }
    ensure(points == one.points, "every point is in a bucket");
  }
  return 0;
}
