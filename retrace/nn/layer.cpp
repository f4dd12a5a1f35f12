#include "retrace/nn/layer.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "retrace/nn/layer_made.h"
#include "retrace/nn/layers/add.h"
#include "retrace/trace/draw_scope.h"
#include "retrace/trace/record.h"

namespace retrace::nn {
namespace {

const Tree kEmpty;

// "BSSC" for images, "BC" for features; other samples have no labels.
std::string_view labels_of(const Shape& sample) { return sample.rank() == 3 ? "BSSC" : sample.rank() == 1 ? "BC" : ""; }

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

// What the layers ask for, given such samples.
void find_out(const Layer& layers, const Shape& sample, Walk& walk) {
  RecordingScope scope;                           // for the shapes: nothing of this is computed
  const DrawScope draws(random_key(0).tensor());  // of layers that draw in training
  layers.apply(walk, scope.recording().add_input(spec_of_sample(sample)));
}

std::shared_ptr<const LayerMade> made_of(LayerMade::Form form, std::vector<std::pair<std::string, Layer>> parts) {
  return std::make_shared<LayerMade>(LayerMade{.form = form, .parts = std::move(parts)});
}

Layer chain_of(std::vector<Layer> layers) {
  std::vector<std::pair<std::string, Layer>> parts;
  for (auto& layer : layers) parts.emplace_back("", std::move(layer));
  const auto made = made_of(LayerMade::Form::chain, std::move(parts));
  return Layer(
             "",
             [made](Walk& walk, const Tree& x) {
               Tree y = x;
               for (const auto& [name, layer] : made->parts) y = layer.apply(walk, y);
               return y;
             },
             made->parts.empty() ? std::nullopt : made->parts[0].second.input())
      .with_made(made);
}

// `numbered`: one of them was given no name.
Error named_twice(const std::string& path, bool numbered) {
  return Error(ErrorKind::usage, 192, fmt::format("two layers have the name \"{}\"", path))
      .got(numbered ? "a layer that was given the name, and one without a name, which is called by kind and number"
                    : "")
      .help("name one of them: .named(\"...\"), in a job file name = \"...\"");
}

// Of the offset and the scale of a batch of inputs.
Shape statistics_shape(const Shape& batch, NormalizeBy by) {
  if (by == NormalizeBy::all || batch.rank() < 2) return {};
  if (by == NormalizeBy::channel) return {batch.back()};
  return sample_shape(batch);
}

}  // namespace

TensorSpec spec_of_sample(const Shape& sample) {
  Shape shape{1};
  for (int64_t size : sample) shape.push_back(size);
  return {DType::f32, shape, Labels(labels_of(sample)), {}};
}

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
    find_out(*this, sample, walk);
    return {made(walk.parameters(), key), made(walk.states(), key)};
  });
}

std::optional<InputStatistics> Layer::input_statistics(const Shape& sample, Place place) const {
  return with_place(place, [&] {
    Walk walk;
    find_out(*this, sample, walk);
    return walk.wanted_statistics();
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

Layer Layer::shown_as(std::string type) const {
  Layer layer = *this;
  layer.type_ = std::move(type);
  return layer;
}

Layer Layer::with_options(const OptionValues& options) const {
  return with_made(std::make_shared<LayerMade>(
      LayerMade{.form = LayerMade::Form::kind, .type = kind_.empty() ? type_ : kind_, .options = options}));
}

Layer Layer::with_made(std::shared_ptr<const LayerMade> made) const {
  Layer layer = *this;
  layer.made_ = std::move(made);
  return layer;
}

Tree Layer::apply(Walk& walk, const Tree& x) const {
  const bool has_level = !kind_.empty() || !name_.empty();
  const size_t steps = walk.steps_.size();
  if (has_level) walk.open(kind_, name_);
  Tree y = function_(walk, x);
  // What is made of other layers is told by them.
  const std::string& type = kind_.empty() ? type_ : kind_;
  if (!walk.applies_ && !type.empty() && walk.steps_.size() == steps) walk.note(type, y, has_level);
  if (has_level) walk.close();
  return y;
}

struct Walk::Level {
  std::string name = {};
  const Tree* parameters = nullptr;
  const Tree* state = nullptr;
  std::map<std::string, int> counts = {};
  std::map<std::string, int> shown = {};  // of layers without an entry
  std::set<std::string> names = {};
  std::set<std::string> numbered = {};  // those that are a kind and a number
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
  if (name.empty()) outer.numbered.insert(entry);
  if (!outer.names.insert(entry).second) throw named_twice(path(entry), outer.numbered.count(entry) > 0);
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

void Walk::note(const std::string& type, const Tree& y, bool has_level) {
  std::string own;
  if (has_level)
    own = path("").substr(0, path("").size() - 1);
  else
    own = path(fmt::format("{}_{}", type, ++levels_.back().shown[type]));
  steps_.push_back({type, std::move(own), y, parameters_.size(), states_.size()});
}

void Walk::name_step(const std::string& name) {
  if (!steps_.empty()) steps_.back().path = path(name);
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

Tree Walk::statistics(const Tensor& x, Normalization normalization, NormalizeBy by, Padded padded) {
  if (!applies_) {
    const std::string entry = path("").substr(0, path("").size() - 1);
    if (!steps_.empty() || !parameters_.empty())
      throw Error(ErrorKind::usage, 376, fmt::format("layer \"{}\" normalises, and is not the first layer", entry))
          .expected("statistics of the training data, which are the input of the first layer alone")
          .help("put it before all other layers, or take its normalization away");
    statistics_ = InputStatistics{entry, normalization, by, padded};
  }
  const Tree own =
      state(statistics_shape(x.shape(), by), {{"offset", constant_values(0)}, {"scale", constant_values(1)}});
  for (const char* name : {"offset", "scale"})
    if (applies_ && !own.contains(name))
      throw Error(ErrorKind::usage, 377, fmt::format("the state has no entry \"{}\"", path(name)))
          .expected("state as made by initial() of the same layers");
  return own;
}

Tensor Walk::mask_of(const Tensor& x) const {
  return mask_.defined() && x.rank() == 3 && x.shape()[1] == mask_.shape()[1] ? mask_ : Tensor();
}

const Walk::Pool* Walk::pool_of(const Tensor& y) const {
  for (const Pool& pool : pools_)
    if (y.defined() && pool.y.value() == y.value()) return &pool;
  return nullptr;
}

void Walk::refuse_mask(const char* layer, const Tensor& x, Place place) const {
  if (!mask_of(x).defined()) return;
  throw Error(ErrorKind::usage, 248, fmt::format("{} would mix padding with the samples", layer))
      .where(place)
      .got(fmt::format("x {}, with padding that an embedding or a sequence_input found", x.spec().text()))
      .expected("layers that heed a mask: lstm, gru, rnn, self_attention, global pools, layers of each position")
      .help(
          "reduce the sequence before it: global_average_pool1d, global_max_pool1d, last of a recurrent layer; or "
          "leave "
          "padding_token out of the embedding, so that padding counts like other tokens");
}

Layer layer_of(std::function<Tensor(const Tensor& x)> function, std::string type) {
  const Layer layer("", [function = std::move(function)](Walk&, const Tree& x) { return Tree(function(x.tensor())); });
  return layer.shown_as(std::move(type));
}

Sequential::Sequential(std::initializer_list<Layer> layers) : Sequential(std::vector<Layer>(layers)) {}

Sequential::Sequential(std::vector<Layer> layers) : Layer(chain_of(std::move(layers))) {}

Layer repeat(int64_t count, std::initializer_list<Layer> layers) {
  std::vector<Layer> all;
  for (int i = 0; i < count; ++i) all.insert(all.end(), layers.begin(), layers.end());
  return Sequential(std::move(all));
}

Layer residual(const Layer& main, const Layer& skip, Place place) {
  const Layer sum = add(place);
  return Layer(
             "",
             [=](Walk& walk, const Tree& x) {
               Tree both;
               both["0"] = main.apply(walk, x);
               both["1"] = skip.apply(walk, x);
               return sum.apply(walk, both);
             },
             main.input())
      .with_made(made_of(LayerMade::Form::sum, {{"0", main}, {"1", skip}}));
}

Layer residual(const Layer& main, Place place) { return residual(main, Sequential{}, place); }

Layer residual(std::initializer_list<Layer> main, Place place) { return residual(Sequential(main), place); }

Layer parallel(std::vector<std::pair<std::string, Layer>> heads) {
  const auto made = made_of(LayerMade::Form::heads, std::move(heads));
  return Layer("",
               [made](Walk& walk, const Tree& x) {
                 Tree y;
                 for (const auto& [name, head] : made->parts) y[name] = head.apply(walk, x);
                 return y;
               })
      .with_made(made);
}

}  // namespace retrace::nn
