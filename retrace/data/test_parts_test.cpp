// Shares for tests: by class, at random, and of CSV files.
#include "retrace/data/test_parts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

#include "retrace/data/array_store.h"
#include "retrace/data/csv_store.h"
#include "retrace/data/image_store.h"
#include "retrace/data/image_testing.h"
#include "retrace/data/random_stream.h"
#include "retrace/data/transform.h"
#include "tests/error_testing.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {

using Labels32 = std::vector<int32_t>;

// So many samples of class 0, 1, ..., one class after another.
Labels32 classes_of_sizes(const std::vector<int64_t>& sizes) {
  Labels32 classes;
  for (size_t i = 0; i < sizes.size(); ++i)
    classes.insert(classes.end(), static_cast<size_t>(sizes[i]), static_cast<int32_t>(i));
  return classes;
}

// How many of each class are put aside.
std::vector<int64_t> put_aside(const std::vector<int64_t>& sizes, double share) {
  const Labels32 classes = classes_of_sizes(sizes);
  const TestParts parts = draw_test_parts(std::ssize(classes), {.share = share, .classes = classes});
  std::vector<int64_t> counts(sizes.size());
  for (const int64_t i : parts.test) ++counts[static_cast<size_t>(classes[static_cast<size_t>(i)])];
  std::set<int64_t> all(parts.train.begin(), parts.train.end());
  all.insert(parts.test.begin(), parts.test.end());
  EXPECT_EQ(all.size(), classes.size()) << "each sample is in one part";
  EXPECT_EQ(parts.train.size() + parts.test.size(), classes.size());
  return counts;
}

using Counts = std::vector<int64_t>;

TEST(TestParts, EachClassGivesItsShareAndKeepsASample) {
  EXPECT_EQ(put_aside({50, 30, 20}, 0.2), (Counts{10, 6, 4}));
  EXPECT_EQ(put_aside({95, 5}, 0.2), (Counts{19, 1}));
  EXPECT_EQ(put_aside({196, 3, 1}, 0.1), (Counts{20, 0, 0})) << "the largest rest: 0.6";
  EXPECT_EQ(put_aside({2, 2}, 0.9), (Counts{1, 1})) << "one of each trains";
  EXPECT_EQ(put_aside({8, 1, 1}, 0.5), (Counts{4, 0, 0})) << "single samples train";
  EXPECT_EQ(put_aside({10}, 0.25), (Counts{3}));
  EXPECT_EQ(put_aside({3}, 0.01), (Counts{1}));
  // Rests of equal size: so many classes as there are samples to be put aside give one.
  const Counts pairs = put_aside(Counts(100, 2), 0.2);
  EXPECT_EQ(std::accumulate(pairs.begin(), pairs.end(), int64_t{0}), 40);
  EXPECT_EQ(*std::max_element(pairs.begin(), pairs.end()), 1);
  EXPECT_NE(std::accumulate(pairs.begin(), pairs.begin() + 40, int64_t{0}), 40) << "not the first classes";
}

// As data.test_share did before classes were looked at.
TEST(TestParts, WithoutClassesTheFirstOfARandomOrderArePutAside) {
  const TestParts parts = draw_test_parts(25, {.share = 0.2});
  std::vector<int64_t> order = random_order(25, 0, "store shuffle", 0);
  EXPECT_EQ(parts.test, std::vector<int64_t>(order.begin(), order.begin() + 5));
  EXPECT_EQ(parts.train, std::vector<int64_t>(order.begin() + 5, order.end()));
  EXPECT_EQ(draw_test_parts(25, {.share = 0.2}).test, parts.test);
  EXPECT_NE(draw_test_parts(25, {.share = 0.2, .seed = 1}).test, parts.test);
}

// Contract of the draw: these samples, on every machine.
TEST(TestParts, TheDrawIsTheSameEverywhere) {
  const Labels32 classes = classes_of_sizes({6, 4});
  const TestParts parts = draw_test_parts(10, {.share = 0.3, .classes = classes});
  EXPECT_EQ(parts.test, (std::vector<int64_t>{2, 1, 7}));
}

TEST(TestParts, ASampleOfEachCategoryStaysInTraining) {
  const std::vector<std::vector<int32_t>> categories{{0, 0, 0, 0, 0, 0, 0, 1, 2, 2}};
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const TestParts parts = draw_test_parts(10, {.share = 0.4, .seed = seed, .categories = categories});
    EXPECT_EQ(parts.test.size(), 4u);
    std::set<int32_t> left;
    for (const int64_t i : parts.train) left.insert(categories[0][static_cast<size_t>(i)]);
    EXPECT_EQ(left.size(), 3u) << seed;
  }
}

TEST(TestParts, RefusesWhatCannotBeCut) {
  EXPECT_EQ(error_of([] { draw_test_parts(1, {.share = 0.2}); }),
            "error[RT0402]: a share for tests (data.test_share) needs two samples at least\n  got:      1\n"
            "  help:     add samples, or give a test set in place of the share");
  EXPECT_EQ(
      error_of([] { put_aside({1, 1, 1}, 0.5); }),
      "error[RT0494]: no sample can be put aside for tests: each is the only one of its kind\n"
      "  got:      3 samples of 3 classes\n  expected: two samples of a class, and of each of their categories\n"
      "  help:     add samples; of a table learn another column (in a job data.target_columns), or leave out one that "
      "numbers the records (data.ignored_columns)");
}

Datastore numbered(const Labels32& classes) {
  std::vector<float> numbers(classes.size());
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const auto count = std::ssize(classes);
  return array_store({Tensor::from(numbers, {count, 1}, "BC"), Tensor::from(classes, {count}, "B")});
}

Labels32 labels_in(const Datastore& store) { return labels_of(store, 1).value(); }

TEST(SplitByClass, GivesBothParts) {
  const Datastore data = numbered(classes_of_sizes({40, 10}));
  const auto [train, test] = split_by_class(data, 0.2);
  const Labels32 tested = labels_in(test);
  EXPECT_EQ(std::count(tested.begin(), tested.end(), 0), 8);
  EXPECT_EQ(std::count(tested.begin(), tested.end(), 1), 2);
  EXPECT_EQ(train.size(), 40);
  EXPECT_NE(labels_in(split_by_class(data, 0.2, {.seed = 1}).first), labels_in(train));
  // The same, where the class has another place.
  const Datastore turned =
      transform(data, [](const Observation& one, TransformContext&) { return Observation{one[1], one[0]}; });
  EXPECT_EQ(labels_of(split_by_class(turned, 0.2, {.label = 0}).second, 0), tested);
  const auto [most, some] = split_at_random(data, 0.5);
  EXPECT_EQ(most.size(), 25);
  EXPECT_EQ(some.size(), 25);
}

// Files after the first are damaged.
TEST(SplitByClass, DecodesNoImage) {
  const ImageFolder folder;
  for (int n = 0; n < 8; ++n)
    folder.write(fmt::format("{}/{}.jpg", n < 4 ? "a" : "b", n),
                 n ? std::string("none") : jpeg_of(std::vector<uint8_t>(192, 9), 8, 8, 3));
  const ImageDatastore images = image_datastore(folder.path().string(), {.labels = LabelsFrom::folder_names});
  const auto [train, test] = split_by_class(images, 0.5);
  int64_t second = 0;
  for (int64_t i = 0; i < test.size(); ++i) second += test.source()->known_label(i, 1);
  EXPECT_EQ(test.size(), 4);
  EXPECT_EQ(second, 2);
}

TEST(SplitByClass, RefusesWhatIsNoShareAndNoClass) {
  const Datastore data = numbered(classes_of_sizes({4, 4}));
  const Place place{"train.cpp", 5};
  EXPECT_EQ(error_of([&] { split_by_class(data, 20, {}, place); }),
            "error[RT0493]: the share of the samples for tests is out of range\n  where:    train.cpp:5\n"
            "  got:      20\n  expected: above 0 and below 1, such as 0.2");
  EXPECT_EQ(error_of([&] { split_by_class(data, 0.2, {.label = 0}, place); }),
            "error[RT0495]: split_by_class: variable 0 is no class\n  where:    train.cpp:5\n"
            "  expected: a single number for each observation, i32 or u8\n"
            "  help:     say which variable is the class, as SplitOptions::label, or take split_at_random()");
  EXPECT_EQ(code_of([&] { split_by_class(data, 0.2, {.label = 2}); }), 495);
  EXPECT_EQ(code_of([&] { split_at_random(data, 0); }), 493);
}

// Categories and means are those of what trains.
TEST(SplitCsv, TakesCategoriesAndMeansFromTheTrainingPart) {
  const TemporaryFolder folder;
  const std::string file = (folder / "x.csv").string();
  std::string text = "size;city;kind\n";
  for (int i = 0; i < 40; ++i)
    text += (i % 5 == 0 ? "NA" : std::to_string(i)) +
            (i == 7  ? ";Ulm;"
             : i % 2 ? ";Rome;"
                     : ";Oslo;") +
            (i % 4 ? "a\n" : "b\n");
  std::ofstream(file) << text;
  const CsvStoreOptions options{
      .delimiter = ';', .missing = {"NA"}, .categorical = {"city"}, .empty_cells = EmptyCells::mean};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto [train, test] = split_csv(file, 0.2, options, seed);
    EXPECT_EQ(train.size(), 32);
    EXPECT_EQ(test.size(), 8);
    EXPECT_EQ(train.categories()[1], (std::vector<std::string>{"Oslo", "Rome", "Ulm"}));
    EXPECT_EQ(test.categories(), train.categories());
    EXPECT_EQ(test.means(), train.means());
    double sum = 0, ulm = 0;
    std::map<int32_t, int> classes;
    int count = 0;
    for (int64_t i = 0; i < test.size(); ++i) ++classes[test.get(i)[1].item<int32_t>()];
    for (int64_t i = 0; i < train.size(); ++i) {
      const auto features = train.get(i)[0].to_vector<float>();
      ulm += features[3];
      if (features[0] != train.means()[0]) sum += features[0], ++count;
    }
    EXPECT_EQ(classes[0], 6);
    EXPECT_EQ(classes[1], 2);
    EXPECT_EQ(ulm, 1) << "the only one trains";
    EXPECT_NEAR(sum / count, train.means()[0], 1e-4);
  }
  EXPECT_EQ(code_of([&] { split_csv(file, 1.5, options); }), 493);
  EXPECT_EQ(code_of([&] { csv_store(file, {.delimiter = ' '}); }), 496);
}

}  // namespace
}  // namespace retrace
