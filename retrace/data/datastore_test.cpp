#include "retrace/data/datastore.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "retrace/data/array_store.h"

namespace retrace {
namespace {

// Observation i is the number i.
Datastore counting(int count) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) values[static_cast<size_t>(i)] = i;
  return array_store({Tensor::from(values, {count}, "B")});
}

std::vector<int32_t> numbers(const Datastore& store) {
  std::vector<int32_t> all;
  for (const auto& observation : store.read_all()) all.push_back(observation[0].item<int32_t>());
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

bool datastore_says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Can only be read from the start to the end.
class Stream : public DataSource {
 public:
  int64_t size() const override { return 5; }
  int variables() const override { return 1; }
  Observation get(int64_t index, int64_t) const override {
    EXPECT_EQ(index, next_);
    next_ = (next_ + 1) % size();
    return {Tensor::scalar(static_cast<int32_t>(index))};
  }
  bool is_subsettable() const override { return false; }

 private:
  mutable int64_t next_ = 0;
};

TEST(Datastore, ReadsToTheEndAndAgain) {
  Datastore store = counting(3);
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(store.has_data());
      EXPECT_EQ(store.read()[0].item<int32_t>(), i);
    }
    EXPECT_FALSE(store.has_data());
    store.reset();
  }
}

TEST(Datastore, ReadingPastTheEndIsAnError) {
  Datastore store = counting(1);
  store.read();
  const std::string text = message_of([&] { store.read(); });
  EXPECT_TRUE(datastore_says(text, "no more data after 1 observations")) << text;
  EXPECT_TRUE(datastore_says(text, "call reset()")) << text;
  EXPECT_TRUE(datastore_says(text, "datastore_test.cpp:")) << text;
}

TEST(Datastore, ReadsChunksThatEndWithTheData) {
  Datastore store = counting(5);
  EXPECT_EQ(store.read(2).size(), 2u);
  EXPECT_EQ(store.read(100).size(), 3u);
  EXPECT_TRUE(datastore_says(message_of([&] { store.read(1); }), "no more data"));
  EXPECT_TRUE(datastore_says(message_of([&] { store.read(0); }), "0 observations were asked for"));
}

TEST(Datastore, LookingDoesNotMove) {
  Datastore store = counting(3);
  store.read();
  EXPECT_EQ(store.preview()[0].item<int32_t>(), 0);
  EXPECT_EQ(store.get(2)[0].item<int32_t>(), 2);
  EXPECT_EQ(store.read_all().size(), 3u);
  EXPECT_EQ(store.read()[0].item<int32_t>(), 1);
  EXPECT_TRUE(datastore_says(message_of([&] { store.get(3); }), "no observation 3"));
  EXPECT_TRUE(datastore_says(message_of([] { counting(0).preview(); }), "this one is empty"));
}

TEST(Datastore, ShuffleReturnsANewStore) {
  const Datastore store = counting(100);
  const Datastore shuffled = store.shuffle(1);
  auto order = numbers(shuffled);
  EXPECT_NE(order, numbers(store));
  EXPECT_EQ(order, numbers(store.shuffle(1)));
  EXPECT_NE(order, numbers(store.shuffle(2)));
  EXPECT_EQ(numbers(store)[1], 1);  // the store itself did not change
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, numbers(store));
}

TEST(Datastore, PartsAreContiguousAndTheFirstTakeTheRemainder) {
  const Datastore store = counting(10);
  EXPECT_EQ(numbers(store.partition(4, 0)), (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(numbers(store.partition(4, 1)), (std::vector<int32_t>{3, 4, 5}));
  EXPECT_EQ(numbers(store.partition(4, 2)), (std::vector<int32_t>{6, 7}));
  EXPECT_EQ(numbers(store.partition(4, 3)), (std::vector<int32_t>{8, 9}));
  EXPECT_EQ(store.num_partitions(), 10);
  EXPECT_EQ(store.partition(20, 19).size(), 0);
  EXPECT_TRUE(datastore_says(message_of([&] { store.partition(4, 4); }), "no part 4 of 4"));
  EXPECT_TRUE(datastore_says(message_of([&] { store.partition(0, 0); }), "no part 0 of 0"));
}

TEST(Datastore, APartIsShuffledInsideItself) {
  auto order = numbers(counting(20).partition(2, 1).shuffle(3));
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (std::vector<int32_t>{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
}

TEST(Datastore, SubsetsKeepTheirOrderAndNest) {
  const Datastore subset = counting(10).subset({7, 2, 2, 9});
  EXPECT_EQ(numbers(subset), (std::vector<int32_t>{7, 2, 2, 9}));
  EXPECT_EQ(numbers(subset.subset({3, 0})), (std::vector<int32_t>{9, 7}));
  EXPECT_EQ(subset.source()->sample(3), 9);
  EXPECT_TRUE(datastore_says(message_of([] { counting(3).subset({1, 3}); }), "no observation 3"));
}

TEST(Datastore, AStreamSaysWhatItCannot) {
  Datastore stream(std::make_shared<Stream>());
  EXPECT_FALSE(stream.is_shuffleable() || stream.is_partitionable() || stream.is_subsettable());
  EXPECT_TRUE(datastore_says(message_of([&] { stream.shuffle(1); }), "shuffle: this store cannot be shuffled"));
  EXPECT_TRUE(datastore_says(message_of([&] { stream.partition(1, 0); }), "partition: this store cannot be parted"));
  EXPECT_TRUE(
      datastore_says(message_of([&] { stream.subset({0}); }), "subset: this store cannot be read in any order"));
  EXPECT_EQ(stream.num_partitions(), 1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(stream.read()[0].item<int32_t>(), i);
}

TEST(Datastore, DefaultGatherStacksObservations) {
  const Stream stream;
  const std::vector<int64_t> two = {0, 1};
  EXPECT_EQ(stream.gather(two, 0, 1)[0].to_vector<int32_t>(), (std::vector<int32_t>{0, 1}));
  const Stream fresh;
  EXPECT_EQ(fresh.gather({}, 0, 1)[0].spec().text(), "i32[0] \"B\"");
}

}  // namespace
}  // namespace retrace
