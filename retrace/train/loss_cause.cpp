#include "retrace/train/loss_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "retrace/data/checked_source.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/train/full_batch_step.h"

namespace retrace {
namespace {

constexpr float kLarge = 100;  // networks learn badly from inputs or targets beyond this

// A number that is not finite.
struct Found {
  int64_t sample;
  size_t variable;
  float value;
  int64_t place;  // in the variable
};

// The variables of the task's data: the input, and the targets of its outputs.
class Look {
 public:
  explicit Look(const TrainingTask& task)
      : task_(task), largest_(task.data.formats.size()), shapes_(task.data.formats.size()) {}

  void at(const DataSource& source, int64_t index, int64_t pass) {
    const Observation one = checked_get(source, index, pass);
    bool bad = false;
    for (size_t v = 0; v < largest_.size(); ++v) {
      if (!is_float(one[v].type()) && !is_half(one[v].type())) continue;
      const std::vector<float> values = cast(one[v], DType::f32).to_vector<float>();
      bad |= !at(values, {source.sample(index), v, 0, 0}, counted(source, one[v], index, v));
      if (found_ && found_->variable == v && shapes_[v].rank() == 0) shapes_[v] = one[v].shape();
    }
    bad_ += bad;
    ++samples_;
  }

  LossCause cause(float rate) const { return found_ ? of_data() : of_step(rate); }

 private:
  // How many numbers of the variable are no padding.
  static int64_t counted(const DataSource& source, const Tensor& x, int64_t index, size_t variable) {
    const int64_t length = source.length(index);
    if (length < 0 || !source.has_length(static_cast<int>(variable)) || x.rank() == 0 || x.shape()[0] == 0)
      return x.size();
    return x.size() / x.shape()[0] * std::min(length, x.shape()[0]);
  }

  bool at(const std::vector<float>& values, Found where, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const float value = values[static_cast<size_t>(i)];
      if (!std::isfinite(value)) {
        where.value = value, where.place = i;
        if (!found_) found_ = where;
        return false;
      }
      largest_[where.variable] = std::max(largest_[where.variable], std::abs(value));
    }
    return true;
  }

  std::string name(size_t variable) const {
    const auto& targets = task_.data.targets;
    const auto output = static_cast<size_t>(std::ranges::find(targets, variable) - targets.begin());
    return variable == 0 || output == targets.size() ? "input"
                                                     : fmt::format("target \"{}\"", task_.network.outputs[output].name);
  }

  // "[3, 0]" of a place in an array; nothing for a single number.
  static std::string place_text(const Shape& shape, int64_t place) {
    std::string text;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      text = fmt::format("{}{}{}", place % shape[axis], text.empty() ? "" : ", ", text);
      place /= shape[axis];
    }
    return text.empty() ? text : fmt::format(" at [{}]", text);
  }

  LossCause of_data() const {
    const char* const what = std::isnan(found_->value) ? "NaN" : "an infinity";
    const std::string place = place_text(shapes_[found_->variable], found_->place);
    const std::string others =
        samples_ == 1 ? "" : fmt::format("; {} of the {} samples of that step have such numbers", bad_, samples_);
    return {fmt::format("sample {} of the training data has {} in its {}{}{}", found_->sample, what,
                        name(found_->variable), place, others),
            "take such samples out of the data, or put a number in place of what is missing"};
  }

  LossCause of_step(float rate) const {
    const bool all_data = takes_all_data(task_.training);
    LossCause cause{fmt::format("the data of that step are finite: weights or values have become too large{}",
                                all_data ? "" : fmt::format(" at the learning rate {:g}", rate)),
                    all_data ? "begin with smaller weights"
                             : "set a smaller training.initial_learn_rate, or training.gradient_threshold = 1, which "
                               "limits the gradients"};
    for (size_t v = 0; v < largest_.size(); ++v)
      if (largest_[v] > kLarge)
        cause.help += fmt::format("; scale the {}s, which reach {:.3g}", v == 0 ? "input" : "target", largest_[v]);
    return cause;
  }

  const TrainingTask& task_;
  std::vector<float> largest_;
  std::vector<Shape> shapes_;
  std::optional<Found> found_;
  int64_t bad_ = 0, samples_ = 0;
};

}  // namespace

LossCause cause_of_loss(const TrainingTask& task, const MiniBatchQueue& queue, int64_t first, int64_t end, float rate) {
  Look look(task);
  if (end <= first) first = 0, end = queue.size();
  for (const int64_t index : queue.observations(first, end))
    look.at(*queue.store().source(), index, queue.position().passes);
  return look.cause(rate);
}

}  // namespace retrace
