#pragma once
// Work of a CUDA device beside its one ordered stream: what travels between devices while the device computes.

#include <cstddef>
#include <memory>
#include <string>

#include "retrace/base/function_ref.h"

namespace retrace::cuda {

struct Launch;

// A point in the work of a device, which others can wait for. It may be used by any thread of the process.
class Mark {
 public:
  virtual ~Mark() = default;
  // Whether the work before it is done. Throws where the device has failed.
  virtual bool reached() const = 0;
};

// A second queue of a device: its work is in order, and is ordered with other work by marks alone. No call waits for a
// device. Calls may come from any thread.
class Lane {
 public:
  virtual ~Lane() = default;
  // The device's name among all devices of a machine, to tell whether two workers share one.
  virtual std::string device() const = 0;

  // The end of the work that the device's own stream, or this lane, was given so far.
  virtual std::shared_ptr<const Mark> mark_device() = 0;
  virtual std::shared_ptr<const Mark> mark() = 0;
  // Later work of this lane, or of the device's own stream, begins when the mark is reached. The mark may be one of
  // another device of this process.
  virtual void wait_for(const Mark& mark) = 0;
  virtual void hold_device(const Mark& mark) = 0;

  // Copies from memory of the device of `from`, a lane of this process.
  virtual void copy(void* to, const Lane& from, const void* memory, size_t bytes) = 0;
  virtual void launch(const Launch& launch) = 0;
  // Calls body with the CUDA stream of this lane, whose device is current meanwhile: for libraries that add work to it.
  // Null on an emulated device, whose work is done when a call returns.
  virtual void with_stream(FunctionRef<void(void* stream)> body) = 0;
};

}  // namespace retrace::cuda
