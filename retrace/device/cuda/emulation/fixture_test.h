#pragma once
// What the tests of the emulated device share.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "retrace/base/error.h"
#include "retrace/device/cuda/emulation/emulation.h"
#include "retrace/device/cuda/emulation/kernels_test.h"

namespace retrace::cuda::emulation {

// Launches of the kernels in kernels_test.cu on a device of its own, with all checks.
class Emulation : public testing::Test {
 protected:
  Emulation() { set_checks(true); }
  ~Emulation() override {
    set_order(Order::ascending);
    set_checks(true);
  }

  float* upload(const std::vector<float>& values) {
    auto* memory = static_cast<float*>(runtime_->allocate(values.size() * sizeof(float)));
    runtime_->copy_from_host(memory, values.data(), values.size() * sizeof(float));
    return memory;
  }
  template <class T>
  std::vector<T> download(const T* memory, size_t count) {
    std::vector<T> values(count);
    runtime_->copy_to_host(values.data(), memory, count * sizeof(T));
    return values;
  }
  unsigned* zeros(size_t count) {
    auto* memory = static_cast<unsigned*>(runtime_->allocate(count * sizeof(unsigned)));
    const std::vector<unsigned> values(count, 0u);
    runtime_->copy_from_host(memory, values.data(), count * sizeof(unsigned));
    return memory;
  }

  Launch make_launch(const char* kernel, unsigned blocks, unsigned threads, size_t shared_bytes, ProbeArguments a) {
    Launch launch{&runtime_->find_kernel(kernel), {blocks}, {threads}, shared_bytes, {}};
    launch.set(a);
    return launch;
  }
  void run(const char* kernel, unsigned blocks, unsigned threads, size_t shared_bytes, ProbeArguments a) {
    runtime_->launch(make_launch(kernel, blocks, threads, shared_bytes, a));
  }
  // The text of the error of the launch, "" if there is none.
  std::string error_of(const char* kernel, unsigned blocks, unsigned threads, size_t shared_bytes, ProbeArguments a) {
    try {
      run(kernel, blocks, threads, shared_bytes, a);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::internal);
      return error.what();
    }
    return "";
  }

  std::unique_ptr<Runtime> runtime_ = make_runtime();
};

// Numbers whose sum depends on the order.
inline std::vector<float> harmonic(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = 1.0f / static_cast<float>(i + 1);
  return values;
}

}  // namespace retrace::cuda::emulation
