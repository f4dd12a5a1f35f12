// Any bytes are either refused with Error(bad_data) or read into tensors whose sizes fit.

#include "retrace/base/error.h"
#include "retrace/train/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  try {
    const auto content = parse_safetensors(std::as_bytes(std::span(data, size)), "fuzz");
    size_t total = 0;
    for (const auto& tensor : content.tensors) {
      uint64_t bytes = static_cast<uint64_t>(safetensors_type_size(tensor.type));
      for (const int64_t length : tensor.shape) bytes *= static_cast<uint64_t>(length);
      if (bytes != tensor.bytes.size()) __builtin_trap();
      total += tensor.bytes.size();
    }
    if (total > size) __builtin_trap();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_data) __builtin_trap();
  }
  return 0;
}
