#include "retrace/data/transform.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "retrace/data/array_store.h"
#include "retrace/data/mini_batch_queue.h"

namespace retrace {
namespace {

Datastore counting(int count, int first = 0) {
  std::vector<float> values(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) values[static_cast<size_t>(i)] = static_cast<float>(first + i);
  return array_store({Tensor::from(values, {count}, "B")});
}

// Adds a random number in [0, 1) to each.
Observation with_noise(const Observation& observation, TransformContext& context) {
  return {Tensor::scalar(observation[0].item<float>() + context.random.uniform())};
}

std::vector<float> numbers(const Datastore& store) {
  std::vector<float> all;
  for (const auto& observation : store.read_all()) all.push_back(observation[0].item<float>());
  return all;
}

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Transform, AppliesTheFunctionWhenRead) {
  int calls = 0;
  const Datastore store = transform(counting(4), [&](const Observation& observation, TransformContext& context) {
    ++calls;
    EXPECT_EQ(context.sample, static_cast<int64_t>(observation[0].item<float>()));
    return Observation{Tensor::scalar(2.0f * observation[0].item<float>())};
  });
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(store.get(3)[0].item<float>(), 6.0f);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(numbers(store), (std::vector<float>{0, 2, 4, 6}));
}

TEST(Transform, DrawsDependOnSampleAndNotOnOrder) {
  const Datastore plain = transform(counting(50), with_noise, {.seed = 7});
  auto in_order = numbers(plain);
  auto shuffled_after = numbers(plain.shuffle(3)),
       shuffled_before = numbers(transform(counting(50).shuffle(3), with_noise, {.seed = 7}));
  EXPECT_EQ(shuffled_after, shuffled_before);
  EXPECT_NE(shuffled_after, in_order);
  std::sort(shuffled_after.begin(), shuffled_after.end());
  EXPECT_EQ(shuffled_after, in_order);
  EXPECT_NE(in_order, numbers(transform(counting(50), with_noise, {.seed = 8})));
  EXPECT_NE(in_order[1] - 1.0f, in_order[2] - 2.0f);
}

TEST(Transform, DrawsAreNewInEachPass) {
  Datastore store = transform(counting(3), with_noise);
  const auto first = numbers(store);
  EXPECT_EQ(numbers(store), first);
  store.reset();
  EXPECT_NE(numbers(store), first);
}

TEST(Transform, DrawsDependOnNeitherMiniBatchSizeNorParts) {
  const Datastore store = transform(counting(12), with_noise, {.seed = 1});
  const auto collected = [](MiniBatchQueue queue) {
    std::vector<float> all;
    while (queue.has_data())
      for (float x : queue.next()[0].to_vector<float>()) all.push_back(x);
    return all;
  };
  const auto whole = collected(MiniBatchQueue(store, {.mini_batch_size = 12}));
  EXPECT_EQ(collected(MiniBatchQueue(store, {.mini_batch_size = 5})), whole);
  const MiniBatchQueue queue(store, {.mini_batch_size = 4});
  auto parts = collected(queue.partition(2, 0));
  for (float x : collected(queue.partition(2, 1))) parts.push_back(x);
  EXPECT_EQ(parts, whole);
}

TEST(Transform, DrawsAreNewInPartsMadeEachEpoch) {
  // Shuffling the parent and parting it again mixes across parts; augmentation must not start over with each part.
  MiniBatchQueue queue(transform(counting(12), with_noise));
  const auto first = queue.partition(2, 0).next()[0].to_vector<float>();
  queue.reset();
  EXPECT_NE(queue.partition(2, 0).next()[0].to_vector<float>(), first);
}

TEST(Transform, TwoOnEachOtherDrawDifferentNumbers) {
  const auto zero = [](const Observation&, TransformContext& context) {
    return Observation{Tensor::scalar(context.random.uniform())};
  };
  const Datastore one = transform(counting(4), zero), two = transform(one, zero);
  EXPECT_NE(numbers(one), numbers(two));
}

TEST(Transform, InputAndTargetCanBeTurnedAlike) {
  // One seed and depth in two stores: the same decision for image and target of a sample.
  const Datastore pairs = combine(
      {transform(counting(20), with_noise, {.seed = 5}), transform(counting(20, 100), with_noise, {.seed = 5})});
  for (const auto& pair : pairs.read_all()) EXPECT_NEAR(pair[0].item<float>() + 100.0f, pair[1].item<float>(), 1e-4);
}

TEST(Transform, AWrongNumberOfVariablesIsAnError) {
  const auto twice = [](const Observation& o, TransformContext&) { return Observation{o[0], o[0]}; };
  EXPECT_TRUE(
      says(message_of([&] { transform(counting(2), twice).read(); }), "returned 2 variables for observation 0"));
  EXPECT_EQ(transform(counting(2), twice, {.variables = 2}).read().size(), 2u);
  EXPECT_TRUE(says(message_of([&] { transform(counting(2), nullptr); }), "there is no function"));
}

TEST(Combine, PutsVariablesSideBySide) {
  const Datastore store = combine({counting(3), counting(3, 10), counting(3, 20)});
  EXPECT_EQ(store.variables(), 3);
  EXPECT_EQ(store.get(1)[2].item<float>(), 21.0f);
  const std::vector<int64_t> indices = {2, 0};
  const auto batch = store.source()->gather(indices, 0, 2);
  ASSERT_EQ(batch.size(), 2u);
  EXPECT_EQ(batch[1].to_vector<float>(), (std::vector<float>{12, 10}));
}

TEST(Combine, ShufflesAllStoresAlike) {
  const Datastore store = combine({counting(30), counting(30, 100)}).shuffle(4);
  for (const auto& pair : store.read_all()) EXPECT_EQ(pair[0].item<float>() + 100.0f, pair[1].item<float>());
}

TEST(Combine, OneAfterAnother) {
  const Datastore store = combine({counting(2), counting(0), counting(3, 10)}, CombineOrder::sequential);
  EXPECT_EQ(numbers(store), (std::vector<float>{0, 1, 10, 11, 12}));
}

TEST(Combine, UnequalStoresAreRefused) {
  const std::string text = message_of([] { combine({counting(3), counting(3), counting(4)}); });
  EXPECT_TRUE(says(text, "store 0 has 3 observations, store 2 has 4")) << text;
  const auto pair = combine({counting(3), counting(3)});
  EXPECT_TRUE(says(message_of([&] { combine({counting(3), pair}, CombineOrder::sequential); }), "store 1 has 2"));
  EXPECT_TRUE(says(message_of([] { combine({}); }), "no store was given"));
}

class Stream : public DataSource {
 public:
  int64_t size() const override { return 3; }
  int variables() const override { return 1; }
  Observation get(int64_t index, int64_t) const override { return {Tensor::scalar(static_cast<float>(index))}; }
  bool is_subsettable() const override { return false; }
};

TEST(Combine, CanDoWhatAllItsStoresCan) {
  const Datastore stream(std::make_shared<Stream>());
  EXPECT_FALSE(combine({counting(3), stream}).is_shuffleable());
  EXPECT_FALSE(combine({counting(3), stream}).is_partitionable());
  EXPECT_FALSE(transform(stream, with_noise).is_subsettable());
  EXPECT_TRUE(transform(combine({counting(3), counting(3)}), with_noise, {.variables = 1}).is_shuffleable());
}

}  // namespace
}  // namespace retrace
