// Elements of a broadcast, from any place on, whatever repeats in it.
#include "retrace/plan/programs/tile_load.h"

#include <gtest/gtest.h>

#include <vector>

namespace retrace {
namespace {

// The element of `from` that stands at element i of the broadcast.
int64_t source_of_broadcast(const Shape& from, const Shape& to, int64_t i) {
  const Shape strides = row_major_strides(from);
  int64_t at = 0;
  i %= to.count();
  for (int axis = to.rank() - 1; axis >= 0; --axis) {
    const int64_t index = i % to[axis];
    i /= to[axis];
    const int own = axis - (to.rank() - from.rank());
    if (own >= 0 && from[own] > 1) at += index * strides[own];
  }
  return at;
}

template <class T>
void expect_loads(DType type, const Shape& from, const Shape& to) {
  std::vector<T> elements(static_cast<size_t>(from.count()));
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = static_cast<T>(type == DType::boolean ? i % 3 == 0 : i % 251);
  const BroadcastLoad load(type, from, to);
  const int64_t all = to.count();
  for (int64_t begin : {int64_t{0}, int64_t{1}, all / 3, all / 2 + 5})
    for (int64_t count : {int64_t{1}, int64_t{31}, int64_t{512}, all - begin}) {
      if (begin + count > all) continue;
      std::vector<float> made(static_cast<size_t>(count) + 1, -7.0f);
      load.load(elements.data(), made.data(), begin, count);
      for (int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<size_t>(source_of_broadcast(from, to, begin + i));
        ASSERT_EQ(made[static_cast<size_t>(i)], static_cast<float>(elements[at]))
            << from << to << " element " << i << " from " << begin << " of " << count;
      }
      EXPECT_EQ(made.back(), -7.0f) << "behind the elements";
    }
}

TEST(TileLoad, FindsElementsThatLieInARow) {
  std::vector<float> elements(24);
  const float* const x = elements.data();
  const BroadcastLoad tiled(DType::f32, {1, 12}, {3, 12}), rows(DType::f32, {2, 1, 12}, {2, 5, 12});
  EXPECT_EQ(tiled.in_row(x, 0, 12), x);
  EXPECT_EQ(tiled.in_row(x, 12 + 3, 9), x + 3);
  EXPECT_EQ(tiled.in_row(x, 12 + 3, 10), nullptr) << "the last one is the first element again";
  EXPECT_EQ(rows.in_row(x, 60 + 24 + 2, 10), x + 12 + 2);
  EXPECT_EQ(BroadcastLoad(DType::f32, {24, 1}, {24, 5}).in_row(x, 0, 5), nullptr) << "equal elements";
  EXPECT_EQ(BroadcastLoad(DType::bf16, {1, 12}, {3, 12}).in_row(x, 0, 12), nullptr) << "halves are converted";
  EXPECT_EQ(BroadcastLoad(DType::f32, {}, {}).in_row(x, 0, 1), nullptr);
}

TEST(TileLoad, KnowsWhereTheSameElementsStand) {
  const BroadcastLoad load(DType::f32, {3, 1, 4, 1}, {3, 50, 4, 8});  // 32 elements, 50 times
  EXPECT_EQ(load.content(0, 512), load.content(512, 512));
  EXPECT_EQ(load.content(5, 64), load.content(32 + 5, 64));
  EXPECT_NE(load.content(0, 512), load.content(8, 512)) << "another element of the row";
  EXPECT_NE(load.content(0, 512), load.content(1600, 512)) << "another sample";
  EXPECT_EQ(load.content(1600 - 32, 512), -1) << "two samples";
  EXPECT_EQ(BroadcastLoad(DType::f32, {3, 1}, {3, 600}).content(0, 512), -1) << "nothing is known";
}

TEST(TileLoad, LoadsWhatRepeats) {
  for (const auto& [from, to] : std::vector<std::pair<Shape, Shape>>{{{3, 1, 4, 1}, {3, 50, 4, 8}},
                                                                     {{3, 1, 1, 7}, {3, 11, 13, 7}},
                                                                     {{2, 3, 1, 5}, {2, 3, 100, 5}},
                                                                     {{5, 1, 256}, {5, 4, 256}},
                                                                     {{5, 1, 257}, {5, 4, 257}},
                                                                     {{6, 1, 3}, {6, 3, 3}},
                                                                     {{9, 1, 2, 1, 2}, {9, 7, 2, 5, 2}},
                                                                     {{40, 1}, {40, 30}},
                                                                     {{21, 1}, {21, 70}},
                                                                     {{3, 1}, {3, 700}},
                                                                     {{30}, {40, 30}}}) {
    expect_loads<float>(DType::f32, from, to);
    expect_loads<uint8_t>(DType::u8, from, to);
    expect_loads<uint8_t>(DType::boolean, from, to);
  }
  for (int64_t run = 2; run < 40; ++run) expect_loads<float>(DType::f32, {100, 1}, {100, run});
}

}  // namespace
}  // namespace retrace
