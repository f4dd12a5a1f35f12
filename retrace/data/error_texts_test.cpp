// The whole texts of what stores, queues and readers of files refuse.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "retrace/data/array_store.h"
#include "retrace/data/batch_format.h"
#include "retrace/data/datasets.h"
#include "retrace/data/gzip.h"
#include "retrace/data/idx.h"
#include "retrace/data/image_set_files.h"
#include "retrace/data/mini_batch_queue.h"
#include "retrace/data/stack.h"
#include "retrace/data/transform.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

using namespace std::string_literals;

const Place place{"train.cpp", 5};

// A text with its lines: error[RT0311]: message, where: train.cpp:5, and what else is told.
std::string text(int code, const std::string& message, const std::string& rest = "") {
  return fmt::format("error[RT{:04}]: {}\n  where:    train.cpp:5", code, message) + rest;
}

Datastore counting_store(int count) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) values[static_cast<size_t>(i)] = i;
  return array_store({Tensor::from(values, {count}, "B")});
}

class ForwardOnly : public DataSource {
 public:
  int64_t size() const override { return 5; }
  int variables() const override { return 1; }
  Observation get(int64_t index, int64_t) const override { return {Tensor::scalar(static_cast<int32_t>(index))}; }
  bool is_subsettable() const override { return false; }
};

TEST(DataErrors, OfArrayStores) {
  EXPECT_EQ(error_text([] { array_store({}, {}, place); }), text(313, "array_store: no array was given"));
  EXPECT_EQ(error_text([] { array_store({Tensor::zeros({2, 2})}, {.iteration_axis = 2}, place); }),
            text(134, "array_store: iteration_axis of array 0: axis 2 does not exist",
                 "\n  got:      a tensor with 2 axes"
                 "\n  expected: an axis from -2 to 1"));
  EXPECT_EQ(error_text([] { array_store({Tensor::zeros({2, 2}, DType::f32, "BC")}, {.iteration_axis = 1}, place); }),
            text(313, "array_store: iteration_axis of array 0: axis 1 is not the batch",
                 "\n  got:      f32[2,2] \"BC\""
                 "\n  expected: the axis labelled B"
                 "\n  help:     leave iteration_axis out"));
  EXPECT_EQ(error_text([] { array_store({Tensor::zeros({3}), Tensor::zeros({4})}, {}, place); }),
            text(313, "array_store: array 0 has 3 observations, array 1 has 4",
                 "\n  got:      f32[3] and f32[4]"
                 "\n  expected: the same number for all arrays"));
}

TEST(DataErrors, OfReading) {
  Datastore store = counting_store(3);
  EXPECT_EQ(error_text([&] { store.get(3, place); }),
            text(311, "get: there is no observation 3", "\n  expected: 0 to 2"));
  EXPECT_EQ(error_text([&] { counting_store(0).get(0, place); }),
            text(311, "get: there is no observation 0", "\n  expected: a store with data: this one is empty"));
  EXPECT_EQ(error_text([&] { store.read(0, place); }),
            text(311, "read: 0 observations were asked for", "\n  expected: at least 1"));
  while (store.has_data()) store.read();
  EXPECT_EQ(error_text([&] { store.read(place); }),
            text(311, "read: the store has no more data after 3 observations",
                 "\n  help:     call reset() to read from the start, or ask has_data() first"));
}

TEST(DataErrors, OfStoresMadeOfStores) {
  const Datastore store = counting_store(3);
  EXPECT_EQ(error_text([&] { store.partition(4, 4, place); }),
            text(312, "partition: there is no part 4 of 4", "\n  expected: n of at least 1, and a part from 0 to n-1"));
  EXPECT_EQ(error_text([&] { store.subset(std::vector<int64_t>{1, 3}, place); }),
            text(312, "subset: there is no observation 3", "\n  expected: indices of 0 to 2"));
  const Datastore stream(std::make_shared<ForwardOnly>());
  EXPECT_EQ(error_text([&] { stream.subset(std::vector<int64_t>{0}, place); }),
            text(312, "subset: this store cannot be read in any order",
                 "\n  help:     copy it into an array store, or let its source answer in any order"));
  EXPECT_EQ(error_text([&] { transform(store, nullptr, {}, place); }), text(315, "transform: there is no function"));
  const auto twice = [](const Observation& o, TransformContext&) { return Observation{o[0], o[0]}; };
  EXPECT_EQ(error_text([&] { transform(store, twice, {.variables = -1}, place); }),
            text(315, "transform: the number of variables is negative"));
  EXPECT_EQ(error_text([&] { transform(store, twice, {}, place).read(); }),
            text(315, "transform: the function returned 2 variables for observation 0",
                 "\n  expected: 1 variables"
                 "\n  help:     state the number in TransformOptions::variables"));
  EXPECT_EQ(error_text([] { combine({}, CombineOrder::associated, place); }), text(316, "combine: no store was given"));
  EXPECT_EQ(error_text([&] { combine({store, counting_store(4)}, CombineOrder::associated, place); }),
            text(316, "combine: store 0 has 3 observations, store 1 has 4",
                 "\n  expected: the same number in all stores"
                 "\n  help:     take a subset() of the longer one"));
  EXPECT_EQ(error_text([&] { combine({store, combine({store, store})}, CombineOrder::sequential, place); }),
            text(316, "combine: store 0 has 1 variables, store 1 has 2",
                 "\n  expected: the same variables in stores that follow each other"));
}

TEST(DataErrors, OfQueueOptions) {
  const auto made = [](MiniBatchQueueOptions options) {
    return error_text([&] { MiniBatchQueue(counting_store(4), options, place); });
  };
  EXPECT_EQ(made({.mini_batch_size = 0}),
            text(322, "mini-batch queue: mini_batch_size is 0", "\n  expected: at least 1"));
  EXPECT_EQ(made({.formats = {"B", "B"}}),
            text(322, "mini-batch queue: 2 formats for 1 output", "\n  expected: 1, or none"));
  EXPECT_EQ(made({.devices = {"cpu", "cpu"}}),
            text(322, "mini-batch queue: 2 devices for 1 output", "\n  expected: 1, one for all, or none"));
  EXPECT_EQ(made({.outputs = 2}), text(322, "mini-batch queue: 2 outputs from a store of 1 variables",
                                       "\n  help:     give a mini_batch_function that makes them"));
  EXPECT_EQ(made({.formats = {"BX"}}), text(323, "mini-batch queue: formats[0]: unknown label 'X' in \"BX\""));
  EXPECT_EQ(made({.formats = {"B"}, .labelled = {false}}),
            text(323, "mini-batch queue: formats[0] is \"B\", but labelled[0] is false",
                 "\n  help:     leave the format empty, or let the output keep its labels"));
}

TEST(DataErrors, OfQueues) {
  MiniBatchQueue queue(counting_store(2), {.mini_batch_size = 2});
  EXPECT_EQ(error_text([&] { queue.next<2>(place); }),
            text(327, "mini-batch queue: next: 2 outputs were asked for, and it has 1"));
  EXPECT_EQ(error_text([&] { queue.partition(3, 3, place); }),
            text(324, "mini-batch queue: partition: there is no part 3 of 3",
                 "\n  expected: n of at least 1, and a part from 0 to n-1"));
  EXPECT_EQ(error_text([&] { queue.share(Worker(), 0, place); }),
            text(325, "mini-batch queue: share: 0 shards", "\n  expected: at least 1"));
  EXPECT_EQ(error_text([&] { queue.share(Worker(), 1).share(Worker(), 1, place); }),
            text(325, "mini-batch queue: share: this queue is a worker's share already"));
  EXPECT_EQ(error_text([&] { queue.restore({0, 0, 3}, place); }),
            text(326, "mini-batch queue: restore: this queue cannot be at the saved position",
                 "\n  got:      shuffles 0, passes 0, next 3"
                 "\n  expected: 0 <= shuffles <= passes, 0 <= next <= 2"
                 "\n  help:     restore it with the data that it was saved with"));
  queue.next();
  EXPECT_EQ(error_text([&] { queue.next(place); }),
            text(328, "mini-batch queue: next: there is no mini-batch left, the end of the data is reached",
                 "\n  got:      2 of 2 observations delivered"
                 "\n  help:     call reset() for the same order again, or shuffle() for a new one; has_data() tells "
                 "beforehand"));
  const auto none = [](const std::vector<std::vector<Tensor>>&) { return std::vector<Tensor>(); };
  MiniBatchQueue wrong(counting_store(2), {.mini_batch_size = 2, .mini_batch_function = none});
  EXPECT_EQ(error_text([&] { wrong.next(place); }),
            text(329, "mini-batch queue: the mini_batch_function returned 0 tensors",
                 "\n  expected: 1, one for each output"));
}

TEST(DataErrors, OfQueuesOverStreams) {
  MiniBatchQueue queue(Datastore(std::make_shared<ForwardOnly>()), {});
  EXPECT_EQ(error_text([&] { queue.shuffle(place); }),
            text(324, "mini-batch queue: shuffle: this store cannot be shuffled",
                 "\n  help:     copy it into an array store, or use reset()"));
  EXPECT_EQ(error_text([&] { queue.partition(2, 0, place); }),
            text(324, "mini-batch queue: partition: this store cannot be parted",
                 "\n  help:     copy it into an array store"));
}

TEST(DataErrors, OfStackingAndFormats) {
  const std::vector<Tensor> unequal = {Tensor::zeros({2}), Tensor::zeros({3})};
  EXPECT_EQ(error_text([&] { stack_samples(unequal); }),
            "error[RT0321]: observations 0 and 1 of a mini-batch cannot be stacked\n"
            "  got:      f32[2] and f32[3]\n"
            "  expected: the same shape, type and labels for all\n"
            "  help:     pad or cut them in a transform, or stack them in a mini_batch_function");
  EXPECT_EQ(error_text([] { with_format(Tensor::zeros({2, 2}), "B", place); }),
            text(112, "labels \"B\" are fewer than the axes of [2,2]",
                 "\n  expected: 2 labels"
                 "\n  help:     write U for an axis without a meaning of its own"));
  EXPECT_EQ(error_text([] { random_order((int64_t{1} << 32) + 1, 1, "test", 0); }),
            "error[RT0314]: 4294967297 observations cannot be shuffled\n"
            "  expected: at most 4294967296");
}

TEST(DataErrors, OfDigits) {
  EXPECT_EQ(error_text([] { datasets::make_digits(Split::train, {.count = -1}, place); }),
            "error[RT0309]: digits: -1 images were asked for\n"
            "  where:    train.cpp:5\n"
            "  expected: 0 to 16777216");
  EXPECT_EQ(
      error_text([] { write_contact_sheet("sheet.png", datasets::make_digits(Split::train, {.count = 1}), 1, 0); }),
      "error[RT0310]: a contact sheet of 1 images in 0 columns\n"
      "  expected: at least one of both");
}

TEST(DataErrors, OfPeaks) {
  for (const int64_t side : {1, 4097})
    EXPECT_EQ(
        error_text([&] { datasets::peaks(Split::train, side, place); }),
        text(319, fmt::format("peaks: a grid of {} points a side was asked for", side), "\n  expected: 2 to 4096"));
}

TEST(DataErrors, OfIdxFiles) {
  const std::string small = "\0\0\x08\x01\0\0\0\x02"s + "ab";
  const auto read = [](const std::string& bytes, uint64_t limit = 100) {
    return error_text([&] { parse_idx(bytes, "some.idx", limit); });
  };
  EXPECT_EQ(read("\x89PNG"),
            "error[RT0301]: IDX file \"some.idx\" does not begin like an IDX file\n"
            "  got:      89 50 4e 47\n"
            "  expected: 00 00, the element type, the number of axes");
  EXPECT_EQ(read("\0\0\x0b\x01"s),
            "error[RT0302]: IDX file \"some.idx\" has the element type 0x0b, which is not read\n"
            "  got:      00 00 0b 01\n"
            "  expected: 0x08 (u8), 0x0c (i32), 0x0d (f32) or 0x0e (f64)");
  EXPECT_EQ(read("\0\0\x08\x09"s),
            "error[RT0303]: IDX file \"some.idx\" declares 9 axes\n"
            "  expected: 1 to 8 axes");
  EXPECT_EQ(read(small.substr(0, 9)),
            "error[RT0304]: IDX file \"some.idx\" is truncated\n"
            "  got:      9 bytes\n"
            "  expected: 10 bytes: a header of 8 and 2 for u8[2]\n"
            "  help:     fetch the file again");
  EXPECT_EQ(read(small + "c"),
            "error[RT0305]: IDX file \"some.idx\" has bytes after its values\n"
            "  got:      11 bytes\n"
            "  expected: 10 bytes: a header of 8 and 2 for u8[2]");
  const std::string packed = gzip(small) + "c";
  EXPECT_EQ(read(packed),
            fmt::format("error[RT0306]: IDX file \"some.idx\" is compressed by gzip, and the compression is damaged: "
                        "other bytes follow the compressed ones\n"
                        "  got:      10 good bytes from {} compressed ones\n"
                        "  help:     fetch or compress the file again",
                        packed.size()));
  EXPECT_EQ(read(small, 1),
            "error[RT0307]: IDX file \"some.idx\" declares more values than are read\n"
            "  got:      u8[2]\n"
            "  expected: at most 1 bytes");
}

TEST(DataErrors, OfArraysThatIdxCannotSay) {
  EXPECT_EQ(error_text([] { idx_bytes({DType::boolean, {1}, std::vector<std::byte>(1)}); }),
            "error[RT0308]: IDX has no element type for bool\n"
            "  expected: u8, i32, f32 or f64\n"
            "  help:     cast the values first");
  EXPECT_EQ(error_text([] { idx_bytes({DType::u8, {}, std::vector<std::byte>(1)}); }),
            "error[RT0308]: IDX needs at least one axis, and the shape is []");
  EXPECT_EQ(error_text([] { idx_bytes({DType::u8, {0, int64_t{1} << 32}, {}}); }),
            "error[RT0308]: the shape [0,4294967296] does not fit into IDX\n"
            "  expected: sizes of 0 to 4294967295");
}

TEST(DataErrors, OfImageSets) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("retrace_image_set_{}", getpid());
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, const Shape& shape, uint8_t value) {
    write_idx(folder / name, {DType::u8, shape, std::vector(static_cast<size_t>(shape.count()), std::byte{value})});
    return (folder / name).string();
  };
  const std::string images = write("images", {2, 1, 1}, 0), empty = write("empty", {0, 1, 1}, 0),
                    labels = write("labels", {2}, 10), three = write("three", {3}, 0);
  const auto read = [](const std::string& a, const std::string& b) {
    return error_text([&] { read_image_set(a, b, 10); });
  };
  EXPECT_EQ(read(labels, labels), "error[RT0318]: IDX file \"" + labels +
                                      "\" does not hold images\n"
                                      "  got:      u8[2]\n"
                                      "  expected: u8[images,height,width]");
  EXPECT_EQ(read(images, images), "error[RT0318]: IDX file \"" + images +
                                      "\" does not hold labels\n"
                                      "  got:      u8[2,1,1]\n"
                                      "  expected: u8[images]");
  EXPECT_EQ(read(empty, labels), "error[RT0318]: IDX file \"" + empty +
                                     "\" holds no pixels\n"
                                     "  got:      u8[0,1,1]");
  EXPECT_EQ(read(images, three), "error[RT0318]: IDX file \"" + three +
                                     "\" has 3 labels for 2 images\n"
                                     "  got:      images from \"" +
                                     images +
                                     "\"\n"
                                     "  expected: one label for each image");
  EXPECT_EQ(read(images, labels), "error[RT0318]: IDX file \"" + labels +
                                      "\" has the label 10 at index 0\n"
                                      "  expected: labels of 0 to 9");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace retrace
