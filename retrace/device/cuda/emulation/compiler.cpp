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
#include <span>
#include <string_view>
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

// What every generated source includes: GCC reads it once, and then what it made of it ("precompiled header").
constexpr const char* kPrelude = "#include \"retrace/device/cuda/kernel.h\"\n";
const bool precompiles = std::string_view(RETRACE_KERNEL_COMPILER_VERSION).starts_with("GNU ");

std::string compiler() { return fs::exists(RETRACE_KERNEL_COMPILER) ? RETRACE_KERNEL_COMPILER : "c++"; }

std::vector<std::string> options() {
  std::vector<std::string> words = {"-std=c++20", optimized ? "-O1" : "-O0", "-ffp-contract=off", "-Wno-psabi",
                                    "-fPIC"};
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

std::string hash_of(const std::string& source, const char* end) {
  std::set<std::string> seen;
  std::string all = source + end + RETRACE_KERNEL_COMPILER_VERSION;
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

// A cache need not outlive the machine.
void write(const fs::path& path, std::string_view text) {
  write_file_whole(path, std::span(&text, 1), Lasting::process);
}

// Runs the compiler on a file of this text, and leaves at `made` what it makes, whole.
void compile(const std::string& text, const std::vector<std::string>& more, const fs::path& made) {
  const auto mine = [&](const char* ending) {
    return fs::path(fmt::format("{}.{}{}", made.string(), getpid(), ending));
  };
  const fs::path from = mine(".cpp"), to = mine(".made"), log = mine(".log");
  write(from, text);
  auto words = options();
  words.insert(words.begin(), compiler());
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"-o", to.string(), from.string()});
  const int status = run(words, log);
  const std::string said = fs::exists(log) ? read_file(log, "output of the compiler", 1 << 24) : "";
  fs::remove(from);
  fs::remove(log);
  if (status == -1 || status == 127)
    throw Error(ErrorKind::unavailable, 691, fmt::format("the compiler {} cannot be run", compiler()));
  if (status != 0)
    throw Error(ErrorKind::internal, 993, "a generated kernel does not compile").got(said.substr(0, 4000));
  fs::rename(to, made);
}

// The prelude in `folder`, where the compiler finds it read.
fs::path prelude_in(const fs::path& folder) {
  const fs::path header = folder / fmt::format("prelude-{}.h", hash_of(kPrelude, "")), read = header.string() + ".gch";
  if (!fs::exists(read)) {
    write(header, kPrelude);
    compile(kPrelude, {"-x", "c++-header"}, read);
  }
  return header;
}

void compile_library(const std::string& source, const fs::path& library, bool is_kept) {
  // Its functions are those of the program that loads it: no library has to be looked through.
  std::vector<std::string> words = {"-shared", "-nostdlib", "-pipe"};
  if (precompiles && is_kept) words.insert(words.end(), {"-include", prelude_in(library.parent_path()).string()});
  ++runs;
  compile(source + kEntry, words, library);
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
  const auto hash = hash_of(source, kEntry);
  if (const auto found = known.find(hash); found != known.end()) return found->second;
  const fs::path kept = folder_to_keep();
  const fs::path folder = kept.empty() ? fs::temp_directory_path() : kept;
  std::error_code failure;
  fs::create_directories(folder, failure);
  const auto library = folder / fmt::format("emulated-{}{}.so", hash, kept.empty() ? fmt::format("-{}", getpid()) : "");
  if (!fs::exists(library)) compile_library(source, library, !kept.empty());
  const auto* const kernels = load(library);
  if (kept.empty()) fs::remove(library);
  return known[hash] = kernels;
}

size_t compiler_runs() { return runs; }

void set_optimized(bool on) { optimized = on; }

}  // namespace retrace::cuda::emulation
