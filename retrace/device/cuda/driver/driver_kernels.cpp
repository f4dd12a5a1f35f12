#include "retrace/device/cuda/driver/driver_kernels.h"

#include <fmt/format.h>

#include "retrace/base/error.h"
#include "retrace/device/cuda/kernel_cache.h"

namespace retrace::cuda {
namespace {

bool has_kernel(const KernelImage& image, std::string_view name) {
  const std::string_view names = image.kernels;
  for (size_t begin = 0, end; begin < names.size(); begin = end + 1) {
    end = names.find(' ', begin);
    if (names.substr(begin, end - begin) == name) return true;
  }
  return false;
}

}  // namespace

void DriverKernel::allow_shared(const Driver& driver, size_t bytes) const {
  if (bytes <= allowed_shared_) return;
  driver.cuFuncSetAttribute(function_, kMaxDynamicSharedBytes, static_cast<int>(bytes));
  allowed_shared_ = bytes;
}

DriverModule::DriverModule(std::shared_ptr<const DriverContext> context, const void* image)
    : context_(std::move(context)) {
  context_->driver().cuModuleLoadData(&module_, image);
}

DriverModule::~DriverModule() {
  context_->clean_up([&] {
    context_->driver().cuStreamSynchronize.result(context_->stream());
    context_->driver().cuModuleUnload.result(module_);
  });
}

const Kernel& DriverModule::find(std::string_view name) {
  if (const auto known = kernels_.find(name); known != kernels_.end()) return *known->second;
  std::string text(name);
  CUfunction function = nullptr;
  context_->driver().cuModuleGetFunction(&function, module_, text.c_str());
  int version = 0;
  context_->driver().cuFuncGetAttribute(&version, kPtxVersion, function);
  auto kernel = std::make_unique<DriverKernel>(text, function, version >= 90);
  return *kernels_.emplace(std::move(text), std::move(kernel)).first->second;
}

const Kernel& DriverKernels::find(std::string_view name) {
  if (const auto known = found_.find(name); known != found_.end()) return *known->second;
  if (images_.empty())
    throw Error(ErrorKind::unavailable, 636, "cuda: this build has no CUDA kernels: it was built without nvcc")
        .help("build retrace where nvcc is found (cmake -DRETRACE_CUDA=ON says what is missing)");
  for (const KernelImage& image : images_) {
    if (!has_kernel(image, name)) continue;
    auto& module = loaded_[&image];
    if (!module) module = std::make_unique<DriverModule>(context_, image.fat_binary().data());
    return *found_.emplace(name, &module->find(name)).first->second;
  }
  throw Error(ErrorKind::internal, 637, fmt::format("cuda: there is no kernel {}", name))
      .help("this is a defect of retrace: please report it with the job and this text");
}

std::shared_ptr<DriverModule> DriverKernels::compile(const std::string& source) {
  std::erase_if(compiled_, [](const auto& entry) { return entry.second.expired(); });
  if (const auto known = compiled_.find(source); known != compiled_.end())
    if (auto module = known->second.lock()) return module;
  if (!nvrtc_) nvrtc_ = std::make_unique<const Nvrtc>();
  auto module =
      std::make_shared<DriverModule>(context_, compile_once(*nvrtc_, KernelCache(), source, capability_).c_str());
  compiled_[source] = module;
  return module;
}

}  // namespace retrace::cuda
