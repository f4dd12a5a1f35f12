#pragma once
// Tensors and trees as values that workers exchange.

#include "retrace/distributed/worker.h"
#include "retrace/tensor/tree.h"

namespace retrace {

// A tensor is computed before it leaves its thread, and arrives on the CPU.
template <>
struct Portable<Tensor> {
  static std::string kind() { return "tensors"; }
  static std::string bytes(const Tensor& tensor);
  static Tensor value(const std::string& bytes);
  static Tensor add(const Tensor& a, const Tensor& b);
};

// Names, marks and tensors; a sum needs trees of one structure.
template <>
struct Portable<Tree> {
  static std::string kind() { return "trees"; }
  static std::string bytes(const Tree& tree);
  static Tree value(const std::string& bytes);
  static Tree add(const Tree& a, const Tree& b);
};

}  // namespace retrace
