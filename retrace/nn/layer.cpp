#include "retrace/nn/layer.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "retrace/ops/add/add.h"
#include "retrace/trace/record.h"

namespace retrace::nn {
namespace {

const Tree kEmpty;

// "BSSC" for images, "BC" for features; other samples have no labels.
std::string_view labels_of(const Shape& sample) { return sample.rank() == 3 ? "BSSC" : sample.rank() == 1 ? "BC" : ""; }

TensorSpec one_sample(const Shape& sample) {
  Shape shape{1};
  for (int64_t size : sample) shape.push_back(size);
  return {DType::f32, shape, Labels(labels_of(sample)), {}};
}

Tree made(const std::vector<Walk::Request>& requests, RandomKey key) {
  Tree tree;
  for (const auto& request : requests) {
    Tree* at = &tree;
    for (std::string_view rest = request.path; !rest.empty();) {
      const size_t end = rest.find('/');
      at = &(*at)[rest.substr(0, end)];
      rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    }
    *at = request.initializer(request.shape, request.fans, key.split(request.path));
  }
  return tree;
}

}  // namespace

Layer::Layer(std::string kind, Function function, std::optional<Shape> input)
    : kind_(std::move(kind)), function_(std::move(function)), input_(std::move(input)) {}

Layer Layer::named(std::string name) const {
  if (name.empty() || name.find('/') != name.npos)
    throw Error(ErrorKind::usage, 190, fmt::format("\"{}\" cannot name a layer", name)).expected("some text without /");
  Layer layer = *this;
  layer.name_ = std::move(name);
  return layer;
}

Initial Layer::initial(const Shape& sample, RandomKey key, Place place) const {
  return with_place(place, [&]() -> Initial {
    Walk walk;
    {
      RecordingScope scope;  // for the shapes: nothing of this is computed
      apply(walk, scope.recording().add_input(one_sample(sample)));
    }
    return {made(walk.parameters(), key), made(walk.states(), key)};
  });
}

Initial Layer::initial(RandomKey key, Place place) const {
  if (!input_)
    throw Error(ErrorKind::usage, 191, "the layers do not say the shape of their input")
        .where(place)
        .help("begin with nn::image_input({height, width, channels}), or call initial(shape, key)");
  return initial(*input_, key, place);
}

Output Layer::forward(const Tensor& x, const Tree& parameters, const Tree& state, Phase phase, Place place) const {
  Walk walk(parameters, state, phase);
  Tree y = with_place(place, [&] { return apply(walk, x); });
  return {std::move(y), walk.moments()};
}

Tree Layer::apply(Walk& walk, const Tree& x) const {
  if (kind_.empty() && name_.empty()) return function_(walk, x);
  walk.open(kind_, name_);
  Tree y = function_(walk, x);
  walk.close();
  return y;
}

struct Walk::Level {
  std::string name = {};
  const Tree* parameters = nullptr;
  const Tree* state = nullptr;
  std::map<std::string, int> counts = {};
  std::set<std::string> names = {};
};

Walk::Walk() : phase_(Phase::train), levels_(1) {}
Walk::Walk(const Tree& parameters, const Tree& state, Phase phase) : phase_(phase), applies_(true), levels_(1) {
  levels_[0].parameters = &parameters;
  levels_[0].state = &state;
}
Walk::~Walk() = default;

void Walk::close() { levels_.pop_back(); }

void Walk::open(const std::string& kind, const std::string& name) {
  Level& outer = levels_.back();
  const std::string entry = name.empty() ? fmt::format("{}_{}", kind, ++outer.counts[kind]) : name;
  if (!outer.names.insert(entry).second)
    throw Error(ErrorKind::usage, 192, fmt::format("two layers have the name \"{}\"", path(entry)))
        .help("name one of them with .named(\"...\")");
  Level level{.name = entry, .parameters = &kEmpty, .state = &kEmpty};
  if (applies_) {
    // A layer without parameters or state has no entry; one that asks for them says what is missing.
    if (outer.parameters->contains(entry)) level.parameters = &(*outer.parameters)[entry];
    if (outer.state->contains(entry)) level.state = &(*outer.state)[entry];
  }
  levels_.push_back(std::move(level));
}

std::string Walk::path(const std::string& name) const {
  std::string text;
  for (size_t i = 1; i < levels_.size(); ++i) text += levels_[i].name + "/";
  return text + name;
}

Tensor Walk::parameter(const char* name, const Shape& shape, Fans fans, const Initializer& initializer) {
  if (!applies_) {
    parameters_.push_back({path(name), shape, fans, initializer});
    return current_recording()->add_input({DType::f32, shape, {}, {}});
  }
  const Tree& own = *levels_.back().parameters;
  if (own.contains(name)) return own[name].tensor();
  throw Error(ErrorKind::usage, 193, fmt::format("the parameters have no entry \"{}\"", path(name)))
      .expected("parameters as made by initial() of the same layers");
}

Tree Walk::state(const Shape& shape, std::initializer_list<std::pair<const char*, Initializer>> entries) {
  if (applies_) return *levels_.back().state;
  for (const auto& [name, initializer] : entries) states_.push_back({path(name), shape, {}, initializer});
  return {};
}

void Walk::set_moments(const Tree& moments) {
  Tree* at = &moments_;
  for (size_t i = 1; i < levels_.size(); ++i) at = &(*at)[levels_[i].name];
  *at = moments;
}

Layer layer_of(std::function<Tensor(const Tensor& x)> function) {
  return Layer("", [function = std::move(function)](Walk&, const Tree& x) { return Tree(function(x.tensor())); });
}

Sequential::Sequential(std::initializer_list<Layer> layers) : Sequential(std::vector<Layer>(layers)) {}

Sequential::Sequential(std::vector<Layer> layers)
    : Layer(
          "",
          [layers](Walk& walk, const Tree& x) {
            Tree y = x;
            for (const auto& layer : layers) y = layer.apply(walk, y);
            return y;
          },
          layers.empty() ? std::nullopt : layers[0].input()) {}

Layer repeat(int64_t count, std::initializer_list<Layer> layers) {
  std::vector<Layer> all;
  for (int i = 0; i < count; ++i) all.insert(all.end(), layers.begin(), layers.end());
  return Sequential(std::move(all));
}

Layer residual(const Layer& main, const Layer& skip, Place place) {
  return Layer(
      "",
      [=](Walk& walk, const Tree& x) {
        const Tree a = main.apply(walk, x), b = skip.apply(walk, x);
        return Tree(add(a.tensor(), b.tensor(), place));
      },
      main.input());
}

Layer residual(const Layer& main, Place place) {
  return residual(main, Layer("", [](Walk&, const Tree& x) { return x; }), place);
}

Layer parallel(std::vector<std::pair<std::string, Layer>> heads) {
  return Layer("", [heads = std::move(heads)](Walk& walk, const Tree& x) {
    Tree y;
    for (const auto& [name, head] : heads) y[name] = head.apply(walk, x);
    return y;
  });
}

}  // namespace retrace::nn
