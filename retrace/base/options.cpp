#include "retrace/base/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "retrace/base/error.h"

namespace retrace {
namespace {

constexpr std::array<EnvironmentRow, 19> kTable = {{
    {EnvironmentVariable::simd, "RETRACE_SIMD", "avx512, avx2, neon, scalar", "the best of this machine",
     "instruction set of the CPU kernels; every one gives the same bits"},
    {EnvironmentVariable::threads, "RETRACE_THREADS", "1 to 256", "the cores that the process may use",
     "threads of the CPU kernels; every number gives the same bits"},
    {EnvironmentVariable::passes_off, "RETRACE_PASSES_OFF", "names of passes, separated by commas", "none",
     "planning passes to leave out; slower, the same bits"},
    {EnvironmentVariable::plan_cache, "RETRACE_PLAN_CACHE", "on, off", "on",
     "off: every evaluation plans anew; slower, the same bits"},
    {EnvironmentVariable::memory_limit, "RETRACE_MEMORY_LIMIT", "MiB, 1 to 1073741824", "none",
     "memory of a step's intermediates; values are computed again to stay under it; slower, the same bits"},
    {EnvironmentVariable::nvrtc, "RETRACE_NVRTC", "a file", "libnvrtc.so of the system or the CUDA toolkit",
     "the library that compiles fused CUDA kernels, such as libnvrtc.so.13"},
    {EnvironmentVariable::kernel_cache, "RETRACE_KERNEL_CACHE", "a folder, off", "retrace in the user's cache folder",
     "where compiled CUDA kernels are kept; off: they are compiled again by every process"},
    {EnvironmentVariable::cuda_emulation, "RETRACE_CUDA_EMULATION", "on, off, auto, a number from 2 to 8", "off",
     "on: tests and examples have a CUDA device that is emulated on the CPU, in place of real ones; a number: so many; "
     "auto: one where there is no real one"},
    {EnvironmentVariable::cuda_emulation_order, "RETRACE_CUDA_EMULATION_ORDER",
     "ascending, descending, a number from 0 to 2147483647", "ascending",
     "the order in which the emulated device runs threads, at random for a number; every order gives the same bits"},
    {EnvironmentVariable::cuda_driver, "RETRACE_CUDA_DRIVER", "a file", "libcuda.so.1",
     "the CUDA driver's library; for tests of retrace"},
    {EnvironmentVariable::mpi_module, "RETRACE_MPI_MODULE", "path of libretrace_mpi.so", "the one beside the program",
     "the part that moves bytes between ranks of mpirun or srun"},
    {EnvironmentVariable::exchange, "RETRACE_EXCHANGE", "auto, host, peer, nccl", "auto",
     "how workers on CUDA devices exchange what they add: over the host, by copies between devices, by NCCL; every way "
     "gives the same bits"},
    {EnvironmentVariable::nccl, "RETRACE_NCCL", "a file", "libnccl.so.2", "the library of NCCL"},
    {EnvironmentVariable::object_cache, "RETRACE_OBJECT_CACHE", "a folder, off", "retrace in the user's cache folder",
     "where objects of s3:// are kept that were read; off: they are read again by every process and in every epoch"},
    {EnvironmentVariable::object_cache_size, "RETRACE_OBJECT_CACHE_SIZE", "MiB, 1 to 1073741824", "16384",
     "how large that may become; what was not used for longest goes first"},
    {EnvironmentVariable::profiles, "RETRACE_PROFILES", "a file",
     "retrace/profiles.toml in the user's folder of settings",
     "cluster profiles, for --profile and Pool::from_profile"},
    {EnvironmentVariable::without_hosts, "RETRACE_WITHOUT_HOSTS", "names of hosts, separated by commas", "none",
     "hosts of cluster profiles that are left out: their profile has fewer workers; set by --restarts for lost hosts"},
    {EnvironmentVariable::launched, "RETRACE_LAUNCHED", "the name of a profile", "none",
     "set by retrace for the ranks that it has started; not for users"},
    {EnvironmentVariable::supervised, "RETRACE_SUPERVISED", "on, off", "off",
     "set by --restarts: ranks tell it on standard error where they are and whom they miss; not for users"},
}};

const EnvironmentRow& row_of(EnvironmentVariable variable) { return kTable[static_cast<size_t>(variable)]; }

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Error bad_value(EnvironmentVariable variable, std::string_view text) {
  const auto& row = row_of(variable);
  return Error(ErrorKind::usage, 401, fmt::format("{}: the value is not allowed", row.name))
      .where("environment")
      .got(fmt::format("\"{}\"", text.substr(0, 80)))
      .expected(std::string(row.values))
      .help(fmt::format("unset {} to get the default: {}", row.name, row.fallback));
}

}  // namespace

std::span<const EnvironmentRow> environment_table() { return kTable; }

std::string_view name_of(EnvironmentVariable variable) { return row_of(variable).name; }

std::string environment(EnvironmentVariable variable) { return foreign_environment(row_of(variable).name.data()); }

std::string foreign_environment(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

std::vector<std::string> environment_list(EnvironmentVariable variable) {
  const std::string text = environment(variable);
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const auto part = trim(std::string_view(text).substr(begin, end - begin));
    if (!part.empty()) parts.emplace_back(part);
    begin = end + 1;
  }
  return parts;
}

bool environment_switch(EnvironmentVariable variable, bool fallback) {
  const std::string text = environment(variable);
  const auto value = trim(text);
  if (value.empty()) return fallback;
  for (const char* yes : {"on", "1", "true", "yes"})
    if (value == yes) return true;
  for (const char* no : {"off", "0", "false", "no"})
    if (value == no) return false;
  throw bad_value(variable, text);
}

int environment_number(EnvironmentVariable variable, int low, int high, int fallback) {
  const std::string text = environment(variable);
  const auto value = trim(text);
  if (value.empty()) return fallback;
  int number = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failure != std::errc() || end != value.data() + value.size() || number < low || number > high)
    throw bad_value(variable, text);
  return number;
}

std::string cache_folder() {
  // The XDG specification ignores a path that is not absolute.
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder == '/') return folder;
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache" : "";
}

std::string cuda_home() {
  const char* folder = std::getenv("CUDA_HOME");
  return folder ? folder : "";
}

bool terminal_is_dumb() { return foreign_environment("TERM") == "dumb"; }

std::vector<std::string> unknown_environment_variables() {
  std::vector<std::string> unknown;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const auto name = text.substr(0, text.find('='));
    if (!name.starts_with("RETRACE_")) continue;
    if (std::none_of(kTable.begin(), kTable.end(), [&](const EnvironmentRow& row) { return row.name == name; }))
      unknown.emplace_back(name);
  }
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

}  // namespace retrace
