#pragma once
// Layers as values: a convenience over the pure functions of retrace/ops. A layer holds no parameters. It can make
// their starting values for an input of some shape, and it can be applied to an input with given parameters and state:
//
//   nn::Sequential layers{nn::conv2d(5, 16, {.padding = rt::same}), nn::batch_norm(), nn::relu(), nn::linear(10)};
//   auto [parameters, state] = layers.initial({28, 28, 1}, rt::random_key(1));
//   auto [y, moments] = layers.forward(images, parameters, state, rt::Phase::train);
//
// Names: a layer with parameters has an entry in the tree, named by .named("conv2d_skip") or by its kind and a number
// that counts within the enclosing named layer ("conv2d_1", "batch_norm_1", "conv2d_2"). Containers add no level unless
// they are named.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "retrace/nn/initializers.h"
#include "retrace/ops/ops.h"
#include "retrace/tensor/tree.h"

namespace retrace {
class OptionValues;
}

namespace retrace::nn {

class Walk;
struct LayerMade;  // retrace/nn/layer_made.h

// Starting values of a layer.
struct Initial {
  Tree parameters, state;
};

// What a layer makes of an input.
struct Output {
  Tree y;        // a leaf, or a branch if the layer has several outputs
  Tree moments;  // of the batch norms, under their names; for update_statistics. Empty in inference
};

// What an input layer subtracts from its input and divides it by: y = (x - offset) / scale, with statistics of the
// training data.
enum class Normalization {
  none,               // y = x
  zerocenter,         // offset: the mean; scale: 1
  zscore,             // offset: the mean; scale: the standard deviation, sqrt(sum (x - mean)^2 / n)
  rescale_symmetric,  // to -1 ... 1. offset: (min + max) / 2; scale: (max - min) / 2
  rescale_zero_one,   // to 0 ... 1. offset: min; scale: max - min
};

// Which numbers share an offset and a scale.
enum class NormalizeBy {
  channel,  // those of a channel, the last axis of a sample
  element,  // those at one place of the samples
  all,      // all of them
};

// How samples of different lengths are filled up.
enum class Padded {
  no,   // they are not
  nan,  // with positions [features] of NaN: those whose first number is NaN do not count
};

// The statistics that a network wants of its inputs before the first step.
struct InputStatistics {
  std::string path;  // of the state entry that they fill: offset and scale
  Normalization normalization = Normalization::none;
  NormalizeBy by = NormalizeBy::channel;
  Padded padded = Padded::no;
};

// A layer, or layers put together. A value: copies are cheap, and it does not change.
class Layer {
 public:
  using Function = std::function<Tree(Walk& walk, const Tree& x)>;
  // A layer of its own: `function` makes y from x and from the parameters that it asks the walk for. The kind names its
  // entry; "" is for layers without parameters and for containers. `input`: the shape of one sample, if it is known.
  Layer(std::string kind, Function function, std::optional<Shape> input = {});
  // The same layer with that name.
  Layer named(std::string name) const;

  // Starting values for samples of that shape: [height,width,channels] or [features]. Each parameter is drawn with the
  // key split by its path ("conv2d_1/weights"). Throws Error(usage) if shapes do not fit, or a name stands twice.
  Initial initial(const Shape& sample, RandomKey key, Place place = Place::here()) const;
  // The same for layers that begin with image_input.
  Initial initial(RandomKey key, Place place = Place::here()) const;
  Output forward(const Tensor& x, const Tree& parameters, const Tree& state, Phase phase,
                 Place place = Place::here()) const;

  // The statistics that the first layer wants of samples of that shape; none if it normalises nothing. initial() gives
  // it offset 0 and scale 1, with_input_statistics() and the trainer those of the data. Errors: as initial().
  std::optional<InputStatistics> input_statistics(const Shape& sample, Place place = Place::here()) const;

  // For containers: applies this layer within a walk.
  Tree apply(Walk& walk, const Tree& x) const;
  const std::optional<Shape>& input() const { return input_; }
  // Whether its parameters have an entry of their own.
  bool has_entry() const { return !kind_.empty(); }
  // The same layer, which an analysis calls by that type: for layers without an entry.
  Layer shown_as(std::string type) const;
  const std::string& name() const { return name_; }
  // The same layer, of which job files say that it has its type and these options: for those of retrace/nn/layers.
  Layer with_options(const OptionValues& options) const;
  // The same layer, and what it was made of: for containers. null: a layer of a user's own, which no text can say.
  Layer with_made(std::shared_ptr<const LayerMade> made) const;
  const LayerMade* made_from() const { return made_.get(); }

 private:
  std::string kind_, name_, type_;
  Function function_;
  std::optional<Shape> input_;
  std::shared_ptr<const LayerMade> made_;
};

// One pass through layers, in order: either applying them, or finding out what parameters they need.
class Walk {
 public:
  struct Request {
    std::string path;
    Shape shape;
    Fans fans;
    Initializer initializer;
  };

  // A layer that is no container, in the order of the walk.
  struct Step {
    std::string type, path;
    Tree y;                 // what it made: specs without values
    size_t parameters = 0;  // the end of its own in parameters(); they begin where those of the step before it end
    size_t states = 0;      // the same in states()
  };

  Walk();  // finds out
  Walk(const Tree& parameters, const Tree& state, Phase phase);
  ~Walk();
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  Phase phase() const { return phase_; }
  // Parameter of the current layer: the given one, or a place-holder of that shape.
  Tensor parameter(const char* name, const Shape& shape, Fans fans, const Initializer& initializer);
  // State of the current layer under those names, with their starting values: the given one; empty while finding out.
  Tree state(const Shape& shape, std::initializer_list<std::pair<const char*, Initializer>> entries);
  void set_moments(const Tree& moments);
  // offset and scale of the current layer for its input x, which is that of the network; empty while finding out.
  // Error(usage) for another layer than the first one.
  Tree statistics(const Tensor& x, Normalization normalization, NormalizeBy by, Padded padded = Padded::no);

  // Which positions of the samples are none of theirs, but padding: bool [batch,length], false at padding. A layer that
  // knows it (embedding) says so once, and it holds for all layers behind it; of several masks the last one.
  void set_mask(const Tensor& mask) { mask_ = mask; }
  // The mask for x [batch,length,features]; undefined where there is none, and for an x of other axes or another
  // length.
  Tensor mask_of(const Tensor& x) const;
  // For layers that would mix padding with samples: Error(usage) that names the layer where x has a mask.
  void refuse_mask(const char* layer, const Tensor& x, Place place) const;

  // What a max_pool2d layer made of x, and how.
  struct Pool {
    Tensor y, x;
    Pair size = 1;
    MaxPool2dOptions options = {};
  };
  void keep_pool(Pool pool) { pools_.push_back(std::move(pool)); }
  // That which made y, for layers that ask where its maxima stood; null if no max_pool2d layer made it.
  const Pool* pool_of(const Tensor& y) const;

  const std::vector<Request>& parameters() const { return parameters_; }
  const std::vector<Request>& states() const { return states_; }
  const Tree& moments() const { return moments_; }
  // What statistics() was asked for, by a walk that finds out.
  const std::optional<InputStatistics>& wanted_statistics() const { return statistics_; }
  // Of a walk that finds out.
  const std::vector<Step>& steps() const { return steps_; }
  // The last layer has that name, though it has no entry.
  void name_step(const std::string& name);

  // An entry for what is between open() and close(): the name, or the kind and its number.
  void open(const std::string& kind, const std::string& name);
  void close();

 private:
  friend class Layer;
  struct Level;
  std::string path(const std::string& name) const;
  void note(const std::string& type, const Tree& y, bool has_level);

  Phase phase_;
  bool applies_ = false;
  std::vector<Level> levels_;
  std::vector<Request> parameters_, states_;
  std::vector<Step> steps_;
  std::vector<Pool> pools_;
  Tree moments_;
  std::optional<InputStatistics> statistics_;
  Tensor mask_;
};

// A batch of one such sample: f32, "BSSC" for images, "BC" for features, else without labels.
TensorSpec spec_of_sample(const Shape& sample);

// A layer without parameters; an analysis calls it by that type.
Layer layer_of(std::function<Tensor(const Tensor& x)> function, std::string type = "function");

// Layers one after another.
class Sequential : public Layer {
 public:
  Sequential(std::initializer_list<Layer> layers);
  explicit Sequential(std::vector<Layer> layers);
};

// The layers, `count` times; each time with parameters of their own.
Layer repeat(int64_t count, std::initializer_list<Layer> layers);
// main(x) + skip(x); without skip: main(x) + x. Layers in braces are one after another.
Layer residual(const Layer& main, const Layer& skip, Place place = Place::here());
Layer residual(const Layer& main, Place place = Place::here());
Layer residual(std::initializer_list<Layer> main, Place place = Place::here());
// Several outputs from one x: y[name] of each.
Layer parallel(std::vector<std::pair<std::string, Layer>> heads);

}  // namespace retrace::nn
