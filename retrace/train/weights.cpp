#include "retrace/train/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>
#include <set>

#include "retrace/base/file.h"
#include "retrace/base/joined.h"
#include "retrace/tensor/fingerprint.h"
#include "retrace/train/number_format.h"

namespace retrace {
namespace {

constexpr size_t kMostNamed = 10;  // tensors in one message
constexpr const char* kFromACopy = "take the file from a copy of the run, or train anew";
constexpr std::string_view kFingerprint = "fingerprint ";

struct TypeName {
  DType type;
  const char* name;
};
constexpr TypeName kTypes[] = {{DType::f32, "F32"}, {DType::f64, "F64"},      {DType::i32, "I32"},
                               {DType::u8, "U8"},   {DType::boolean, "BOOL"}, {DType::bf16, "BF16"},
                               {DType::f16, "F16"}, {DType::i64, "I64"}};

std::optional<DType> type_of(const SafeTensor& tensor) {
  const auto* known =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& one) { return one.name == tensor.type; });
  return known == std::end(kTypes) ? std::nullopt : std::optional(known->type);
}

// None if no tensor of ours is such a one.
std::optional<TensorSpec> spec_of(const SafeTensor& tensor) {
  const auto type = type_of(tensor);
  if (!type || tensor.shape.size() > kMaxRank || tensor.bytes.empty()) return std::nullopt;
  return TensorSpec{*type, Shape(tensor.shape), {}, {}};
}

std::optional<uint64_t> fingerprint_of(const SafeTensor& tensor) {
  const auto spec = spec_of(tensor);
  if (!spec) return std::nullopt;
  return fingerprint_value(tensor.name, Tensor::from_bytes(tensor.bytes.data(), *spec));
}

// Texts of what is wrong with tensors, of which the first are told.
class Problems {
 public:
  void add(const std::string& name, const std::string& what) {
    if (++count_ <= kMostNamed)
      text_ += fmt::format("{}{} {}", count_ == 1 ? "" : "; ", printable(name.substr(0, 200)), what);
  }
  void throw_if_any(int code, std::string_view what, const std::string& path, const char* help) const {
    if (count_ == 0) return;
    const std::string more = count_ > kMostNamed ? fmt::format("; and {} more", count_ - kMostNamed) : "";
    throw Error(ErrorKind::bad_data, code, fmt::format("{}: {}{}", what, text_, more))
        .where(printable(path))
        .help(help);
  }

 private:
  std::string text_;
  size_t count_ = 0;
};

// Adds to `problems` and gives an empty tree if a leaf has no values.
Tree values_of(const SafeTensors& file, const Tree& like, Problems& problems) {
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : leaves(like)) {
    const SafeTensor* entry = file.find(name);
    TensorSpec spec = tensor.spec();
    spec.device = cpu_device().id();
    if (!entry)
      problems.add(name, "is missing");
    else if (entry->type != file_type(tensor.type()) ||
             !std::equal(entry->shape.begin(), entry->shape.end(), tensor.shape().begin(), tensor.shape().end()))
      problems.add(name, fmt::format("is {}[{}], not {}", entry->type, joined(entry->shape, ","), spec.text()));
    else
      tensors.push_back(Tensor::from_bytes(entry->bytes.data(), spec));
  }
  return tensors.size() == leaves(like).size() ? with_leaves(like, tensors) : Tree();
}

Tree tree_of(const NetworkWeights& weights) {
  return Tree{{"parameters", weights.parameters}, {"state", weights.state}};
}

}  // namespace

const char* file_type(DType type) {
  return std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& known) { return known.type == type; })
      ->name;
}

std::vector<std::pair<std::string, Tensor>> named_weights(const Tree& parameters, const Tree& state) {
  return leaves(tree_of({parameters, state}));
}

SafeTensors to_safetensors(const Tree& parameters, const Tree& state) {
  return to_safetensors(tree_of({parameters, state}));
}

Tensor tensor_of(const SafeTensor& tensor, const std::string& path) {
  const auto type = type_of(tensor);
  if (!type || tensor.shape.size() > kMaxRank)
    throw Error(ErrorKind::bad_data, 545,
                fmt::format("\"{}\": the tensor \"{}\" is {}[{}]", printable(path),
                            printable(tensor.name.substr(0, 200)), tensor.type, joined(tensor.shape, ",")))
        .expected(fmt::format("F32, F64, I32, U8 or BOOL with at most {} axes", kMaxRank));
  return Tensor::from_bytes(tensor.bytes.data(), {*type, Shape(tensor.shape), {}, {}});
}

SafeTensors to_safetensors(const Tree& tree) {
  SafeTensors file;
  for (const auto& [name, tensor] : leaves(tree)) {
    SafeTensor entry{
        name, file_type(tensor.type()), std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end()), {}};
    entry.bytes.resize(tensor.spec().bytes());
    if (!entry.bytes.empty()) std::memcpy(entry.bytes.data(), tensor.data(), entry.bytes.size());
    file.tensors.push_back(std::move(entry));
  }
  file.metadata["format"] = "retrace";
  add_fingerprints(file);
  return file;
}

void add_fingerprints(SafeTensors& file) {
  for (const auto& tensor : file.tensors)
    if (const auto value = fingerprint_of(tensor))
      file.metadata[std::string(kFingerprint) + tensor.name] = hexadecimal(*value);
}

void check_fingerprints(const SafeTensors& file, const std::map<std::string, uint64_t>& fingerprints,
                        const std::string& path) {
  Problems problems;
  std::set<std::string> seen;
  for (const auto& tensor : file.tensors) {
    const auto value = fingerprint_of(tensor);
    const auto found = fingerprints.find(tensor.name);
    seen.insert(tensor.name);
    if (found == fingerprints.end() ? value.has_value() : value != found->second)
      problems.add(tensor.name, found == fingerprints.end() ? "has no fingerprint" : "has not the written fingerprint");
  }
  for (const auto& [name, value] : fingerprints)
    if (!seen.count(name)) problems.add(name, "is missing");
  problems.throw_if_any(525, "the weights are damaged", path, kFromACopy);
}

bool check_fingerprints(const SafeTensors& file, const std::string& path) {
  std::map<std::string, uint64_t> fingerprints;
  for (const auto& [key, text] : file.metadata) {
    if (!key.starts_with(kFingerprint)) continue;
    uint64_t value = 0;
    const auto end = text.data() + text.size();
    if (text.size() != 16 || std::from_chars(text.data(), end, value, 16).ptr != end)
      throw Error(ErrorKind::bad_data, 525,
                  fmt::format("the weights are damaged: \"{}\" is no fingerprint of {}", printable(text.substr(0, 80)),
                              printable(key.substr(0, 200))))
          .where(printable(path))
          .help(kFromACopy);
    fingerprints[key.substr(kFingerprint.size())] = value;
  }
  if (!fingerprints.empty()) check_fingerprints(file, fingerprints, path);
  return !fingerprints.empty();
}

std::vector<std::string> not_finite(const SafeTensors& file) {
  std::vector<std::string> names;
  for (const auto& tensor : file.tensors) {
    const NumberFormat format = format_of(tensor.type);
    if (!format.floating) continue;
    const uint64_t count = tensor.bytes.size() / static_cast<uint64_t>(format.bytes);
    for (uint64_t i = 0; i < count; ++i)
      if (!is_finite(bits_at(tensor, i, format.bytes), format)) {
        names.push_back(tensor.name);
        break;
      }
  }
  return names;
}

NetworkWeights from_safetensors(const SafeTensors& file, const NetworkWeights& like, const std::string& path) {
  const Tree tree = from_safetensors(file, tree_of(like), path);
  Problems values;
  for (const auto& name : not_finite(file)) values.add(name, "holds a NaN or infinity");
  values.throw_if_any(526, "the weights are not finite", path,
                      "its training diverged: train anew with a smaller training.initial_learn_rate");
  return {tree["parameters"], tree["state"]};
}

Tree from_safetensors(const SafeTensors& file, const Tree& like, const std::string& path) {
  Problems problems;
  const Tree tree = values_of(file, like, problems);
  std::set<std::string> names;
  for (const auto& [name, tensor] : leaves(like)) names.insert(name);
  for (const auto& tensor : file.tensors)
    if (!names.count(tensor.name)) problems.add(tensor.name, "is none of this network");
  problems.throw_if_any(520, "the weights do not belong to this network", path,
                        "take them from a run of this network, or the job from the run of these weights");
  return tree;
}

}  // namespace retrace
