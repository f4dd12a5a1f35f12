#include "retrace/data/array_store.h"

#include <gtest/gtest.h>

namespace retrace {
namespace {

std::string message_of(std::vector<Tensor> arrays, const ArrayStoreOptions& options = {}) {
  try {
    array_store(std::move(arrays), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

Tensor gathered(const Datastore& store, std::vector<int64_t> indices) {
  return store.source()->gather(indices, 0, 1)[0];
}

TEST(ArrayStore, SlicesAlongTheBatchAxis) {
  const Datastore store =
      array_store({Tensor::from<float>({1, 2, 3, 4, 5, 6}, {3, 2}, "BC"), Tensor::from<int32_t>({7, 8, 9}, {3}, "B")});
  EXPECT_EQ(store.size(), 3);
  EXPECT_EQ(store.variables(), 2);
  const Observation one = store.get(1);
  EXPECT_EQ(one[0].spec().text(), "f32[2] \"C\"");
  EXPECT_EQ(one[0].to_vector<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(one[1].rank(), 0);
  EXPECT_EQ(one[1].item<int32_t>(), 8);
}

TEST(ArrayStore, GathersWhatStackingWouldGive) {
  const Datastore store =
      array_store({Tensor::from<float>({1, 2, 3, 4, 5, 6}, {3, 2}, "BC"), Tensor::from<int32_t>({7, 8, 9}, {3})});
  const std::vector<int64_t> indices = {2, 0, 2};
  const auto fast = store.source()->gather(indices, 0, 2);
  const auto plain = store.source()->DataSource::gather(indices, 0, 2);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(fast[i].spec(), plain[i].spec());
  EXPECT_EQ(fast[0].to_vector<float>(), (std::vector<float>{5, 6, 1, 2, 5, 6}));
  EXPECT_EQ(plain[0].to_vector<float>(), fast[0].to_vector<float>());
  EXPECT_EQ(fast[1].to_vector<int32_t>(), (std::vector<int32_t>{9, 7, 9}));
  EXPECT_EQ(fast[1].labels(), "B");
}

TEST(ArrayStore, AnyAxisCanBeTheIterationAxis) {
  // Two by two by three: observations stand along the last axis.
  const Tensor array = Tensor::from<int32_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {2, 2, 3});
  const Datastore store = array_store({array}, {.iteration_axis = 2});
  EXPECT_EQ(store.size(), 3);
  EXPECT_EQ(store.get(1)[0].shape(), (Shape{2, 2}));
  EXPECT_EQ(store.get(1)[0].to_vector<int32_t>(), (std::vector<int32_t>{1, 4, 7, 10}));
  const Datastore middle = array_store({array}, {.iteration_axis = 1});
  EXPECT_EQ(middle.get(1)[0].to_vector<int32_t>(), (std::vector<int32_t>{3, 4, 5, 9, 10, 11}));
  // Labelled, without B: the chosen axis becomes the batch.
  const Tensor labelled = Tensor::from<int32_t>({0, 1, 2, 3}, {2, 2}, "SC");
  const Datastore columns = array_store({labelled}, {.iteration_axis = 1});
  EXPECT_EQ(gathered(columns, {1}).spec().text(), "i32[1,2] \"BS\"");
  EXPECT_EQ(gathered(columns, {1}).to_vector<int32_t>(), (std::vector<int32_t>{1, 3}));
}

TEST(ArrayStore, ScalesBytesByDivision) {
  const Datastore store = array_store({Tensor::from<uint8_t>({0, 51, 128, 255}, {2, 2})}, {.scale_bytes = true});
  EXPECT_EQ(store.get(1)[0].to_vector<float>(), (std::vector<float>{128.0f / 255.0f, 1.0f}));
  EXPECT_EQ(gathered(store, {0}).to_vector<float>(), (std::vector<float>{0.0f, 51.0f / 255.0f}));
}

TEST(ArrayStore, EmptyArraysAreEmptyStores) {
  const Datastore store = array_store({Tensor::zeros({0, 3})});
  EXPECT_EQ(store.size(), 0);
  EXPECT_FALSE(store.has_data());
  EXPECT_EQ(gathered(store, {}).shape(), (Shape{0, 3}));
  EXPECT_EQ(gathered(array_store({Tensor::zeros({2, 0})}), {1, 0}).shape(), (Shape{2, 0}));
}

TEST(ArrayStore, WrongArraysAreRefused) {
  EXPECT_TRUE(says(message_of({}), "no array was given"));
  EXPECT_TRUE(says(message_of({Tensor::scalar(1.0f)}), "iteration_axis of array 0: axis 0 does not exist"));
  EXPECT_TRUE(says(message_of({Tensor::zeros({2, 2})}, {.iteration_axis = 2}), "axis 2 does not exist"));
  EXPECT_TRUE(says(message_of({Tensor::zeros({2, 2}, DType::f32, "BC")}, {.iteration_axis = 1}), "labelled B"));
  const std::string text = message_of({Tensor::zeros({3, 1}), Tensor::zeros({4})});
  EXPECT_TRUE(says(text, "array 0 has 3 observations, array 1 has 4")) << text;
}

TEST(ImageSetStore, GivesImagesLabelsAndAngles) {
  ImageSet set{2, 1, 2, {0, 255, 51, 0}, {3, 4}, {-1.5f, 2.0f}};
  const Datastore store = image_set_store(set);
  EXPECT_EQ(store.get(0)[0].spec().text(), "f32[1,2,1] \"SSC\"");
  EXPECT_EQ(store.get(1)[0].to_vector<float>(), (std::vector<float>{0.2f, 0.0f}));
  EXPECT_EQ(store.get(1)[1].item<int32_t>(), 4);
  EXPECT_EQ(store.get(0)[2].spec().text(), "f32[1] \"C\"");
  EXPECT_EQ(store.get(0)[2].item<float>(), -1.5f);
  set.angles.clear();
  EXPECT_EQ(image_set_store(set).variables(), 2);
}

}  // namespace
}  // namespace retrace
