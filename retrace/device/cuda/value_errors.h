#pragma once
// Errors in values that kernels find: an index that does not exist, an integer that is divided by zero. A kernel cannot
// throw; it reports (kernel.h), and the host throws where it has waited for the device. Until something is reported
// that costs a look at a word in the host's own memory.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "retrace/base/error.h"
#include "retrace/device/cuda/kernel_errors.h"
#include "retrace/device/cuda/runtime.h"

namespace retrace::cuda {

// The value errors of one device. Calls may come from any thread; the thread that asks first gets the error.
class ValueErrors {
 public:
  // The error of this value at this position.
  using Describe = std::function<Error(int64_t position, int32_t value)>;

  // Somebody whose kernels report, for as long as it lives. What they have reported at its end is kept.
  class Source {
   public:
    Source(ValueErrors& errors, Describe describe);
    ~Source();
    Source(const Source&) = delete;
    ErrorTarget target() const { return {errors_.record_, errors_.reported_, number_}; }

   private:
    ValueErrors& errors_;
    unsigned number_;
  };

  explicit ValueErrors(Runtime& runtime) : runtime_(runtime) {}

  // Call it when the device has done its work so far. Throws the error of the launch that has reported first since the
  // last call, if there is one: that of the lowest position, also where the launch was repeated since. What others
  // reported meanwhile is forgotten: it may follow from the first.
  void check();
  // For a look at what was reported up to a moment while the device goes on: what to copy to the host. No bytes: nobody
  // reports.
  DevicePart reported();
  // Throws as check() does if `seen`, a copy of that, holds a report.
  void check(const void* seen);

 private:
  struct Record {
    unsigned long long source = 0, found = ~0ull;
  };
  unsigned add(Describe describe);
  void remove(unsigned source);
  void collect();

  Runtime& runtime_;
  std::mutex mutex_;
  unsigned long long* record_ = nullptr;  // on the device
  unsigned* reported_ = nullptr;
  unsigned last_ = 0;
  std::map<unsigned, Describe> sources_;
  std::optional<Error> kept_;
};

}  // namespace retrace::cuda
