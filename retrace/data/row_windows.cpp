#include "retrace/data/row_windows.h"

#include <algorithm>

#include "retrace/data/padded_samples.h"

namespace retrace {
namespace {

class RowWindows : public PaddedSamples {
 public:
  RowWindows(std::vector<float> values, WindowForm form, bool open, std::vector<std::string> files)
      : PaddedSamples(std::move(files)), values_(std::move(values)), form_(std::move(form)), open_(open) {}

  int64_t size() const override {
    const int64_t rows = std::ssize(values_) / form_.features;
    return open_ ? form_.open_windows(rows) : form_.windows(rows);
  }

 private:
  Tensor inputs(std::span<const int64_t> indices, bool stacked) const override {
    std::vector<float> made;
    made.reserve(indices.size() * static_cast<size_t>(form_.length * form_.features));
    for (const int64_t index : indices) {
      const auto first = values_.begin() + index * form_.features;
      made.insert(made.end(), first, first + form_.length * form_.features);
    }
    return stacked ? Tensor::from(made, {std::ssize(indices), form_.length, form_.features}, "BTC")
                   : Tensor::from(made, {form_.length, form_.features}, "TC");
  }

  Tensor targets(std::span<const int64_t> indices, bool stacked) const override {
    const int64_t width = form_.steps * std::ssize(form_.targets);
    std::vector<float> made;
    for (const int64_t index : indices)
      for (int64_t step = 0; step < form_.steps; ++step)
        for (const int64_t column : form_.targets) {
          const int64_t row = index + form_.length - 1 + form_.horizon + step;
          made.push_back(open_ ? 0 : values_[static_cast<size_t>(row * form_.features + column)]);
        }
    return stacked ? Tensor::from(made, {std::ssize(indices), width}, "BC") : Tensor::from(made, {width}, "C");
  }

  const std::vector<float> values_;
  const WindowForm form_;
  const bool open_;
};

}  // namespace

Datastore row_windows(std::vector<float> values, const WindowForm& form, bool open, std::vector<std::string> files) {
  return Datastore(std::make_shared<RowWindows>(std::move(values), form, open, std::move(files)), Place());
}

}  // namespace retrace
