#include "retrace/tensor/fingerprint.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "retrace/base/hash.h"

namespace retrace {
namespace {

template <class Bits, class Canonical>
uint64_t sum_bits(const void* data, int64_t count, const Canonical& canonical) {
  uint64_t sum = 0;
  const char* at = static_cast<const char*>(data);
  for (int64_t i = 0; i < count; ++i, at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, at, sizeof(Bits));
    sum += mix64(static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15ull + canonical(bits));
  }
  return sum;
}

uint64_t sum_tree(const Tree& tree, const std::string& prefix) {
  uint64_t sum = 0;
  for (const auto& [path, tensor] : leaves(tree)) sum += fingerprint_value(prefix + path, tensor);
  return sum;
}

}  // namespace

uint64_t fingerprint_value(const std::string& name, const Tensor& tensor) {
  const std::string text = fmt::format("{}{}", name_of(tensor.type()), tensor.shape().text());
  const uint64_t head = hash_bytes(name) + hash_bytes(text);
  const void* data = tensor.data();
  const auto plain = [](auto bits) { return static_cast<uint64_t>(bits); };
  switch (tensor.type()) {
    case DType::f32:
      return head + sum_bits<uint32_t>(data, tensor.size(), [](uint32_t bits) {
               return static_cast<uint64_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits);
             });
    case DType::f64:
      return head + sum_bits<uint64_t>(data, tensor.size(), [](uint64_t bits) {
               return (bits & ~(1ull << 63)) > 0x7ff0000000000000ull ? 0x7fc00000ull : bits;
             });
    case DType::i32: return head + sum_bits<uint32_t>(data, tensor.size(), plain);
    case DType::u8:
    case DType::boolean: break;
  }
  return head + sum_bits<uint8_t>(data, tensor.size(), plain);
}

std::string fingerprint(const Tree& tree, const std::string& prefix) {
  return hexadecimal(mix64(sum_tree(tree, prefix)));
}

std::string fingerprint(const Tree& parameters, const Tree& state) {
  return hexadecimal(mix64(sum_tree(parameters, "parameters/") + sum_tree(state, "state/")));
}

std::string hexadecimal(uint64_t value) { return fmt::format("{:016x}", value); }

}  // namespace retrace
