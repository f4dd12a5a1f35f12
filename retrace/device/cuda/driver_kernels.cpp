#include "retrace/device/cuda/driver_kernels.h"

#include <fmt/format.h>

#include "retrace/base/error.h"
#include "retrace/device/cuda/kernel_cache.h"

namespace retrace::cuda {

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

const Kernel* DriverModule::find(std::string_view name) {
  if (const auto known = kernels_.find(name); known != kernels_.end()) return known->second.get();
  std::string text(name);
  CUfunction function = nullptr;
  const CUresult failure = context_->driver().cuModuleGetFunction.result(&function, module_, text.c_str());
  if (failure == kErrorNotFound) return nullptr;
  if (failure) context_->driver().fail("cuModuleGetFunction", failure);
  auto kernel = std::make_unique<DriverKernel>(text, function);
  return kernels_.emplace(std::move(text), std::move(kernel)).first->second.get();
}

const Kernel& DriverKernels::find(std::string_view name) {
  if (const auto known = found_.find(name); known != found_.end()) return *known->second;
  if (images_.empty())
    throw Error(ErrorKind::unavailable, 636, "cuda: this build has no CUDA kernels: it was built without nvcc")
        .help("build retrace where nvcc is found (cmake -DRETRACE_CUDA=ON says what is missing)");
  for (size_t i = 0; i < images_.size(); ++i) {
    if (i == loaded_.size()) loaded_.push_back(std::make_unique<DriverModule>(context_, images_[i].bytes));
    if (const Kernel* kernel = loaded_[i]->find(name)) return *found_.emplace(name, kernel).first->second;
  }
  throw Error(ErrorKind::internal, 637, fmt::format("cuda: there is no kernel {}", name))
      .help("this is a defect of retrace: please report it with the job and this text");
}

std::vector<const Kernel*> DriverKernels::compile(const std::string& source, std::span<const std::string> names) {
  auto& module = compiled_[source];
  if (!module) {
    if (!nvrtc_) nvrtc_ = std::make_unique<const Nvrtc>();
    module =
        std::make_unique<DriverModule>(context_, compile_once(*nvrtc_, KernelCache(), source, capability_).c_str());
  }
  std::vector<const Kernel*> kernels;
  for (const auto& name : names) {
    kernels.push_back(module->find(name));
    ensure(kernels.back() != nullptr, "a compiled kernel has the name that was asked for");
  }
  return kernels;
}

}  // namespace retrace::cuda
