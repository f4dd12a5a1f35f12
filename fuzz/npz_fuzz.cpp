// Any bytes: the NPZ reader gives tensors that are full, or Error(bad_data).

#include <cstdint>

#include "retrace/base/error.h"
#include "retrace/train/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace retrace;
  try {
    const SafeTensors content = parse_npz({reinterpret_cast<const char*>(data), size}, "input");
    for (const auto& tensor : content.tensors) {
      auto bytes = static_cast<uint64_t>(safetensors_type_size(tensor.type));
      for (const int64_t length : tensor.shape) bytes *= static_cast<uint64_t>(length);
      ensure(bytes == tensor.bytes.size(), "the tensor is full");
      ensure(content.find(tensor.name) == &tensor, "each name is there once");
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_data) throw;
  }
  return 0;
}
