#include "retrace/tensor/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "retrace/base/hash.h"
#include "retrace/device/cuda/cuda_device.h"
#include "retrace/device/cuda/launches.h"
#include "retrace/tensor/fingerprint_cuda.h"

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

template <unsigned infinite>
uint64_t sum_halves(const Tensor& tensor) {
  return sum_bits<uint16_t>(tensor.data(), tensor.size(), [](uint16_t bits) {
    return static_cast<uint64_t>((bits & 0x7fffu) > infinite ? 0x7fc00000u : bits);
  });
}

uint64_t sum_on_host(const Tensor& tensor) {
  const void* data = tensor.data();
  const auto plain = [](auto bits) { return static_cast<uint64_t>(bits); };
  switch (tensor.type()) {
    case DType::f32:
      return sum_bits<uint32_t>(data, tensor.size(), [](uint32_t bits) {
        return static_cast<uint64_t>((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits);
      });
    case DType::f64:
      return sum_bits<uint64_t>(data, tensor.size(), [](uint64_t bits) {
        return (bits & ~(1ull << 63)) > 0x7ff0000000000000ull ? 0x7fc00000ull : bits;
      });
    case DType::i32: return sum_bits<uint32_t>(data, tensor.size(), plain);
    case DType::i64: return sum_bits<uint64_t>(data, tensor.size(), plain);
    case DType::bf16: return sum_halves<0x7f80>(tensor);
    case DType::f16: return sum_halves<0x7c00>(tensor);
    case DType::u8:
    case DType::boolean: break;
  }
  return sum_bits<uint8_t>(data, tensor.size(), plain);
}

template <class Word>
void add_launch(cuda::Launches& launches, std::string_view kernel, const Tensor& tensor, unsigned long long* sum) {
  constexpr unsigned kThreads = 256, kMostBlocks = 1024;
  constexpr int64_t kElements = 8;  // of a thread, at least
  if (tensor.size() == 0) return;
  const auto blocks = cuda::blocks_for((tensor.size() + kElements - 1) / kElements, kThreads);
  const FingerprintArguments<Word> arguments{tensor.value()->buffer->data(), sum,
                                             static_cast<unsigned long long>(tensor.size())};
  launches.add(kernel, {std::min(blocks.x, kMostBlocks)}, {kThreads}, arguments, kThreads * sizeof(unsigned long long));
}

void add_launch(cuda::Launches& launches, const Tensor& tensor, unsigned long long* sum) {
  switch (tensor.type()) {
    case DType::f32: return add_launch<unsigned>(launches, "fingerprint_f32", tensor, sum);
    case DType::f64: return add_launch<unsigned long long>(launches, "fingerprint_f64", tensor, sum);
    case DType::i32: return add_launch<unsigned>(launches, "fingerprint_i32", tensor, sum);
    case DType::i64: return add_launch<unsigned long long>(launches, "fingerprint_i64", tensor, sum);
    case DType::bf16: return add_launch<unsigned short>(launches, "fingerprint_bf16", tensor, sum);
    case DType::f16: return add_launch<unsigned short>(launches, "fingerprint_f16", tensor, sum);
    case DType::u8:
    case DType::boolean: break;
  }
  add_launch<unsigned char>(launches, "fingerprint_u8", tensor, sum);
}

// Adds to values[i] the sum of tensor i, of those that are on this CUDA device.
void add_sums(CudaDevice& device, std::span<const std::pair<std::string, Tensor>> named,
              std::vector<uint64_t>& values) {
  std::vector<unsigned long long> sums(named.size());
  const size_t bytes = sums.size() * sizeof(unsigned long long);
  const auto there = device.allocate(bytes);
  device.copy_from_host(*there, sums.data(), bytes);
  cuda::Launches launches(device.runtime());
  for (size_t i = 0; i < named.size(); ++i)
    if (named[i].second.spec().device == device.id())
      add_launch(launches, named[i].second, static_cast<unsigned long long*>(there->data()) + i);
  for (const auto& launch : launches.all()) device.runtime().launch(launch);
  device.copy_to_host(sums.data(), *there, bytes);
  for (size_t i = 0; i < named.size(); ++i) values[i] += sums[i];
}

uint64_t sum_tree(const Tree& tree, const std::string& prefix) {
  auto named = leaves(tree);
  for (auto& [path, tensor] : named) path = prefix + path;
  const auto values = fingerprint_values(named);
  return std::accumulate(values.begin(), values.end(), uint64_t{0});
}

}  // namespace

std::vector<uint64_t> fingerprint_values(std::span<const std::pair<std::string, Tensor>> named) {
  std::vector<uint64_t> values;
  std::set<DeviceId> devices;
  for (const auto& [name, tensor] : named) {
    evaluate(tensor);
    const DeviceId device = tensor.spec().device;
    values.push_back(hash_bytes(name) + hash_bytes(fmt::format("{}{}", name_of(tensor.type()), tensor.shape().text())));
    if (device == 0)
      values.back() += sum_on_host(tensor);
    else
      devices.insert(device);
  }
  for (DeviceId device : devices) add_sums(cuda_device(device - 1), named, values);
  return values;
}

uint64_t fingerprint_value(const std::string& name, const Tensor& tensor) {
  const std::pair<std::string, Tensor> named(name, tensor);
  return fingerprint_values(std::span(&named, 1))[0];
}

uint64_t renamed_fingerprint(uint64_t value, const std::string& from, const std::string& to) {
  return value - hash_bytes(from) + hash_bytes(to);
}

std::string fingerprint(const Tree& tree, const std::string& prefix) {
  return hexadecimal(mix64(sum_tree(tree, prefix)));
}

std::string fingerprint(const Tree& parameters, const Tree& state) {
  return hexadecimal(mix64(sum_tree(parameters, "parameters/") + sum_tree(state, "state/")));
}

std::string hexadecimal(uint64_t value) { return fmt::format("{:016x}", value); }

}  // namespace retrace
