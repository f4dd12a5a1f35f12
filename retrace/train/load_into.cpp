#include "retrace/train/load_into.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <span>

#include "retrace/base/file.h"
#include "retrace/base/fp_environment.h"
#include "retrace/base/joined.h"
#include "retrace/nn/networks.h"
#include "retrace/train/npz.h"
#include "retrace/train/save.h"
#include "retrace/train/weights.h"

namespace retrace {
namespace {

// What a framework calls our tensors, and how it lays out their axes.
struct Layout {
  std::string name;
  char separator;
  std::map<std::string_view, std::string> words;       // of ours
  std::map<size_t, std::vector<size_t>> weights_axes;  // by rank: axis k of ours is that one of theirs
  std::string ignored;                                 // tensors that end so mean nothing to us
};

const std::vector<Layout>& all_layouts() {
  static const std::vector<Layout> layouts{{"retrace", '/', {}, {}, ""},
                                           {"pytorch",
                                            '.',
                                            {{"weights", "weight"},
                                             {"scale", "weight"},
                                             {"offset", "bias"},
                                             {"mean", "running_mean"},
                                             {"variance", "running_var"}},
                                            {{4, {2, 3, 1, 0}}},
                                            ".num_batches_tracked"},
                                           {"keras",
                                            '/',
                                            {{"weights", "kernel"},
                                             {"scale", "gamma"},
                                             {"offset", "beta"},
                                             {"mean", "moving_mean"},
                                             {"variance", "moving_variance"}},
                                            {{2, {1, 0}}},
                                            ""}};
  return layouts;
}

const Layout& layout_of(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& layout : all_layouts()) {
    if (layout.name == name) return layout;
    names.push_back(layout.name);
  }
  const std::string near = nearest(name, names);
  throw Error(ErrorKind::usage, 660, fmt::format("load_into: there is no layout \"{}\"", printable(name)))
      .expected(joined(names, ", "))
      .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
}

// Whether `path` is `front` or below it.
bool is_below(std::string_view path, std::string_view front) {
  return path.starts_with(front) && (path.size() == front.size() || path[front.size()] == '/');
}

// The name that the file has for a tensor of ours.
std::string their_name(const std::string& path, const Layout& layout, const LoadOptions& options) {
  const std::pair<std::string, std::string>* best = nullptr;
  for (const auto& name : options.names)
    if (is_below(path, name.first) && (!best || name.first.size() > best->first.size())) best = &name;
  if (best && best->first == path) return best->second;
  std::string rest = best ? path.substr(best->first.size()) : "/" + path;
  const size_t leaf = rest.rfind('/') + 1;
  if (const auto word = layout.words.find(rest.substr(leaf)); word != layout.words.end())
    rest.replace(leaf, rest.size() - leaf, word->second);
  std::replace(rest.begin(), rest.end(), '/', layout.separator);
  return best ? best->second + rest : rest.substr(1);
}

// The axes of a tensor of ours in the file; none: its own.
std::vector<size_t> axes_of(const std::string& path, const Tensor& tensor, const Layout& layout) {
  const bool weights = path.substr(path.rfind('/') + 1) == "weights";
  const auto found = layout.weights_axes.find(static_cast<size_t>(tensor.rank()));
  return weights && found != layout.weights_axes.end() ? found->second : std::vector<size_t>();
}

// Axis k of the result is axis axes[k].
SafeTensor permuted(const SafeTensor& from, const std::vector<size_t>& axes) {
  if (axes.empty()) return from;
  SafeTensor made{from.name, from.type, {}, std::vector<std::byte>(from.bytes.size())};
  const auto item = static_cast<size_t>(safetensors_type_size(from.type));
  std::vector<size_t> strides(axes.size(), item), index(axes.size());
  for (size_t k = axes.size() - 1; k-- > 0;) strides[k] = strides[k + 1] * static_cast<size_t>(from.shape[k + 1]);
  for (const size_t axis : axes) made.shape.push_back(from.shape[axis]);
  for (size_t to = 0; to < made.bytes.size(); to += item) {
    size_t source = 0;
    for (size_t k = 0; k < axes.size(); ++k) source += index[k] * strides[axes[k]];
    std::memcpy(made.bytes.data() + to, from.bytes.data() + source, item);
    for (size_t k = axes.size(); k-- > 0 && ++index[k] == static_cast<size_t>(made.shape[k]);) index[k] = 0;
  }
  return made;
}

// `convert` makes an f32 of a T.
template <class T, class Convert>
SafeTensor f32_of(const SafeTensor& from, Convert convert) {
  const FloatingPointScope floating_point;
  const size_t count = from.bytes.size() / sizeof(T);
  SafeTensor made{from.name, "F32", from.shape, std::vector<std::byte>(count * sizeof(float))};
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from.bytes.data() + i * sizeof value, sizeof value);
    const float number = convert(value);
    std::memcpy(made.bytes.data() + i * sizeof number, &number, sizeof number);
  }
  return made;
}

// Floats of other widths as f32: those of 64 bits rounded, those of 16 exactly. All else stays as it is.
SafeTensor as_f32(const SafeTensor& from) {
  if (from.type == "F64") return f32_of<double>(from, [](double x) { return static_cast<float>(x); });
  if (from.type == "BF16") return f32_of<BFloat16>(from, [](BFloat16 x) { return to_f32(x); });
  if (from.type == "F16") return f32_of<Float16>(from, [](Float16 x) { return to_f32(x); });
  return from;
}

// Names, of which the first are told.
std::string list_of(const std::vector<std::string>& names) {
  constexpr size_t kMost = 10;
  std::string text = fmt::format("{}", joined(std::span(names).first(std::min(names.size(), kMost)), ", "));
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return text;
}

// Takes the tensors of a file into the trees of a network.
class Taking {
 public:
  Taking(const SafeTensors& file, const Layout& layout, const LoadOptions& options)
      : file_(file), layout_(layout), options_(options) {}

  size_t count() const { return used_.size(); }
  std::vector<std::string> kept() const { return kept_; }

  Tree take(const Tree& ours, const std::string& branch) {
    std::vector<Tensor> tensors;
    for (const auto& [path, tensor] : leaves(ours)) tensors.push_back(taken(path, tensor, branch));
    return with_leaves(ours, tensors);
  }

  void check(const std::string& network, const std::string& path) {
    std::vector<std::string> unexpected;
    for (const auto& tensor : file_.tensors) {
      const bool ignored = !layout_.ignored.empty() && tensor.name.ends_with(layout_.ignored);
      if (!used_.contains(tensor.name) && !others_.contains(tensor.name) && !ignored)
        unexpected.push_back(printable(tensor.name));
    }
    if (options_.partial && !used_.empty()) missing_.clear(), unexpected.clear();
    if (options_.other_shapes && !used_.empty()) shapes_.clear();
    misfits_.insert(misfits_.end(), shapes_.begin(), shapes_.end());
    std::vector<std::string> parts;
    if (!missing_.empty()) parts.push_back("missing are " + list_of(missing_));
    if (!unexpected.empty()) parts.push_back("unexpected are " + list_of(unexpected));
    if (!misfits_.empty()) parts.push_back(list_of(misfits_));
    if (parts.empty()) return;
    throw Error(ErrorKind::bad_data, 659,
                fmt::format("the tensors of \"{}\" do not fit network \"{}\": {}", printable(path), network,
                            joined(parts, "; ")))
        .help(
            "the option names says what the file calls a layer or tensor, layout whose names it has, and partial takes "
            "what is there");
  }

 private:
  const SafeTensor* find(const std::string& name, const std::string& branch) {
    const SafeTensor* found = file_.find(name);
    if (!found && layout_.name == "retrace") found = file_.find(branch + "/" + name);
    return found;
  }

  Tensor taken(const std::string& path, const Tensor& tensor, const std::string& branch) {
    const std::string name = their_name(path, layout_, options_);
    const SafeTensor* const found = find(name, branch);
    if (!found) {
      kept_.push_back(path);
      missing_.push_back(name == path ? name : fmt::format("{} (for {})", printable(name), path));
      return tensor;
    }
    const auto axes = axes_of(path, tensor, layout_);
    std::vector<int64_t> shape(tensor.shape().begin(), tensor.shape().end());
    for (size_t k = 0; k < axes.size(); ++k) shape[axes[k]] = tensor.shape()[static_cast<int>(k)];
    TensorSpec spec = tensor.spec();
    spec.device = cpu_device().id();
    const SafeTensor given = spec.type == DType::f32 ? as_f32(*found) : *found;
    if (given.type != file_type(spec.type) || given.shape != shape) {
      const bool other = options_.partial && options_.other_shapes && given.type == file_type(spec.type);
      kept_.push_back(path);
      other ? void(others_.insert(found->name)) : void(used_.insert(found->name));
      (other ? shapes_ : misfits_)
          .push_back(fmt::format("{} is {}[{}], not {}[{}] (for {})", printable(found->name), found->type,
                                 joined(found->shape, ","), file_type(spec.type), joined(shape, ","), path));
      return tensor;
    }
    used_.insert(found->name);
    const SafeTensor ready = permuted(given, axes);
    if (!not_finite({{ready}, {}}).empty()) misfits_.push_back(printable(found->name) + " holds a NaN or an infinity");
    return Tensor::from_bytes(ready.bytes.data(), spec);
  }

  const SafeTensors& file_;
  const Layout& layout_;
  const LoadOptions& options_;
  std::set<std::string> used_, others_;  // of the file: those that are taken, or do not fit; of another shape
  std::vector<std::string> missing_, misfits_, shapes_, kept_;
};

void check_names(const nn::Network& network, const LoadOptions& options) {
  std::vector<std::string> paths;
  for (const Tree* const tree : {&network.parameters, &network.state})
    for (const auto& leaf : leaves(*tree)) paths.push_back(leaf.first);
  for (const auto& name : options.names) {
    if (std::any_of(paths.begin(), paths.end(), [&](const auto& path) { return is_below(path, name.first); })) continue;
    std::vector<std::string> known = paths;
    for (const auto& path : paths)
      for (size_t end = path.find('/'); end != std::string::npos; end = path.find('/', end + 1))
        known.push_back(path.substr(0, end));
    const std::string near = nearest(name.first, known);
    throw Error(ErrorKind::usage, 661,
                fmt::format("load_into: network \"{}\" has no \"{}\"", network.name, printable(name.first)))
        .expected("a layer or tensor of the network, then its name in the file")
        .help(near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
  }
}

}  // namespace

LoadedNetwork load_parts_into(const nn::Network& network, const std::string& path, const LoadOptions& options) {
  const Layout& layout = layout_of(options.layout);
  check_names(network, options);
  const SafeTensors file = read_tensors(path);
  check_fingerprints(file, path);
  Taking taking(file, layout, options);
  LoadedNetwork loaded{network.to("cpu")};
  loaded.network.parameters = taking.take(loaded.network.parameters, "parameters");
  loaded.network.state = taking.take(loaded.network.state, "state");
  taking.check(network.name, path);
  loaded.taken = taking.count();
  loaded.kept = taking.kept();
  return loaded;
}

nn::Network load_into(const nn::Network& network, const std::string& path, const LoadOptions& options, Place place) {
  return with_place(place, [&] { return load_parts_into(network, path, options).network; });
}

}  // namespace retrace
