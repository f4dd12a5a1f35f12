// Ops of tensors of bf16, f16 and i64.
#include <gtest/gtest.h>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/attention/attention.h"
#include "retrace/ops/cast/cast.h"
#include "retrace/ops/concatenate/concatenate.h"
#include "retrace/ops/custom_gradient/custom_gradient.h"
#include "retrace/ops/embedding/embedding.h"
#include "retrace/ops/gather_rows/gather_rows.h"
#include "retrace/ops/matmul/matmul.h"
#include "retrace/ops/max/max.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/random/random.h"
#include "retrace/ops/rotary_embedding/rotary_embedding.h"
#include "retrace/ops/round/round.h"
#include "retrace/ops/slice/slice.h"
#include "retrace/ops/softmax/softmax.h"
#include "retrace/ops/sum/sum.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/ops/transpose/transpose.h"

namespace retrace {
namespace {

Tensor drawn(const Shape& shape, uint64_t seed) { return normal(shape, random_key(seed)); }

std::vector<float> f32_values(const Tensor& x) { return cast(x, DType::f32).to_vector<float>(); }

// Rounds forwards; backwards it is not there.
Tensor round_through(const Tensor& x) {
  return custom_gradient([](const Tree& of) -> Tree { return round(of.tensor()); },
                         [](const Tree&, const Tree&, const Tree& dy) -> Tree { return dy; }, x)
      .tensor();
}

TEST(StoredTypes, are_computed_in_f32_and_rounded_once) {
  for (const DType type : {DType::bf16, DType::f16}) {
    const Tensor a = cast(drawn({37, 300}, 1), type), b = cast(drawn({300, 19}, 2), type);
    const Tensor wide_a = cast(a, DType::f32), wide_b = cast(b, DType::f32);
    const auto same = [&](const Tensor& half, const Tensor& wide) {
      EXPECT_EQ(half.type(), type);
      EXPECT_EQ(f32_values(half), f32_values(cast(wide, type)));
    };
    same(sum(a), sum(wide_a));
    same(matmul(a, b), matmul(wide_a, wide_b));
    same(softmax(a, 1), softmax(wide_a, 1));
    same(a * a, wide_a * wide_a);
    same(a + 0.5f, wide_a + 0.5f);
    same(rotary_embedding(a), rotary_embedding(wide_a));
    same(attention(a, a, a), attention(wide_a, wide_a, wide_a));
    same(round_through(a), round_through(wide_a));
    EXPECT_EQ((a < 0.5f).type(), DType::boolean);
  }
}

TEST(StoredTypes, move_as_they_are) {
  // NaNs with bits of their own stay what they are: nobody computed them.
  std::vector<BFloat16> bits;
  for (int i = 0; i < 24; ++i) bits.push_back({static_cast<uint16_t>(0x7f81 + i)});
  const Tensor x = Tensor::from(bits, {4, 6});
  const Tensor there = transpose(concatenate({slice(x, {.end = {2, 6}}), slice(x, {.begin = {2, 0}})}, 0));
  EXPECT_EQ(transpose(there).to_vector<BFloat16>(), bits);
  const Tensor rows = gather_rows(x, Tensor::from<int32_t>({3, 0}, {2}));
  EXPECT_EQ(rows.to_vector<BFloat16>()[0], bits[18]);
}

TEST(StoredTypes, have_gradients_of_their_own_type) {
  Tree parameters;
  parameters["w"] = cast(drawn({8, 4}, 3), DType::bf16);
  const Tensor x = cast(drawn({5, 8}, 4), DType::bf16);
  auto step = value_and_grad([&](const Tree& p) { return sum(cast(matmul(x, p["w"].tensor()), DType::f32)); });
  const auto made = step(parameters);
  const Tensor gradient = made.gradients["w"].tensor();
  EXPECT_EQ(gradient.type(), DType::bf16);
  const Tensor ones = Tensor::ones({5, 4});
  EXPECT_EQ(f32_values(gradient), f32_values(cast(matmul(transpose(cast(x, DType::f32)), ones), DType::bf16)));
}

TEST(StoredTypes, two_types_of_floats_are_refused) {
  const Tensor a = Tensor::ones({2}, DType::bf16), b = Tensor::ones({2});
  EXPECT_EQ(error_text([&] { add(a, b, Place()); }),
            "error[RT0132]: add: the arguments have the types bf16 and f32\n"
            "  got:      bf16[2] and f32[2]\n"
            "  expected: one type\n"
            "  help:     cast(x, DType::f32)");
}

TEST(StoredTypes, i64_is_computed_by_ops_of_integers) {
  const Tensor x = Tensor::from_i64(std::vector<int64_t>{int64_t{1} << 40, -5, 7}, {3});
  EXPECT_EQ((x * x).to_vector<int64_t>()[1], 25);
  EXPECT_EQ((x + x).to_vector<int64_t>()[0], int64_t{1} << 41);
  EXPECT_EQ(sum(x).item<int64_t>(), (int64_t{1} << 40) + 2);
  EXPECT_EQ(max(x).item<int64_t>(), int64_t{1} << 40);
  EXPECT_EQ(min(x).item<int64_t>(), -5);
  EXPECT_EQ((x < 0).to_vector<uint8_t>(), (std::vector<uint8_t>{0, 1, 0}));
  EXPECT_EQ(sum(x).type(), DType::i64);
  EXPECT_EQ(error_text([&] { matmul(x, x); }).substr(0, 42), "error[RT0473]: matmul does not compute i64");
}

TEST(StoredTypes, i64_is_an_index) {
  const Tensor table = drawn({6, 3}, 5);
  const Tensor index = Tensor::from_i64(std::vector<int64_t>{5, 0, 2}, {3});
  EXPECT_EQ(embedding(index, table).to_vector<float>(), embedding(cast(index, DType::i32), table).to_vector<float>());
  const Tensor outside = Tensor::from_i64(std::vector<int64_t>{int64_t{1} << 32}, {1});  // no 0 by its low bits
  EXPECT_NE(error_text([&] { gather_rows(table, outside).to_vector<float>(); }).find("2147483647"), std::string::npos);
}

}  // namespace
}  // namespace retrace
