#pragma once
// NVRTC, the compiler of CUDA source at run time; opened while the program runs.

#include <string>
#include <vector>

#include "retrace/base/shared_library.h"
#include "retrace/device/cuda/kernel_cache.h"

namespace retrace::cuda {

class Nvrtc {
 public:
  // Opens the file that RETRACE_NVRTC names, else the first that is found of libnvrtc.so.13, .12 and .so: by the
  // system's loader, in $CUDA_HOME/lib64, in /usr/local/cuda/lib64. Error(unavailable) if there is none.
  Nvrtc();

  std::string version() const;  // "13.0"

  struct Compiled {
    std::string image;     // for the driver
    std::string warnings;  // "" if there are none
  };
  // Compiles source that may include kernel_headers() by their paths, with arithmetic_flags(). `capability` is the
  // device's, 90 for 9.0: machine code for it, or for the nearest one that this NVRTC knows and whose code it runs; PTX
  // for devices of generations that it does not know. Error(internal) with the compiler's log, Error(unavailable) for a
  // device older than all it knows.
  Compiled compile(const std::string& source, int capability) const;
  // All that the result of compile() depends on.
  std::string key(const std::string& source, int capability) const;

 private:
  using Program = struct ProgramHandle*;
  std::string architecture_for(int capability) const;
  std::vector<std::string> options(int capability) const;
  void check(int result, const char* call) const;
  std::string text(Program program, int (*size)(Program, size_t*), int (*get)(Program, char*)) const;

  SharedLibrary library_;
  struct Functions {
    const char* (*error_text)(int);
    int (*version)(int*, int*);
    int (*architecture_count)(int*);
    int (*architectures)(int*);
    int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*);
    int (*destroy)(Program*);
    int (*compile)(Program, int, const char* const*);
    int (*log_size)(Program, size_t*);
    int (*log)(Program, char*);
    int (*code_size)(Program, size_t*);
    int (*code)(Program, char*);
    int (*ptx_size)(Program, size_t*);
    int (*ptx)(Program, char*);
  } functions_{};
};

// The image of compile(), from the cache if it is there.
std::string compile_once(const Nvrtc& nvrtc, const KernelCache& cache, const std::string& source, int capability);

}  // namespace retrace::cuda
