// Any bytes as a checkpoint are refused with Error(bad_data), or are a state whose own checkpoint reads back to the
// same. Once as a file, with its checksum, and once behind the checksum, which hardly any input would pass.

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "retrace/base/error.h"
#include "retrace/train/checkpoint.h"

namespace {

using namespace retrace;
namespace fs = std::filesystem;

RunState like() {
  const Tree parameters{{"linear_1", {{"bias", Tensor::zeros({1})}, {"weights", Tensor::zeros({1, 2})}}}};
  RunState state;
  state.now = {parameters, {{"batch_norm_1", Tensor::zeros({2})}}, {{"velocity", parameters}}};
  state.epoch_start = {parameters, state.now.state};
  return state;
}

const NamedValues kOwner{{"seed", "1"}, {"training.solver", "sgdm"}};

template <class F>
void expect_no_other_error(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_data) __builtin_trap();
  }
}

// A file of this process, removed at its end.
struct File {
  File() {
    const char* base = fs::is_directory("/dev/shm") ? "/dev/shm" : "/tmp";
    path = fs::path(base) / ("retrace_checkpoint_fuzz_" + std::to_string(::getpid()));
  }
  ~File() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  fs::path path;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const File file;
  static const RunState start = like();
  const std::string input(reinterpret_cast<const char*>(data), size);
  std::ofstream(file.path, std::ios::binary) << input;
  expect_no_other_error([] { checkpoint_state(read_checkpoint(file.path), start, kOwner, file.path); });
  expect_no_other_error([&] {
    const RunState state = checkpoint_state(input, start, kOwner, file.path);
    const auto content = checkpoint_content(to_tree(state), kOwner);
    write_checkpoint(file.path, content);
    try {
      const RunState again = checkpoint_state(read_checkpoint(file.path), start, kOwner, file.path);
      const auto same = checkpoint_content(to_tree(again), kOwner);
      if (same.metadata != content.metadata) __builtin_trap();  // with the fingerprint of each tensor
    } catch (const Error&) {
      __builtin_trap();
    }
  });
  return 0;
}
