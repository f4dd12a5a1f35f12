// Mini-batches on a CUDA device, emulated where no other is asked for: gathered there, and those of the CPU.
#include "retrace/data/device_rows.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <cstring>

#include "retrace/base/hash.h"
#include "retrace/data/array_store.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/data/stack.h"
#include "retrace/data/transform.h"
#include "retrace/device/cuda/cuda_device.h"
#include "retrace/distributed/pool.h"

namespace retrace {
namespace {

[[maybe_unused]] const int emulated = setenv("RETRACE_CUDA_EMULATION", "1", 0);

class DeviceRowsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
    EXPECT_EQ(kept(), 0u) << "what no queue holds is given back";
  }
  static size_t kept() { return kept_bytes(*gpus()[0]); }
};

// Any bits that the type can have.
Tensor any_bits(const TensorSpec& spec, uint64_t seed) {
  const BlankTensor blank(spec);
  for (size_t i = 0; i < spec.bytes(); ++i) {
    const auto byte = static_cast<uint8_t>(mix64(hash_combine(seed, i)));
    blank.bytes[i] = static_cast<std::byte>(spec.type == DType::boolean ? byte % 2 : byte);
  }
  return blank.tensor;
}

Tensor numbered_rows(int64_t count, int64_t width = 2) {
  std::vector<float> values(static_cast<size_t>(count * width));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) + 1;
  return Tensor::from(values, {count, width}, "BC");
}

// Why not, or "".
std::string difference(const Tensor& here, const Tensor& there) {
  TensorSpec spec = there.spec();
  if (spec.device != 1) return "not on the device";
  spec.device = 0;
  if (!(spec == here.spec())) return here.spec().text() + " and " + spec.text();
  return std::memcmp(here.data(), there.data(), spec.bytes()) == 0 ? "" : "other bits of " + spec.text();
}

// Both go on to the end of their data.
std::string difference(MiniBatchQueue& here, MiniBatchQueue& there) {
  while (here.has_data()) {
    if (!there.has_data()) return "fewer mini-batches";
    const auto a = here.next(), b = there.next();
    for (size_t i = 0; i < a.size(); ++i)
      if (const auto found = difference(a[i], b[i]); !found.empty()) return found;
  }
  return there.has_data() ? "more mini-batches" : "";
}

std::vector<float> rest(MiniBatchQueue& queue) {
  std::vector<float> all;
  while (queue.has_data())
    for (float x : queue.next()[0].to_vector<float>()) all.push_back(x);
  return all;
}

MiniBatchQueueOptions on_cuda(MiniBatchQueueOptions options) {
  options.devices = {"cuda"};
  return options;
}

// For observations of 0, 1, 2 and 3 axes: labels of an array of them, and formats.
struct Axes {
  std::vector<std::string> labels, formats;
};
const std::vector<Axes> kAxes = {{{"", "B"}, {"", "B", "BC", "CB"}},
                                 {{"", "BC", "BT"}, {"", "BC", "CB", "BTC"}},
                                 {{"", "BTC", "BSS"}, {"", "BTC", "CBT", "SSB", "BSSC"}},
                                 {{"", "BSSC"}, {"", "BSSC", "BCSS", "SSCB", "BCSU"}}};

template <class T>
T one_of(const std::vector<T>& all) {
  return all[*rc::gen::inRange<size_t>(0, all.size())];
}

struct Setting {
  Datastore store;
  MiniBatchQueueOptions options;
};

Setting any_setting() {
  const auto below = [](int64_t end) { return *rc::gen::inRange<int64_t>(0, end); };
  const std::vector<DType> types = {DType::f32, DType::f64, DType::i32, DType::u8, DType::boolean};
  const int64_t size = 1 + below(20);
  std::vector<Tensor> arrays;
  MiniBatchQueueOptions options{.mini_batch_size = 1 + below(8),
                                .partial_mini_batch = one_of<Partial>({Partial::keep, Partial::discard}),
                                .seed = 5};
  const bool formatted = below(2), cast = below(2), labelled = below(2);
  for (int64_t i = 0, variables = 1 + below(3); i < variables; ++i) {
    const int64_t rank = below(4);  // of an observation
    const Axes& axes = kAxes[static_cast<size_t>(rank)];
    TensorSpec spec{one_of(types), {size}, Labels(one_of(axes.labels)), {}};
    while (spec.shape.rank() <= rank) spec.shape.push_back(below(5));
    arrays.push_back(any_bits(spec, static_cast<uint64_t>(i)));
    const auto format = formatted ? one_of(axes.formats) : "";
    if (i > 0 && below(4) == 0) continue;  // the last variables are no outputs
    options.outputs = static_cast<int>(i) + 1;
    const auto outputs = static_cast<size_t>(options.outputs);
    if (formatted) options.formats.resize(outputs), options.formats.back() = format;
    if (cast)
      options.casts.resize(outputs), options.casts.back() = below(2) ? std::optional(one_of(types)) : std::nullopt;
    if (labelled) options.labelled.resize(outputs, true), options.labelled.back() = !format.empty() || below(2);
  }
  Datastore store = array_store(arrays, {.scale_bytes = below(2) == 1});
  if (below(3) == 0) store = store.shuffle(3);
  if (below(3) == 0) store = store.subset({size - 1, 0, size / 2, 0});
  if (below(3) == 0) store = combine({store, store});
  return {store, options};
}

// Bytes of all observations as they are delivered.
size_t delivered_bytes(Setting setting) {
  setting.options.mini_batch_size = setting.store.size(), setting.options.partial_mini_batch = Partial::keep;
  size_t bytes = 0;
  for (const Tensor& whole : MiniBatchQueue(setting.store, setting.options).next()) bytes += whole.spec().bytes();
  return bytes;
}

TEST_F(DeviceRowsTest, MiniBatchesHaveTheBitsAndDescriptionsOfTheCpu) {
  EXPECT_TRUE(rc::check([] {
    const Setting setting = any_setting();
    MiniBatchQueue here(setting.store, setting.options), there(setting.store, on_cuda(setting.options));
    RC_ASSERT(difference(here, there) == "");
    RC_ASSERT(kept() == (here.mini_batches() ? delivered_bytes(setting) : 0));
    here.shuffle(), there.shuffle();
    RC_ASSERT(difference(here, there) == "");
    const auto parts = *rc::gen::inRange<int64_t>(1, 4), part = *rc::gen::inRange<int64_t>(0, parts);
    auto part_here = here.partition(parts, part), part_there = there.partition(parts, part);
    RC_ASSERT(difference(part_here, part_there) == "");
    part_here.shuffle(), part_there.shuffle();
    RC_ASSERT(difference(part_here, part_there) == "");
    for (MiniBatchQueue* queue : {&here, &there}) queue->restore({0, 3, 0});
    RC_ASSERT(difference(here, there) == "");
  }));
}

TEST_F(DeviceRowsTest, WorkersGatherTheirSharesOfOneCopy) {
  const Setting setting{array_store({numbered_rows(22), any_bits({DType::i32, {22}, Labels("B"), {}}, 1)}),
                        {.mini_batch_size = 10, .seed = 6}};
  MiniBatchQueue holder(setting.store, on_cuda(setting.options));
  holder.next();
  for (int workers : {1, 3, 4})
    Pool::local(workers).spmd([&](Worker& worker) {
      auto here = MiniBatchQueue(setting.store, setting.options).share(worker, 4);
      auto there = MiniBatchQueue(setting.store, on_cuda(setting.options)).share(worker, 4);
      EXPECT_EQ(difference(here, there), "") << workers;
      here.shuffle(), there.shuffle();
      EXPECT_EQ(difference(here, there), "") << workers;
    });
  EXPECT_EQ(kept(), 22u * (8 + 4));
}

TEST_F(DeviceRowsTest, DataAreCopiedOnceForAllQueuesOverAStore) {
  const Tensor x = numbered_rows(6);
  const Datastore store = array_store({x});
  const MiniBatchQueueOptions options{.mini_batch_size = 4, .seed = 2};
  MiniBatchQueue here(store, options), there(store, on_cuda(options));
  const auto in_order = rest(here);
  here.shuffle();
  const auto shuffled = rest(here);
  there.next();
  std::memset(x.value()->buffer->data(), 0, x.spec().bytes());  // what comes from the host from now on is 0
  there.reset();
  EXPECT_EQ(rest(there), in_order);
  there.shuffle();
  MiniBatchQueue copy = there;
  EXPECT_EQ(rest(copy), shuffled);
  MiniBatchQueue part = there.partition(2, 1);
  EXPECT_EQ(rest(part), std::vector<float>(shuffled.begin() + 6, shuffled.end()));
  MiniBatchQueue other(store, on_cuda({.mini_batch_size = 5}));
  EXPECT_EQ(rest(other), in_order);
  EXPECT_EQ(kept(), x.spec().bytes());
  here.reset();
  EXPECT_EQ(rest(here), std::vector<float>(12, 0.0f)) << "the host's memory is what the store has";
}

TEST_F(DeviceRowsTest, AreGivenBackWithTheLastQueueThatHoldsThem) {
  const Datastore store = array_store({numbered_rows(6)});
  auto whole = std::make_unique<MiniBatchQueue>(store, on_cuda({}));
  {
    MiniBatchQueue part(store.subset({1, 2}), on_cuda({}));
    EXPECT_EQ(kept(), 0u) << "nothing is copied before it is needed";
    whole->next();
    part.next();
    EXPECT_EQ(kept(), (6u + 2) * 8);
  }
  EXPECT_EQ(kept(), 6u * 8);
  auto copy = std::make_unique<MiniBatchQueue>(*whole);
  whole.reset();
  EXPECT_EQ(kept(), 6u * 8);
  copy.reset();
  EXPECT_EQ(kept(), 0u);
}

// Observations whose numbers are all their own index, made when they are asked for.
class Numbered : public DataSource {
 public:
  Numbered(int64_t size, int64_t width) : size_(size), width_(width) {}
  int64_t size() const override { return size_; }
  int variables() const override { return 1; }
  Observation get(int64_t index, int64_t) const override {
    return {Tensor::full(static_cast<double>(index), {width_}, DType::f32, "C")};
  }
  bool is_in_memory() const override { return true; }

 private:
  int64_t size_, width_;
};

TEST_F(DeviceRowsTest, LargeDataAreCopiedInParts) {
  const int64_t width = 1 << 18;  // 1 MiB
  MiniBatchQueue queue(Datastore(std::make_shared<Numbered>(70, width)), {.mini_batch_size = 1, .devices = {"cuda"}});
  for (int64_t index : {69, 0, 62, 63, 64}) {
    queue.restore({0, 0, index});
    EXPECT_EQ(queue.next()[0].to_vector<float>(),
              std::vector<float>(static_cast<size_t>(width), static_cast<float>(index)));
  }
  EXPECT_EQ(kept(), size_t{70} << 20);
}

TEST_F(DeviceRowsTest, DataThatDoNotFitComeFromTheHost) {
  const int64_t width = 1 << 14, fit = static_cast<int64_t>(cuda_device(0).runtime().memory() / 4) / (4 * width);
  MiniBatchQueue queue(Datastore(std::make_shared<Numbered>(fit + 1, width)),
                       {.mini_batch_size = 3, .devices = {"cuda"}});
  queue.next();
  const Tensor x = queue.next()[0];
  EXPECT_EQ(x.spec().text(), "f32[3,16384] \"BC\" on cuda:0");
  EXPECT_EQ(x.to_vector<float>()[2 << 14], 5.0f);
  EXPECT_EQ(kept(), 0u);
}

TEST_F(DeviceRowsTest, WhatIsMadeAnewComesFromTheHost) {
  const auto noisy = [](const Observation& o, TransformContext& context) {
    return Observation{Tensor::from<float>({o[0].to_vector<float>()[0] + context.random.uniform()}, {1}, "C")};
  };
  const Setting drawn{transform(array_store({numbered_rows(9)}), noisy), {.mini_batch_size = 4}};
  MiniBatchQueue here(drawn.store, drawn.options), there(drawn.store, on_cuda(drawn.options));
  EXPECT_EQ(difference(here, there), "");
  here.shuffle(), there.shuffle();
  EXPECT_EQ(difference(here, there), "");
  MiniBatchQueue mixed(array_store({numbered_rows(3), numbered_rows(3)}), {.devices = {"cpu", "cuda"}});
  EXPECT_EQ(mixed.next()[0].spec().device, 0);
  EXPECT_EQ(kept(), 0u);
}

TEST_F(DeviceRowsTest, AFunctionMayMakeItsOutputsOnTheDevice) {
  const auto function = [](const std::vector<std::vector<Tensor>>& lists) {
    const Tensor whole = stack_samples(lists[0]);
    return std::vector<Tensor>{whole.to(*gpus()[0]), whole.to(*gpus()[0]), whole.to(*gpus()[0])};
  };
  const Setting setting{array_store({numbered_rows(5)}),
                        {.mini_batch_size = 2,
                         .mini_batch_function = function,
                         .formats = {"BC", "CB", "BSC"},
                         .casts = {std::nullopt, DType::i32, std::nullopt},
                         .outputs = 3}};
  MiniBatchQueue here(setting.store, setting.options), there(setting.store, on_cuda(setting.options));
  EXPECT_EQ(difference(here, there), "");
}

TEST_F(DeviceRowsTest, AnArrayMayComeFromTheDevice) {
  MiniBatchQueue here(array_store({numbered_rows(6)}));
  MiniBatchQueue there(array_store({numbered_rows(6).to(*gpus()[0])}), {.devices = {"cuda"}});
  EXPECT_EQ(difference(here, there), "");
}

TEST_F(DeviceRowsTest, ErrorsAreThoseOfTheCpu) {
  const Datastore store = array_store({Tensor::zeros({4, 2, 2})});
  for (const char* format : {"BC", "B"}) {
    const auto text = [&](const char* device) -> std::string {
      try {
        MiniBatchQueue(store, {.mini_batch_size = 3, .formats = {format}, .devices = {device}}).next({"model.cpp", 7});
      } catch (const Error& error) {
        return error.what();
      }
      return "no error";
    };
    EXPECT_NE(text("cpu"), "no error");
    EXPECT_EQ(text("cuda"), text("cpu"));
  }
  MiniBatchQueue without_batch(store, {.formats = {"SSC"}, .devices = {"cuda"}});
  EXPECT_EQ(without_batch.next()[0].spec().text(), "f32[4,2,2] \"SSC\" on cuda:0");
  EXPECT_EQ(kept(), 0u);
}

TEST_F(DeviceRowsTest, ARowThatIsNotThereIsAnError) {
  Device& device = *gpus()[0];
  const Tensor rows = numbered_rows(6).to(device);
  const Tensor order = Tensor::from<int32_t>({5, 0, 6, 1}, {4}).to(device);
  const auto text = [&](int64_t first) -> std::string {
    try {
      gather_batch(rows, order, first, 2).data();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  for (int turn = 0; turn < 2; ++turn) {
    EXPECT_EQ(text(0), "no error");
    EXPECT_TRUE(
        text(2).starts_with("error[RT0629]: a mini-batch takes a row that its data do not have\n"
                            "  got:      row 6 at [0]"))
        << text(2);
  }
}

}  // namespace
}  // namespace retrace
