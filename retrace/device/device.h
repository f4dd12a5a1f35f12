#pragma once
// Where tensors live. A device offers memory and copies; ops bring kernels, plans bring order.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "retrace/base/place.h"

namespace retrace {

// Which device: 0 is the CPU, i + 1 the CUDA device i.
using DeviceId = int8_t;

// Owned bytes on a device, 64-byte aligned. Never shared with a plan's arena.
class Buffer {
 public:
  virtual ~Buffer() = default;
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 protected:
  Buffer(void* data, size_t bytes) : data_(data), bytes_(bytes) {}

 private:
  void* data_;
  size_t bytes_;
};

// A processor with its memory: the CPU, or a CUDA device. Devices live as long as the process.
class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceId id() const = 0;
  virtual std::string name() const = 0;  // "cpu", "cuda:0"
  virtual bool is_emulated() const { return false; }
  virtual std::shared_ptr<Buffer> allocate(size_t bytes) = 0;
  virtual void copy_from_host(Buffer& to, const void* from, size_t bytes) = 0;
  // Throws, as synchronize() does, the error of a value that a kernel could not compute with, where that was not thrown
  // at once: the first since the last such call.
  virtual void copy_to_host(void* to, const Buffer& from, size_t bytes) = 0;
  // Returns when all work given to the device is done.
  virtual void synchronize() = 0;
};

// Device 0.
Device& cpu_device();
// Error(unavailable) if there is none of that number.
Device& device_at(DeviceId id, Place place = Place::here());
// The CUDA devices that this process may use (CUDA_VISIBLE_DEVICES, RETRACE_CUDA_EMULATION), in order.
std::vector<Device*> gpus();

// The number of gpus().
int gpu_count();

// Whether there is one.
bool can_use_gpu();

// Why there is no CUDA device: "no CUDA driver (libcuda.so.1) on this machine".
std::string cuda_problem();
// "cpu", "cuda", "cuda:N", "cuda:N,M,..." or "auto" (the best there is); "gpu" is another word for "cuda". Where
// several CUDA devices are meant (all of them by "cuda" and "auto") the workers of a pool have them in turn: worker 0
// the first. Throws Error(unavailable) that says why if one is absent, Error(usage) for a malformed name or a negative
// worker.
Device& find_device(const std::string& name, int worker = 0, Place place = Place::here());
// How many CUDA devices the name means, for workers to have them in turn; 0: it means the CPU. Errors as find_device().
int gpu_count(const std::string& name);
// Whether find_device() can read it.
bool is_device_name(std::string_view name);

// A device as an argument: one by its name, as find_device() reads it for worker 0, or a Device.
//
//   x.to("cuda");  tree.to("cuda:1");  state.to(rt::find_device("cuda", worker.index()));
class DeviceRef {
 public:
  DeviceRef(Device& device) : device_(&device) {}
  // Errors as find_device().
  template <class Text>
    requires(std::is_convertible_v<const Text&, std::string_view>)
  DeviceRef(const Text& name, Place place = Place::here())
      : device_(&find_device(std::string(std::string_view(name)), 0, place)) {}
  operator Device&() const { return *device_; }
  Device* operator->() const { return device_; }

 private:
  Device* device_;
};

// One line of list_devices().
struct DeviceReport {
  std::string name;
  bool available = false;
  std::string detail;  // model, or why it is absent
};

// The CPU, and the CUDA devices or why there is none.
std::vector<DeviceReport> list_devices();

}  // namespace retrace
