#include "retrace/train/weights.h"

#include <fmt/format.h>

#include <cstring>

namespace retrace {
namespace {

const char* file_type(DType type) {
  switch (type) {
    case DType::f32: return "F32";
    case DType::f64: return "F64";
    case DType::i32: return "I32";
    case DType::u8: return "U8";
    case DType::boolean: break;
  }
  return "BOOL";
}

}  // namespace

std::vector<std::pair<std::string, Tensor>> named_weights(const Tree& parameters, const Tree& state) {
  std::vector<std::pair<std::string, Tensor>> all;
  for (auto& [path, tensor] : leaves(parameters)) all.emplace_back("parameters/" + path, tensor);
  for (auto& [path, tensor] : leaves(state)) all.emplace_back("state/" + path, tensor);
  return all;
}

SafeTensors to_safetensors(const Tree& parameters, const Tree& state) {
  SafeTensors file;
  for (const auto& [name, tensor] : named_weights(parameters, state)) {
    SafeTensor entry{
        name, file_type(tensor.type()), std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end()), {}};
    entry.bytes.resize(tensor.spec().bytes());
    if (!entry.bytes.empty()) std::memcpy(entry.bytes.data(), tensor.data(), entry.bytes.size());
    file.tensors.push_back(std::move(entry));
  }
  file.metadata["format"] = "retrace";
  return file;
}

Tree from_safetensors(const SafeTensors& file, const Tree& like, const std::string& prefix, const std::string& path) {
  std::vector<Tensor> tensors;
  std::string problems;
  for (const auto& [name, tensor] : leaves(like)) {
    const SafeTensor* entry = file.find(prefix + name);
    if (!entry)
      problems += fmt::format("{}{}{} is missing", problems.empty() ? "" : "; ", prefix, name);
    else if (entry->type != file_type(tensor.type()) || !(Shape(entry->shape) == tensor.shape()))
      problems += fmt::format("{}{}{} is {}{}, not {}", problems.empty() ? "" : "; ", prefix, name, entry->type,
                              Shape(entry->shape).text(), tensor.spec().text());
    else
      tensors.push_back(Tensor::from_bytes(entry->bytes.data(), tensor.spec()));
  }
  if (!problems.empty())
    throw Error(ErrorKind::bad_data, 520, "the weights do not belong to this network: " + problems).where(path);
  return with_leaves(like, tensors);
}

}  // namespace retrace
