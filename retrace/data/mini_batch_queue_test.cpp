#include "retrace/data/mini_batch_queue.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "retrace/data/array_store.h"
#include "retrace/data/datasets.h"
#include "retrace/data/transform.h"
#include "retrace/distributed/group.h"

namespace retrace {
namespace {

Datastore counting(int count) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) values[static_cast<size_t>(i)] = i;
  return array_store({Tensor::from(values, {count}, "B")});
}

std::vector<int32_t> batch(MiniBatchQueue& queue) { return queue.next()[0].to_vector<int32_t>(); }

// Everything up to the end of the data.
std::vector<int32_t> rest(MiniBatchQueue& queue) {
  std::vector<int32_t> all;
  while (queue.has_data())
    for (int32_t x : batch(queue)) all.push_back(x);
  return all;
}

std::vector<int32_t> sorted(std::vector<int32_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

template <class Call>
std::string message_of(Call call, ErrorKind kind = ErrorKind::usage) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "no error";
}

bool queue_says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

class Stream : public DataSource {
 public:
  int64_t size() const override { return 5; }
  int variables() const override { return 1; }
  Observation get(int64_t index, int64_t) const override { return {Tensor::scalar(static_cast<int32_t>(index))}; }
  bool is_subsettable() const override { return false; }
};

// One of several workers, the others of which say the same.
class FakeGroup : public Group {
 public:
  FakeGroup(int rank, int size) : rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void exchange(std::span<const Sent> sent, std::span<const Received> received, const char*) override {
    for (size_t r = 0; r < sent.size(); ++r)
      if (sent[r].bytes) std::memcpy(received[r].data, sent[r].data, sent[r].bytes);
  }
  void fail(const std::string&) noexcept override {}

 private:
  int rank_, size_;
};

Worker worker(int rank, int size) { return Worker(std::make_shared<FakeGroup>(rank, size)); }

TEST(MiniBatchQueue, DeliversDigitsAsInTheExample) {
  MiniBatchQueue queue(
      datasets::digits(Split::train, {.count = 70, .seed = 1}),
      {.mini_batch_size = 32, .partial_mini_batch = Partial::discard, .formats = {"BSSC", "B", "BC"}, .seed = 1});
  queue.shuffle();
  int count = 0;
  for (; queue.has_data(); ++count) {
    auto [images, labels, angles] = queue.next<3>();
    EXPECT_EQ(images.spec().text(), "f32[32,28,28,1] \"BSSC\"");
    EXPECT_EQ(labels.spec().text(), "i32[32] \"B\"");
    EXPECT_EQ(angles.spec().text(), "f32[32,1] \"BC\"");
  }
  EXPECT_EQ(count, 2);
}

TEST(MiniBatchQueue, CountsOfTheTraceCacheExample) {
  // 156 mini-batches of 32 from 5,000 with the partial one discarded, 157 of two sizes with it.
  MiniBatchQueue training(counting(5000), {.mini_batch_size = 32, .partial_mini_batch = Partial::discard});
  EXPECT_EQ(training.mini_batches(), 156);
  EXPECT_EQ(rest(training).size(), 4992u);
  MiniBatchQueue prediction(counting(5000), {.mini_batch_size = 32});
  EXPECT_EQ(prediction.mini_batches(), 157);
  std::multiset<int64_t> sizes;
  while (prediction.has_data()) sizes.insert(prediction.next<1>()[0].shape()[0]);
  EXPECT_EQ(sizes.count(32), 156u);
  EXPECT_EQ(sizes.count(8), 1u);
}

TEST(MiniBatchQueue, KeepsTheLastShortMiniBatchByDefault) {
  MiniBatchQueue queue(counting(5), {.mini_batch_size = 2});
  EXPECT_EQ(batch(queue), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(batch(queue), (std::vector<int32_t>{2, 3}));
  EXPECT_TRUE(queue.has_data());
  EXPECT_EQ(batch(queue), (std::vector<int32_t>{4}));
  EXPECT_FALSE(queue.has_data());
  EXPECT_EQ(MiniBatchQueue(counting(5)).mini_batch_size(), 128);
}

TEST(MiniBatchQueue, HasNoDataBeforeADiscardedMiniBatch) {
  MiniBatchQueue queue(counting(5), {.mini_batch_size = 2, .partial_mini_batch = Partial::discard});
  batch(queue);
  EXPECT_TRUE(queue.has_data());
  batch(queue);
  EXPECT_FALSE(queue.has_data());
  EXPECT_TRUE(queue_says(message_of([&] { queue.next(); }), "no mini-batch left"));
  EXPECT_FALSE(MiniBatchQueue(counting(1), {.mini_batch_size = 2, .partial_mini_batch = Partial::discard}).has_data());
}

TEST(MiniBatchQueue, TheEndIsAnErrorThatSaysWhatToDo) {
  MiniBatchQueue queue(counting(2));
  queue.next();
  const std::string text = message_of([&] { queue.next<1>(); });
  EXPECT_TRUE(queue_says(text, "the end of the data is reached")) << text;
  EXPECT_TRUE(queue_says(text, "2 of 2 observations delivered")) << text;
  EXPECT_TRUE(queue_says(text, "reset()") && queue_says(text, "shuffle()") && queue_says(text, "has_data()")) << text;
  EXPECT_TRUE(queue_says(text, "mini_batch_queue_test.cpp:")) << text;
  EXPECT_FALSE(MiniBatchQueue(counting(0)).has_data());
}

TEST(MiniBatchQueue, ResetGoesBackInTheCurrentOrder) {
  MiniBatchQueue queue(counting(50), {.mini_batch_size = 7});
  queue.shuffle();
  const auto first = rest(queue);
  queue.reset();
  EXPECT_EQ(rest(queue), first);
  queue.reset();
  batch(queue);
  queue.reset();
  EXPECT_EQ(rest(queue), first);
}

TEST(MiniBatchQueue, ShuffleChangesTheQueueAndResets) {
  MiniBatchQueue queue(counting(50), {.mini_batch_size = 20, .seed = 4});
  std::vector<int32_t> in_order(50);
  for (int i = 0; i < 50; ++i) in_order[static_cast<size_t>(i)] = i;
  batch(queue);
  queue.shuffle();
  const auto first = rest(queue);
  EXPECT_NE(first, in_order);
  EXPECT_EQ(sorted(first), in_order);
  queue.shuffle();
  EXPECT_NE(rest(queue), first);
  EXPECT_EQ(queue.store().get(1)[0].item<int32_t>(), 1);  // the store keeps its order
}

TEST(MiniBatchQueue, TheOrderDependsOnSeedAndNumberOfShuffles) {
  const auto after = [](uint64_t seed, int shuffles, int64_t size) {
    MiniBatchQueue queue(counting(40), {.mini_batch_size = size, .seed = seed});
    for (int i = 0; i < shuffles; ++i) {
      queue.shuffle();
      if (i % 2) batch(queue);  // what was read in between does not count
    }
    queue.reset();
    return rest(queue);
  };
  EXPECT_EQ(after(1, 3, 8), after(1, 3, 13));
  EXPECT_NE(after(1, 3, 8), after(2, 3, 8));
  EXPECT_NE(after(1, 3, 8), after(1, 4, 8));
}

TEST(MiniBatchQueue, PartsShuffleInsideThemselves) {
  MiniBatchQueue whole(counting(10), {.mini_batch_size = 3, .seed = 2});
  whole.shuffle();
  const auto order = rest(whole);
  std::vector<int32_t> together;
  for (int i = 0; i < 3; ++i) {
    MiniBatchQueue part = whole.partition(3, i);
    EXPECT_EQ(part.size(), i == 0 ? 4 : 3);  // the remainder goes to the first
    const auto mine = rest(part);
    together.insert(together.end(), mine.begin(), mine.end());
    for (int k = 0; k < 5; ++k) {
      part.shuffle();
      EXPECT_EQ(sorted(rest(part)), sorted(mine));
    }
  }
  EXPECT_EQ(together, order);
  EXPECT_TRUE(queue_says(message_of([&] { whole.partition(3, 3); }), "no part 3 of 3"));
  EXPECT_TRUE(queue_says(message_of([&] { whole.partition(0, 0); }), "no part 0 of 0"));
}

TEST(MiniBatchQueue, PartsOfOneSizeAreNotShuffledAlike) {
  const MiniBatchQueue whole(counting(40), {.seed = 2});
  MiniBatchQueue a = whole.partition(2, 0), b = whole.partition(2, 1);
  a.shuffle(), b.shuffle();
  auto moved = rest(b);
  for (int32_t& x : moved) x -= 20;
  EXPECT_NE(rest(a), moved);
}

TEST(MiniBatchQueue, AStreamIsReadInItsOrderOnly) {
  MiniBatchQueue queue(Datastore(std::make_shared<Stream>()), {.mini_batch_size = 3});
  EXPECT_EQ(rest(queue), (std::vector<int32_t>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(queue_says(message_of([&] { queue.shuffle(); }), "cannot be shuffled"));
  EXPECT_TRUE(queue_says(message_of([&] { queue.partition(2, 0); }), "cannot be parted"));
  EXPECT_TRUE(queue_says(message_of([&] { queue.restore({1, 1, 0}); }), "cannot be at the saved position"));
  queue.reset();
  EXPECT_EQ(rest(queue).size(), 5u);
}

TEST(MiniBatchQueue, SavedPositionsGoOnExactly) {
  const auto noisy = [](const Observation& o, TransformContext& context) {
    return Observation{Tensor::scalar(o[0].item<int32_t>() * 1000 + static_cast<int32_t>(context.random.below(1000)))};
  };
  const MiniBatchQueueOptions options{.mini_batch_size = 7, .seed = 3};
  MiniBatchQueue queue(transform(counting(30), noisy, {.seed = 1}), options);
  queue.shuffle(), rest(queue), queue.shuffle(), rest(queue), queue.reset();
  batch(queue), batch(queue);
  const QueuePosition saved = queue.position();
  EXPECT_EQ(saved, (QueuePosition{2, 3, 14}));
  const auto expected = rest(queue);
  queue.shuffle();
  const auto next_epoch = rest(queue);

  MiniBatchQueue other(transform(counting(30), noisy, {.seed = 1}), options);
  other.restore(saved);
  EXPECT_EQ(rest(other), expected);
  other.shuffle();
  EXPECT_EQ(rest(other), next_epoch);
  queue.restore(saved);
  EXPECT_EQ(rest(queue), expected);
  EXPECT_TRUE(queue_says(message_of([&] { other.restore({0, 0, 31}); }), "0 <= next <= 30"));
  EXPECT_TRUE(queue_says(message_of([&] { other.restore({-1, 0, 0}); }), "cannot be at"));
  EXPECT_TRUE(queue_says(message_of([&] { other.restore({3, 2, 0}); }), "cannot be at"));
}

TEST(MiniBatchQueue, CastsComeBeforeLabels) {
  const Datastore store = array_store({Tensor::from<double>({1.9, -2.5}, {2, 1}), Tensor::from<int32_t>({1, 2}, {2})});
  MiniBatchQueue queue(store, {.formats = {"BC", ""}, .casts = {DType::i32, std::nullopt}});
  const auto [x, y] = queue.next<2>();
  EXPECT_EQ(x.spec().text(), "i32[2,1] \"BC\"");
  EXPECT_EQ(x.to_vector<int32_t>(), (std::vector<int32_t>{1, -2}));
  EXPECT_EQ(y.type(), DType::i32);
}

TEST(MiniBatchQueue, LabelsComeInCanonicalOrder) {
  // Two observations of 2 x 3 pixels with 1 channel; the format may name the axes in any order.
  std::vector<float> values(12);
  for (size_t i = 0; i < 12; ++i) values[i] = static_cast<float>(i);
  const Datastore plain = array_store({Tensor::from(values, {2, 2, 3, 1})});
  const Datastore labelled = array_store({Tensor::from(values, {2, 2, 3, 1}, "BSSC")});
  for (const Datastore& store : {plain, labelled})
    for (const char* format : {"BSSC", "SSCB", "SSBC"}) {
      MiniBatchQueue queue(store, {.formats = {format}});
      const auto [x] = queue.next<1>();
      EXPECT_EQ(x.spec().text(), "f32[2,2,3,1] \"BSSC\"") << format;
      EXPECT_EQ(x.to_vector<float>(), values) << format;
    }
  // Channels first: the observation's axes are C, S, S and are permuted.
  MiniBatchQueue queue(array_store({Tensor::from(values, {2, 1, 2, 3})}), {.formats = {"BCSS"}});
  EXPECT_EQ(queue.next()[0].spec().text(), "f32[2,2,3,1] \"BSSC\"");
  MiniBatchQueue surplus(array_store({Tensor::from<float>({1, 2}, {2})}), {.formats = {"BC"}});
  EXPECT_EQ(surplus.next()[0].spec().text(), "f32[2,1] \"BC\"");
  // Sequences: the order is batch, time, channel.
  MiniBatchQueue sequences(array_store({Tensor::from(values, {2, 2, 3})}), {.formats = {"CBT"}});
  const Tensor x = sequences.next()[0];
  EXPECT_EQ(x.spec().text(), "f32[2,3,2] \"BTC\"");
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
}

TEST(MiniBatchQueue, LabelsCanBeLeftOut) {
  MiniBatchQueue queue(array_store({Tensor::zeros({2, 1}, DType::f32, "BC"), Tensor::zeros({2, 1}, DType::f32, "BC")}),
                       {.labelled = {false, true}});
  const auto [x, y] = queue.next<2>();
  EXPECT_EQ(x.labels(), "");
  EXPECT_EQ(y.labels(), "BC");
}

TEST(MiniBatchQueue, OutputsCanBeLeftOut) {
  const Datastore store = datasets::digits(Split::test, {.count = 4, .seed = 1});
  MiniBatchQueue queue(store, {.formats = {"BSSC"}, .outputs = 1});
  EXPECT_EQ(queue.outputs(), 1);
  EXPECT_EQ(queue.next().size(), 1u);
  queue.reset();
  EXPECT_TRUE(queue_says(message_of([&] { queue.next<2>(); }), "2 outputs were asked for, and it has 1"));
  EXPECT_EQ(queue.position().next, 0);  // the place in the data stayed
}

TEST(MiniBatchQueue, AFunctionMakesTheOutputs) {
  // Gets a list a variable; makes another number of outputs.
  const auto function = [](const std::vector<std::vector<Tensor>>& lists) {
    EXPECT_EQ(lists.size(), 2u);
    std::vector<float> sums;
    for (size_t i = 0; i < lists[0].size(); ++i)
      sums.push_back(lists[0][i].item<float>() + static_cast<float>(lists[1][i].item<int32_t>()));
    const auto count = static_cast<int64_t>(sums.size());
    const Tensor sum = Tensor::from(sums, {1, count});
    return std::vector<Tensor>{sum, sum, Tensor::scalar(static_cast<int32_t>(count))};
  };
  const Datastore store = array_store({Tensor::from<float>({1, 2, 3}, {3}), Tensor::from<int32_t>({10, 20, 30}, {3})});
  MiniBatchQueue queue(
      store, {.mini_batch_size = 2, .mini_batch_function = function, .formats = {"CB", "", ""}, .outputs = 3});
  auto [formatted, plain, count] = queue.next<3>();
  EXPECT_EQ(formatted.spec().text(), "f32[2,1] \"BC\"");  // its axes in order, then permuted
  EXPECT_EQ(plain.spec().text(), "f32[1,2]");
  EXPECT_EQ(formatted.to_vector<float>(), (std::vector<float>{11, 22}));
  EXPECT_EQ(count.item<int32_t>(), 2);
  EXPECT_EQ(queue.next<3>()[2].item<int32_t>(), 1);

  MiniBatchQueue wrong(store, {.mini_batch_function = function});
  const std::string text = message_of([&] { wrong.next(); });
  EXPECT_TRUE(queue_says(text, "returned 3 tensors") && queue_says(text, "2, one for each output")) << text;
}

TEST(MiniBatchQueue, WrongOptionsAreErrorsAtConstruction) {
  const auto text = [](MiniBatchQueueOptions options) {
    return message_of([&] { MiniBatchQueue(counting(3), std::move(options)); });
  };
  EXPECT_TRUE(queue_says(text({.mini_batch_size = 0}), "mini_batch_size is 0"));
  EXPECT_TRUE(queue_says(text({.formats = {"B", "B"}}), "2 formats for 1 output"));
  EXPECT_TRUE(queue_says(text({.casts = {DType::f32, DType::f32}}), "2 casts for 1 output"));
  EXPECT_TRUE(queue_says(text({.labelled = {true, true}}), "2 labelled flags for 1 output"));
  EXPECT_TRUE(queue_says(text({.devices = {"cpu", "cpu"}}), "2 devices for 1 output"));
  EXPECT_TRUE(queue_says(text({.formats = {"BX"}}), "formats[0]: "));
  EXPECT_TRUE(queue_says(text({.formats = {"BB"}}), "formats[0]: "));
  EXPECT_TRUE(queue_says(text({.formats = {"B"}, .labelled = {false}}), "labelled[0] is false"));
  EXPECT_TRUE(queue_says(text({.outputs = 2}), "2 outputs from a store of 1 variables"));
  EXPECT_TRUE(queue_says(text({.devices = {"gpu9"}}), "gpu9"));
  MiniBatchQueue queue(counting(3));
  EXPECT_TRUE(queue_says(message_of([&] { queue.set_mini_batch_size(-1); }), "mini_batch_size is -1"));
  MiniBatchQueue few(array_store({Tensor::zeros({2, 2, 2})}), {.formats = {"BC"}});
  EXPECT_TRUE(queue_says(message_of([&] { few.next(); }), "\"BC\""));
}

// Observation i has 1 + i * 5 % 7 entries of i + 1, and zeros behind them.
class Ragged : public DataSource {
 public:
  explicit Ragged(int64_t count) : count_(count) {}
  int64_t size() const override { return count_; }
  int variables() const override { return 2; }
  int64_t length(int64_t index) const override { return 1 + index * 5 % 7; }
  Observation get(int64_t index, int64_t) const override {
    std::vector<float> entries(7);
    std::fill_n(entries.begin(), length(index), static_cast<float>(index + 1));
    return {Tensor::from(entries, {7}, "C"), Tensor::scalar(static_cast<int32_t>(index))};
  }

 private:
  int64_t count_;
};

// The numbers and the lengths of the inputs, mini-batch by mini-batch.
std::string batches_of(MiniBatchQueue queue) {
  std::string text;
  while (queue.has_data()) {
    const auto next = queue.next();
    text += fmt::format("{}:", next[0].shape()[1]);
    for (const int32_t number : next[1].to_vector<int32_t>()) text += fmt::format(" {}", number);
    text += "; ";
  }
  return text;
}

TEST(MiniBatchQueueBuckets, AMiniBatchHasObservationsOfOneBucket) {
  // Lengths: 1 6 4 2 7 5 3 1 6 4 2
  const Datastore store(std::make_shared<Ragged>(11));
  const MiniBatchQueueOptions options{.mini_batch_size = 2, .buckets = {2, 4}};
  MiniBatchQueue queue(store, options);
  EXPECT_EQ(batches_of(queue), "2: 0 3; 7: 1 4; 4: 2 6; 7: 5 8; 2: 7 10; 4: 9; ");
  EXPECT_EQ(queue.mini_batches(), 6);
  EXPECT_EQ(queue.next_sizes(10), (std::vector<int64_t>{2, 2, 2, 2, 2, 1}));
  MiniBatchQueueOptions whole = options;
  whole.partial_mini_batch = Partial::discard;
  EXPECT_EQ(batches_of(MiniBatchQueue(store, whole)), "2: 0 3; 7: 1 4; 4: 2 6; 7: 5 8; 2: 7 10; ");
  queue.shuffle();
  std::vector<int32_t> all;
  while (queue.has_data()) {
    const auto next = queue.next();
    const int64_t length = next[0].shape()[1];
    const auto entries = next[0].to_vector<float>();
    const auto numbers = next[1].to_vector<int32_t>();
    all.insert(all.end(), numbers.begin(), numbers.end());
    for (size_t i = 0; i < numbers.size(); ++i) {
      const int64_t own = 1 + numbers[i] * 5 % 7;
      EXPECT_EQ(length, own <= 2 ? 2 : own <= 4 ? 4 : 7);
      EXPECT_EQ(std::count(entries.begin() + static_cast<int64_t>(i) * length,
                           entries.begin() + static_cast<int64_t>(i + 1) * length, static_cast<float>(numbers[i] + 1)),
                own);
    }
  }
  EXPECT_EQ(sorted(all), (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(MiniBatchQueueBuckets, AreTheSameMadeAheadAndFromASavedPosition) {
  const Datastore store(std::make_shared<Ragged>(30));
  MiniBatchQueueOptions options{.mini_batch_size = 4, .buckets = {3, 5}, .seed = 9, .prefetch_threads = 0};
  MiniBatchQueue queue(store, options);
  queue.shuffle();
  options.prefetch_threads = 2;
  MiniBatchQueue ahead(store, options);
  ahead.shuffle();
  EXPECT_EQ(batches_of(ahead), batches_of(queue));
  queue.next(), queue.next();
  MiniBatchQueue later(store, options);
  later.restore(queue.position());
  EXPECT_EQ(batches_of(later), batches_of(queue));
  EXPECT_TRUE(queue_says(message_of([&] { later.restore({1, 1, 3}); }), "no mini-batch begins at the saved position"));
  EXPECT_TRUE(queue_says(message_of([&] { later.set_mini_batch_size(5); }), "for a queue with buckets"));
}

TEST(MiniBatchQueueBuckets, NeedLengthsAndAnOrder) {
  const Datastore store(std::make_shared<Ragged>(5));
  EXPECT_TRUE(queue_says(message_of([&] { MiniBatchQueue(store, {.buckets = {3, 3}}); }), "buckets[1] is 3"));
  EXPECT_TRUE(queue_says(message_of([&] { MiniBatchQueue(store, {.buckets = {0}}); }), "buckets[0] is 0"));
  EXPECT_TRUE(queue_says(message_of([&] { MiniBatchQueue(counting(5), {.buckets = {3}}); }), "all of one length"));
  EXPECT_EQ(batches_of(MiniBatchQueue(store.subset({4, 0, 3}), {.mini_batch_size = 2, .buckets = {2}})),
            "2: 0 3; 7: 4; ");
}

TEST(MiniBatchQueue, DevicesAreChosenByName) {
  MiniBatchQueue queue(counting(3), {.devices = {"cpu"}});
  EXPECT_EQ(queue.next()[0].to_vector<int32_t>(), (std::vector<int32_t>{0, 1, 2}));
}

TEST(MiniBatchQueue, TheSizeCanChangeLater) {
  MiniBatchQueue queue(counting(10), {.mini_batch_size = 2});
  batch(queue);
  queue.set_mini_batch_size(5);
  EXPECT_EQ(batch(queue), (std::vector<int32_t>{2, 3, 4, 5, 6}));
}

TEST(MiniBatchQueue, ObservationsOfDifferentShapesAreRefused) {
  const auto grow = [](const Observation&, TransformContext& context) {
    return Observation{Tensor::zeros({context.sample + 1})};
  };
  MiniBatchQueue queue(transform(counting(3), grow));
  EXPECT_TRUE(queue_says(message_of([&] { queue.next(); }), "observations 0 and 1"));
}

TEST(MiniBatchQueueShare, WorkersTogetherSeeTheWholeMiniBatch) {
  // 22 observations in mini-batches of 10, 10 and 2: 4 shards of 3 3 2 2, and of 1 1 0 0.
  MiniBatchQueue whole(counting(22), {.mini_batch_size = 10, .seed = 6});
  whole.shuffle();
  for (int workers = 1; workers <= 4; ++workers) {
    MiniBatchQueue all = whole;
    std::vector<MiniBatchQueue> shares;
    for (int rank = 0; rank < workers; ++rank) shares.push_back(whole.share(worker(rank, workers), 4));
    for (int pass = 0; pass < 2; ++pass) {
      while (all.has_data()) {
        const auto expected = batch(all);
        std::vector<int32_t> together;
        for (auto& share : shares) {
          ASSERT_TRUE(share.has_data());
          const Tensor mine = share.next()[0];
          EXPECT_EQ(mine.spec().part,
                    (BatchPart{static_cast<int64_t>(expected.size()), static_cast<int64_t>(together.size())}));
          for (int32_t x : mine.to_vector<int32_t>()) together.push_back(x);
        }
        EXPECT_EQ(together, expected) << workers;
      }
      for (auto& share : shares) EXPECT_FALSE(share.has_data());  // the epoch ends for all
      all.shuffle();
      for (auto& share : shares) share.shuffle();  // each by itself, and yet alike
    }
  }
}

TEST(MiniBatchQueueShare, CutsAreThoseOfTheShards) {
  const MiniBatchQueue whole(counting(10), {.mini_batch_size = 10});
  // 4 shards of 3 3 2 2; three workers have 2, 1 and 1 of them.
  const auto mine = [&](int rank) {
    MiniBatchQueue share = whole.share(worker(rank, 3), 4);
    return batch(share);
  };
  EXPECT_EQ(mine(0), (std::vector<int32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(mine(1), (std::vector<int32_t>{6, 7}));
  EXPECT_EQ(mine(2), (std::vector<int32_t>{8, 9}));
}

TEST(MiniBatchQueueShare, OneWorkerHasEverything) {
  MiniBatchQueue share = MiniBatchQueue(counting(5), {.mini_batch_size = 4}).share(Worker(), 1);
  const Tensor x = share.next()[0];
  EXPECT_EQ(x.to_vector<int32_t>(), (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(x.spec().part, (BatchPart{4, 0}));
  EXPECT_EQ(MiniBatchQueue(counting(5)).next()[0].spec().part, BatchPart());
}

TEST(MiniBatchQueueShare, GoesOnFromAPosition) {
  MiniBatchQueue whole(counting(20), {.mini_batch_size = 6, .seed = 9});
  MiniBatchQueue one = whole.share(worker(0, 1), 4), two = whole.share(worker(1, 2), 4);
  one.shuffle();
  batch(one);
  two.restore(one.position());  // saved by one worker, restored by the second of two
  const auto expected = batch(one);
  EXPECT_EQ(batch(two), std::vector<int32_t>(expected.begin() + 4, expected.end()));
}

TEST(MiniBatchQueueShare, AWorkerWithoutSamplesGetsEmptyTensors) {
  const auto function = [](const std::vector<std::vector<Tensor>>& lists) {
    const auto count = static_cast<int64_t>(lists[0].size());
    return std::vector<Tensor>{Tensor::zeros({count, 3}, DType::f32, "BC")};
  };
  MiniBatchQueue made = MiniBatchQueue(counting(2), {.mini_batch_function = function}).share(worker(3, 4), 4);
  EXPECT_EQ(made.next()[0].spec().text().substr(0, 13), "f32[0,3] \"BC\"");
  MiniBatchQueue stacked =
      MiniBatchQueue(datasets::digits(Split::test, {.count = 2, .seed = 1})).share(worker(3, 4), 4);
  const Tensor images = stacked.next()[0];
  EXPECT_EQ(images.shape(), (Shape{0, 28, 28, 1}));
  EXPECT_EQ(images.spec().part, (BatchPart{2, 2}));
}

TEST(MiniBatchQueueShare, WrongSharesAreRefused) {
  const MiniBatchQueue whole(counting(8));
  const std::string text = message_of([&] { whole.share(worker(0, 4), 1); });
  EXPECT_TRUE(queue_says(text, "4 workers share 1 shard")) << text;
  EXPECT_TRUE(queue_says(text, "set .shards = 4 or more")) << text;
  EXPECT_TRUE(queue_says(message_of([&] { whole.share(Worker(), 0); }), "0 shards"));
  const MiniBatchQueue share = whole.share(Worker(), 2);
  EXPECT_TRUE(queue_says(message_of([&] { share.share(Worker(), 2); }), "a worker's share already"));
  const auto drop = [](const std::vector<std::vector<Tensor>>&) {
    return std::vector<Tensor>{Tensor::zeros({1}, DType::f32, "B")};
  };
  MiniBatchQueue lossy = MiniBatchQueue(counting(8), {.mini_batch_function = drop}).share(worker(0, 2), 2);
  EXPECT_TRUE(queue_says(message_of([&] { lossy.next(); }), "output 0 has 1 samples, the worker's share has 4"));
}

}  // namespace
}  // namespace retrace
