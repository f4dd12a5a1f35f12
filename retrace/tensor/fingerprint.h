#pragma once
// Fingerprints of tensors and sets of tensors (docs/numerics.md 9): equal bits, equal fingerprint. They find
// differences; they are no signatures.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "retrace/tensor/tree.h"

namespace retrace {

// h(tensor) = mix(name) + mix("f32[5,5,1,16]") + sum of mix64(i * 0x9E3779B97F4A7C15 + bits_i) mod 2^64. Evaluates. A
// CUDA device sums up its own tensors, and only the sums are copied here.
std::vector<uint64_t> fingerprint_values(std::span<const std::pair<std::string, Tensor>> named);

// The same of one tensor.
uint64_t fingerprint_value(const std::string& name, const Tensor& tensor);
// What fingerprint_value(to, tensor) is, out of value = fingerprint_value(from, tensor).
uint64_t renamed_fingerprint(uint64_t value, const std::string& from, const std::string& to);
// mix64 of the sum over the leaves, each named prefix + path; 16 hexadecimal digits.
std::string fingerprint(const Tree& tree, const std::string& prefix = "parameters/");
// The fingerprint of a run: parameters/... and state/....
std::string fingerprint(const Tree& parameters, const Tree& state);

// 16 hexadecimal digits.
std::string hexadecimal(uint64_t value);

}  // namespace retrace
