// The files of one run folder, all of them from the input: reading and comparing give results, or Errors that blame the
// data. The input is five times (two bytes, little-endian: the length of a file; the file).

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "retrace/base/error.h"
#include "retrace/nn/models.h"
#include "retrace/report/run_series.h"
#include "retrace/report/run_standing.h"
#include "retrace/train/compare.h"
#include "retrace/train/run_folder.h"
#include "retrace/train/weights.h"

namespace {

using namespace retrace;
namespace fs = std::filesystem;

constexpr const char* kNames[] = {"job.toml", "versions.json", "metrics.jsonl", "fingerprints.txt",
                                  "weights.safetensors"};

// A folder of this process, removed at its end.
struct Folder {
  Folder() {
    const char* base = fs::is_directory("/dev/shm") ? "/dev/shm" : "/tmp";
    std::string pattern = std::string(base) + "/retrace_fuzz_XXXXXX";
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

void write_files(const fs::path& folder, std::string_view input) {
  for (const char* name : kNames) {
    fs::remove(folder / name);
    if (input.size() < 2) continue;  // the folder lacks it
    const size_t length = static_cast<unsigned char>(input[0]) | size_t{static_cast<unsigned char>(input[1])} << 8;
    const std::string_view file = input.substr(2, length);
    std::ofstream(folder / name, std::ios::binary) << file;
    input.remove_prefix(2 + file.size());
  }
}

template <class F>
void expect_no_other_error(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_data && error.kind() != ErrorKind::missing) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  static const nn::Network network = models::digits(random_key(1), {.width = 1});
  const fs::path& run = folder.path;
  write_files(run, {reinterpret_cast<const char*>(data), size});
  expect_no_other_error([&] { read_run_job(run); });
  expect_no_other_error([&] { read_fingerprints(run); });
  expect_no_other_error([&] { read_log_lines(run / "metrics.jsonl"); });
  expect_no_other_error([&] { read_run_standing(run); });
  expect_no_other_error([&] {
    const auto series = run_series(run);
    series->refresh();
    for (const auto& one : series->list())
      if (series->read(one.name, one.x_first, one.x_last, 1)[0].points != one.points) __builtin_trap();
  });
  expect_no_other_error(
      [&] { from_safetensors(read_run_weights(run), {network.parameters, network.state}, "weights.safetensors"); });
  expect_no_other_error([&] {
    if (!compare_runs(run, run).equal) __builtin_trap();
  });
  return 0;
}
