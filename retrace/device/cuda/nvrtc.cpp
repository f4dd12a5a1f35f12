#include "retrace/device/cuda/nvrtc.h"

#include <fmt/format.h>

#include <algorithm>

#include "retrace/base/error.h"
#include "retrace/base/file.h"
#include "retrace/base/hash.h"
#include "retrace/base/joined.h"
#include "retrace/base/options.h"
#include "retrace/device/cuda/embedded.h"

namespace retrace::cuda {
namespace {

constexpr int kCompilationFailed = 6;  // NVRTC_ERROR_COMPILATION
constexpr size_t kLongestLog = 8000;

std::vector<std::string> candidates() {
  const std::string named = environment(EnvironmentVariable::nvrtc);
  if (!named.empty()) return {named};
  std::vector<std::string> folders = {""};
  if (!cuda_home().empty()) folders.push_back(cuda_home() + "/lib64/");
  folders.emplace_back("/usr/local/cuda/lib64/");
  std::vector<std::string> files;
  for (const auto& folder : folders)
    for (const char* file : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) files.push_back(folder + file);
  return files;
}

Error unusable(std::string reason) {
  return Error(ErrorKind::unavailable, 638, "cuda: NVRTC, which compiles fused kernels, cannot be used")
      .got(std::move(reason))
      .help("install the CUDA toolkit, or name the file in RETRACE_NVRTC (libnvrtc.so.13, also that of a pip package)");
}

template <class Function>
void find(const SharedLibrary& library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(library.find(symbol));
  if (!function) throw unusable(fmt::format("{} has no {}", library.file(), symbol));
}

const std::string& headers_hash() {
  static const std::string hash = [] {
    uint64_t state = 0;
    for (const auto& header : kernel_headers())
      state = hash_combine(hash_combine(state, hash_bytes(header.path)), hash_bytes(header.text));
    return fmt::format("{:016x}", state);
  }();
  return hash;
}

}  // namespace

Nvrtc::Nvrtc() : library_(candidates()) {
  if (!library_.open()) throw unusable(printable(library_.reason()));
  find(library_, "nvrtcGetErrorString", functions_.error_text);
  find(library_, "nvrtcVersion", functions_.version);
  find(library_, "nvrtcGetNumSupportedArchs", functions_.architecture_count);
  find(library_, "nvrtcGetSupportedArchs", functions_.architectures);
  find(library_, "nvrtcCreateProgram", functions_.create);
  find(library_, "nvrtcDestroyProgram", functions_.destroy);
  find(library_, "nvrtcCompileProgram", functions_.compile);
  find(library_, "nvrtcGetProgramLogSize", functions_.log_size);
  find(library_, "nvrtcGetProgramLog", functions_.log);
  find(library_, "nvrtcGetCUBINSize", functions_.code_size);
  find(library_, "nvrtcGetCUBIN", functions_.code);
  find(library_, "nvrtcGetPTXSize", functions_.ptx_size);
  find(library_, "nvrtcGetPTX", functions_.ptx);
}

void Nvrtc::check(int result, const char* call) const {
  if (result) throw unusable(fmt::format("{}: {}: {}", library_.file(), call, functions_.error_text(result)));
}

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  check(functions_.version(&major, &minor), "nvrtcVersion");
  return fmt::format("{}.{}", major, minor);
}

std::string Nvrtc::architecture_for(int capability) const {
  int count = 0;
  check(functions_.architecture_count(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> known(static_cast<size_t>(count));
  check(functions_.architectures(known.data()), "nvrtcGetSupportedArchs");
  std::erase_if(known, [&](int architecture) { return architecture > capability; });
  if (known.empty())
    throw unusable(fmt::format("{} {} makes no code for compute capability {}.{}", library_.file(), version(),
                               capability / 10, capability % 10));
  const int best = std::ranges::max(known);
  // Machine code runs on later devices of its own generation, PTX on all later ones.
  return fmt::format("{}_{}", best / 10 == capability / 10 ? "sm" : "compute", best);
}

std::vector<std::string> Nvrtc::options(int capability) const {
  std::vector<std::string> options = {"--gpu-architecture=" + architecture_for(capability), "-std=c++20",
                                      "-default-device"};
  for (const char* flag : arithmetic_flags()) options.emplace_back(flag);
  return options;
}

std::string Nvrtc::key(const std::string& source, int capability) const {
  return fmt::format("nvrtc {}\n{}\nheaders {}\n{}", version(), joined(options(capability), " "), headers_hash(),
                     source);
}

std::string Nvrtc::text(Program program, int (*size)(Program, size_t*), int (*get)(Program, char*)) const {
  size_t bytes = 0;
  check(size(program, &bytes), "reading a result");
  std::string result(bytes, '\0');
  check(get(program, result.data()), "reading a result");
  return result;
}

Nvrtc::Compiled Nvrtc::compile(const std::string& source, int capability) const {
  std::vector<const char*> texts, paths, flags;
  for (const auto& header : kernel_headers())
    texts.push_back(header.text.c_str()), paths.push_back(header.path.c_str());
  const auto chosen = options(capability);
  for (const auto& option : chosen) flags.push_back(option.c_str());

  struct Owner {
    const Functions& functions;
    Program program = nullptr;
    ~Owner() {
      if (program) functions.destroy(&program);
    }
  } owner{functions_};
  check(functions_.create(&owner.program, source.c_str(), "generated.cu", static_cast<int>(texts.size()), texts.data(),
                          paths.data()),
        "nvrtcCreateProgram");
  const int result = functions_.compile(owner.program, static_cast<int>(flags.size()), flags.data());
  std::string log = text(owner.program, functions_.log_size, functions_.log).c_str();
  if (result == kCompilationFailed)
    throw Error(ErrorKind::internal, 639, "cuda: a generated kernel does not compile")
        .where(fmt::format("NVRTC {}, {}", version(), chosen.front()))
        .got(log.substr(0, kLongestLog))
        .help("this is a defect of retrace: please report it with the job and this text");
  check(result, "nvrtcCompileProgram");
  const bool is_ptx = chosen.front().find("compute_") != std::string::npos;
  return {is_ptx ? text(owner.program, functions_.ptx_size, functions_.ptx)
                 : text(owner.program, functions_.code_size, functions_.code),
          std::move(log)};
}

std::string compile_once(const Nvrtc& nvrtc, const KernelCache& cache, const std::string& source, int capability) {
  const std::string key = nvrtc.key(source, capability);
  if (auto kept = cache.find(key)) return *std::move(kept);
  std::string image = nvrtc.compile(source, capability).image;
  cache.store(key, image);
  return image;
}

}  // namespace retrace::cuda
