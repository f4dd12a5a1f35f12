#include "retrace/data/test_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "retrace/data/random_stream.h"

namespace retrace {
namespace {

// What of a class is put aside.
struct DrawnClass {
  int64_t samples = 0, seats = 0, rest = 0;  // `rest`: of its share below one sample, in millionths
  bool has_room() const { return seats + 1 < samples; }
};

// Whole samples first; then one more for the classes whose shares have the largest rests, of equal ones those that come
// first in the draw, until all together have theirs.
void find_seats(std::vector<DrawnClass>& classes, double share, int64_t total) {
  constexpr int64_t kMillion = 1'000'000;
  std::vector<DrawnClass*> order;
  for (auto& one : classes) {
    const int64_t wanted =
        static_cast<int64_t>(share * static_cast<double>(one.samples) * static_cast<double>(kMillion) + 0.5);
    one.seats = std::min(wanted / kMillion, one.samples - 1), one.rest = wanted % kMillion;
    total -= one.seats;
    if (one.rest > 0 && one.has_room()) order.push_back(&one);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->rest > b->rest; });
  for (size_t i = 0; i < order.size() && total > 0; ++i, --total) ++order[i]->seats;
}

// The samples of a column of categories that still train.
class LeftCategories {
 public:
  explicit LeftCategories(const std::vector<int32_t>& numbers) : numbers_(numbers) {
    for (const int32_t number : numbers) ++left_[number];
  }
  bool may_go(size_t sample) const { return left_.at(numbers_[sample]) > 1; }
  void take(size_t sample) { --left_.at(numbers_[sample]); }

 private:
  const std::vector<int32_t>& numbers_;
  std::map<int32_t, int64_t> left_;
};

std::pair<Datastore, Datastore> parted(const Datastore& data, const TestDraw& draw, Place place) {
  const TestParts parts = draw_test_parts(data.size(), draw);
  return {data.subset(parts.train, place), data.subset(parts.test, place)};
}

}  // namespace

void check_test_share(double share, Place place) {
  if (share > 0 && share < 1) return;
  throw Error(ErrorKind::usage, 493, "the share of the samples for tests is out of range")
      .where(place)
      .got(fmt::format("{}", share))
      .expected("above 0 and below 1, such as 0.2");
}

int64_t test_samples_of(double share, int64_t samples) {
  return std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(samples) + 0.5), 1, samples - 1);
}

TestParts draw_test_parts(int64_t samples, const TestDraw& draw) {
  if (samples < 2)
    throw Error(ErrorKind::bad_data, 402, "a share for tests (data.test_share) needs two samples at least")
        .got(fmt::format("{}", samples))
        .help("add samples, or give a test set in place of the share");
  const std::vector<int64_t> order = random_order(samples, draw.seed, "store shuffle", 0);
  const auto class_of = [&](int64_t i) { return draw.classes.empty() ? 0 : draw.classes[static_cast<size_t>(i)]; };
  std::map<int32_t, size_t> places;
  std::vector<DrawnClass> classes;
  for (const int64_t i : order) {
    const auto [at, added] = places.emplace(class_of(i), classes.size());
    if (added) classes.emplace_back();
    ++classes[at->second].samples;
  }
  find_seats(classes, draw.share, test_samples_of(draw.share, samples));
  std::vector<LeftCategories> columns(draw.categories.begin(), draw.categories.end());
  TestParts parts;
  for (const int64_t i : order) {
    const auto sample = static_cast<size_t>(i);
    int64_t& seats = classes[places.at(class_of(i))].seats;
    const bool goes =
        seats > 0 && std::all_of(columns.begin(), columns.end(), [&](const auto& one) { return one.may_go(sample); });
    (goes ? parts.test : parts.train).push_back(i);
    if (!goes) continue;
    --seats;
    for (auto& one : columns) one.take(sample);
  }
  if (parts.test.empty())
    throw Error(ErrorKind::bad_data, 494, "no sample can be put aside for tests: each is the only one of its kind")
        .got(fmt::format("{} samples of {} classes", samples, classes.size()))
        .expected("two samples of a class, and of each of their categories")
        .help(
            "add samples; of a table learn another column (in a job data.target_columns), or leave out one that "
            "numbers the records (data.ignored_columns)");
  return parts;
}

std::optional<std::vector<int32_t>> labels_of(const Datastore& data, int variable) {
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < data.size(); ++i) {
    if (const int64_t known = data.source()->known_label(i, variable); known >= 0) {
      labels.push_back(static_cast<int32_t>(known));
      continue;
    }
    const Tensor label = data.get(i)[static_cast<size_t>(variable)];
    if (label.shape().count() != 1) return std::nullopt;
    if (label.type() == DType::i32)
      labels.push_back(label.item<int32_t>());
    else if (label.type() == DType::u8)
      labels.push_back(label.item<uint8_t>());
    else
      return std::nullopt;
  }
  return labels;
}

std::pair<Datastore, Datastore> split_at_random(const Datastore& data, double test_share, const SplitOptions& options,
                                                Place place) {
  check_test_share(test_share, place);
  return with_place(place, [&] { return parted(data, {.share = test_share, .seed = options.seed}, place); });
}

std::pair<Datastore, Datastore> split_by_class(const Datastore& data, double test_share, const SplitOptions& options,
                                               Place place) {
  check_test_share(test_share, place);
  return with_place(place, [&] {
    std::optional<std::vector<int32_t>> classes;
    if (options.label >= 0 && options.label < data.variables()) classes = labels_of(data, options.label);
    if (!classes)
      throw Error(ErrorKind::usage, 495, fmt::format("split_by_class: variable {} is no class", options.label))
          .expected("a single number for each observation, i32 or u8")
          .help("say which variable is the class, as SplitOptions::label, or take split_at_random()");
    return parted(data, {.share = test_share, .seed = options.seed, .classes = *classes}, place);
  });
}

}  // namespace retrace
