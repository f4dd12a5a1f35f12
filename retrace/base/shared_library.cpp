#include "retrace/base/shared_library.h"

#include <dlfcn.h>

namespace retrace {

SharedLibrary::SharedLibrary(std::span<const std::string> files) {
  for (const auto& file : files) {
    handle_ = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_) {
      file_ = file;
      return;
    }
    const char* why = ::dlerror();
    reason_ += (reason_.empty() ? "" : "; ") + (why ? std::string(why) : file + ": cannot be opened");
  }
}

void* SharedLibrary::find(const char* symbol) const { return handle_ ? ::dlsym(handle_, symbol) : nullptr; }

}  // namespace retrace
