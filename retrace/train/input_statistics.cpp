#include "retrace/train/input_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "retrace/base/fp_environment.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/train/train_network.h"

namespace retrace {
namespace {

constexpr int64_t kChunk = 128;  // samples read at a time; changes no bit

void check_samples(const Tensor& batch, const Shape& sample, Place place) {
  if (batch.rank() == sample.rank() + 1 && sample_shape(batch.shape()) == sample) return;
  throw Error(ErrorKind::bad_data, 379, "the data have samples that the network does not read")
      .where(place)
      .got(fmt::format("samples of {}", sample_shape(batch.shape()).text()))
      .expected(fmt::format("samples of {}", sample.text()));
}

// The numbers of a sample that count: `width` of each position that is no padding.
std::span<const float> counted(std::span<const float> sample, int64_t width, nn::Padded padded,
                               std::vector<float>& kept) {
  if (padded == nn::Padded::no) return sample;
  kept.clear();
  const auto size = static_cast<size_t>(width);
  for (; size > 0 && sample.size() >= size; sample = sample.subspan(size))
    if (!std::isnan(sample[0])) kept.insert(kept.end(), sample.begin(), sample.begin() + width);
  return kept;
}

Error not_finite(int64_t index, nn::Padded padded, Place place) {
  const char* const layer = padded == nn::Padded::no ? "image_input" : "sequence_input";
  return Error(ErrorKind::bad_data, 380, fmt::format("the input of sample {} is not finite", index))
      .where(place)
      .expected(fmt::format("finite numbers, of which {} takes statistics", layer))
      .help(fmt::format("take the sample out of the data, or the normalization of {} away", layer));
}

// Of the first pass of a training, in the order of the store.
InputMoments moments_of(const Datastore& data, const Shape& sample, int64_t groups, nn::Padded padded, Place place) {
  InputMoments moments(groups);
  MiniBatchQueue queue(data, {.mini_batch_size = kChunk, .casts = {DType::f32}, .outputs = 1}, place);
  queue.reset();  // the pass of the first epoch: transforms draw as they do there
  int64_t index = 0;
  std::vector<float> kept;
  while (queue.has_data()) {
    const Tensor batch = queue.next<1>(place)[0];
    check_samples(batch, sample, place);
    const std::vector<float> values = batch.to_vector<float>();
    const auto size = static_cast<size_t>(sample.count());
    for (size_t first = 0; first + size <= values.size() && size > 0; first += size, ++index) {
      moments.add(counted(std::span(values).subspan(first, size), sample.back(), padded, kept));
      if (!moments.is_finite()) throw not_finite(index, padded, place);
    }
  }
  return moments;
}

}  // namespace

InputMoments::InputMoments(int64_t groups) : groups_(static_cast<size_t>(groups)), sample_(groups_.size()) {}

// The moments of docs/numerics.md 3 in binary64: n of all and of the sample are numbers of a group.
void InputMoments::merge(Group& all, const Group& sample, int64_t count) const {
  const auto n_a = static_cast<double>(count_), n_b = static_cast<double>(count);
  const double delta = sample.mean - all.mean, r = n_b / (n_a + n_b);
  all.mean = std::fma(delta, r, all.mean);
  all.m2 = (all.m2 + sample.m2) + (delta * delta) * (n_a * r);
  all.low = std::min(all.low, sample.low), all.high = std::max(all.high, sample.high);
}

void InputMoments::add(std::span<const float> sample) {
  const size_t count = groups_.size();
  const auto in_sample = static_cast<int64_t>(sample.size() / std::max<size_t>(count, 1));
  if (in_sample == 0) return;
  std::fill(sample_.begin(), sample_.end(), Group{.low = HUGE_VAL, .high = -HUGE_VAL});
  for (size_t first = 0; first < sample.size(); first += count)
    for (size_t g = 0; g < count; ++g) {
      const double x = sample[first + g];
      sample_[g].mean += x;
      sample_[g].low = std::min(sample_[g].low, x), sample_[g].high = std::max(sample_[g].high, x);
    }
  for (auto& group : sample_) group.mean /= static_cast<double>(in_sample);
  for (size_t first = 0; first < sample.size(); first += count)
    for (size_t g = 0; g < count; ++g) {
      const double d = sample[first + g] - sample_[g].mean;
      sample_[g].m2 += d * d;
    }
  for (size_t g = 0; g < count; ++g)
    if (count_ == 0)
      groups_[g] = sample_[g];
    else
      merge(groups_[g], sample_[g], in_sample);
  count_ += in_sample;
}

bool InputMoments::is_finite() const {
  return std::all_of(groups_.begin(), groups_.end(), [](const Group& group) { return std::isfinite(group.mean); });
}

double InputMoments::offset_of(const Group& group, nn::Normalization normalization) const {
  switch (normalization) {
    case nn::Normalization::zerocenter:
    case nn::Normalization::zscore: return group.mean;
    case nn::Normalization::rescale_symmetric: return (group.low + group.high) / 2;
    case nn::Normalization::rescale_zero_one: return group.low;
    default: return 0;
  }
}

double InputMoments::scale_of(const Group& group, nn::Normalization normalization) const {
  switch (normalization) {
    case nn::Normalization::zscore: return std::sqrt(group.m2 / static_cast<double>(count_));
    case nn::Normalization::rescale_symmetric: return (group.high - group.low) / 2;
    case nn::Normalization::rescale_zero_one: return group.high - group.low;
    default: return 1;
  }
}

std::vector<float> InputMoments::offset(nn::Normalization normalization) const {
  std::vector<float> numbers;
  for (const auto& group : groups_) numbers.push_back(static_cast<float>(offset_of(group, normalization)));
  return numbers;
}

std::vector<float> InputMoments::scale(nn::Normalization normalization) const {
  std::vector<float> numbers;
  for (const auto& group : groups_) {
    const auto scale = static_cast<float>(scale_of(group, normalization));
    numbers.push_back(scale < 0x1p-126f ? 1 : scale);
  }
  return numbers;
}

nn::Network with_input_statistics(nn::Network network, const Datastore& data, Place place) {
  const FloatingPointScope floating_point;
  const auto wanted = network.layers.input_statistics(network.sample, place);
  if (!wanted) return network;
  if (data.size() == 0)
    throw Error(ErrorKind::bad_data, 378, "there are no samples to take statistics of")
        .where(place)
        .expected("one sample at least");
  Tree* entry = &network.state;
  for (std::string_view rest = wanted->path; !rest.empty();) {
    const size_t end = rest.find('/');
    entry = &(*entry)[rest.substr(0, end)];
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  const Shape shape = (*entry)["offset"].tensor(place).shape();
  const InputMoments moments = moments_of(data, network.sample, shape.count(), wanted->padded, place);
  (*entry)["offset"] = Tensor::from(moments.offset(wanted->normalization), shape);
  (*entry)["scale"] = Tensor::from(moments.scale(wanted->normalization), shape);
  return network;
}

}  // namespace retrace
