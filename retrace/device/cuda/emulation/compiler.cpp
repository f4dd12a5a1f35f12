#include "retrace/device/cuda/emulation/compiler.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/hash.h"
#include "retrace/base/options.h"
#include "retrace/device/cuda/emulation/emulation.h"

extern char** environ;

namespace retrace::cuda::emulation {
namespace {

namespace fs = std::filesystem;

std::atomic<size_t> runs = 0;
std::atomic<bool> optimized = true;

// Every library ends in this function: it gets the machine, and gives its kernels.
constexpr const char* kEntry = R"(
extern "C" __attribute__((visibility("default")))
const retrace::cuda::EmulatedKernel* retrace_emulated_kernels(retrace::cuda::Machine* machine) {
  retrace::cuda::emulated_machine = machine;
  return retrace::cuda::emulated_kernels;
}
)";

std::string compiler() { return fs::exists(RETRACE_KERNEL_COMPILER) ? RETRACE_KERNEL_COMPILER : "c++"; }

std::vector<std::string> options() {
  std::vector<std::string> words = {
      "-std=c++20", optimized ? "-O1" : "-O0", "-ffp-contract=off", "-Wno-psabi", "-shared", "-fPIC"};
  if constexpr (sizeof(RETRACE_EMULATION_FLAGS) > 1) words.emplace_back(RETRACE_EMULATION_FLAGS);
  words.insert(words.end(), {"-fvisibility=hidden", "-DRETRACE_CUDA_EMULATION", "-I" RETRACE_SOURCE_DIR});
  return words;
}

// The text of each header of ours that `text` includes, directly or not, in the order in which it comes up.
void append_headers(const std::string& text, std::set<std::string>& seen, std::string& all) {
  constexpr std::string_view kInclude = "#include \"";
  for (size_t at = text.find(kInclude); at != std::string::npos; at = text.find(kInclude, at + 1)) {
    const size_t begin = at + kInclude.size(), end = text.find('"', begin);
    const auto name = text.substr(begin, end - begin);
    const auto path = fs::path(RETRACE_SOURCE_DIR) / name;
    if (!seen.insert(name).second || !fs::exists(path)) continue;
    const auto header = read_file(path, "header", 1 << 24);
    all += header;
    append_headers(header, seen, all);
  }
}

// Empty: nothing is kept.
fs::path folder_to_keep() {
  const auto named = environment(EnvironmentVariable::kernel_cache);
  if (named == "off") return {};
  if (!named.empty()) return named;
  const auto folder = cache_folder();
  return folder.empty() ? fs::path() : fs::path(folder) / "retrace";
}

std::string hash_of(const std::string& source) {
  std::set<std::string> seen;
  std::string all = source + kEntry + RETRACE_KERNEL_COMPILER_VERSION;
  for (const auto& word : options()) all += word + '\n';
  append_headers(source, seen, all);
  return fmt::format("{:016x}{:016x}", hash_bytes(all), mix64(fnv1a(all, all.size())));
}

// Runs a program with its output in a file; its exit status, or -1 if it cannot be started.
int run(std::vector<std::string> words, const fs::path& output) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int failure = posix_spawnp(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failure || waitpid(child, &status, 0) < 0 || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

void compile_library(const std::string& source, const fs::path& library) {
  const auto mine = [&](const char* ending) {
    return fs::path(fmt::format("{}.{}{}", library.string(), getpid(), ending));
  };
  const fs::path text = mine(".cpp"), made = mine(".so"), log = mine(".log");
  write_file_whole(text, source + kEntry);
  auto words = options();
  words.insert(words.begin(), compiler());
  words.insert(words.end(), {"-o", made.string(), text.string()});
  ++runs;
  const int status = run(words, log);
  const std::string said = fs::exists(log) ? read_file(log, "output of the compiler", 1 << 24) : "";
  fs::remove(text);
  fs::remove(log);
  if (status == -1 || status == 127)
    throw Error(ErrorKind::unavailable, 691, fmt::format("the compiler {} cannot be run", compiler()));
  if (status != 0)
    throw Error(ErrorKind::internal, 993, "a generated kernel does not compile").got(said.substr(0, 4000));
  fs::rename(made, library);
}

const EmulatedKernel* load(const fs::path& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  using Entry = const EmulatedKernel* (*)(Machine*);
  const auto entry = handle ? reinterpret_cast<Entry>(dlsym(handle, "retrace_emulated_kernels")) : nullptr;
  if (!entry) throw Error(ErrorKind::internal, 994, "a library of kernels cannot be loaded").got(dlerror());
  return entry(emulated_machine);
}

}  // namespace

const EmulatedKernel* compile_kernels(const std::string& source) {
  static std::map<std::string, const EmulatedKernel*> known;
  const auto hash = hash_of(source);
  if (const auto found = known.find(hash); found != known.end()) return found->second;
  const fs::path kept = folder_to_keep();
  const fs::path folder = kept.empty() ? fs::temp_directory_path() : kept;
  std::error_code failure;
  fs::create_directories(folder, failure);
  const auto library = folder / fmt::format("emulated-{}{}.so", hash, kept.empty() ? fmt::format("-{}", getpid()) : "");
  if (!fs::exists(library)) compile_library(source, library);
  const auto* const kernels = load(library);
  if (kept.empty()) fs::remove(library);
  return known[hash] = kernels;
}

size_t compiler_runs() { return runs; }

void set_optimized(bool on) { optimized = on; }

}  // namespace retrace::cuda::emulation
