#include "retrace/ops/embedding/embedding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(embedding, embedding(Tensor::from({2, 0, 1}, {1, 3}), reshape(Tensor::arange(6), {3, 2})));

OP_CASES(embedding) {
  const auto with = [](const char* name, Shape shape, DType type, const char* labels, Shape table) {
    CaseInput x{.shape = std::move(shape), .type = type, .labels = labels, .fixed = true};
    for (int i = 0; i < 37; ++i) x.values.push_back(static_cast<double>((i * i + 3) % table[0]));
    return OpCase{.op = "gather_rows",
                  .name = name,
                  .inputs = {std::move(x), {.shape = std::move(table)}},
                  .build = [](const auto& in) { return std::vector<Tensor>{embedding(in[0], in[1])}; },
                  .gradient = {.ulp = 4, .relative = 1e-5}};
  };
  return {with("embedding", {6}, DType::i32, "B", {5, 3}),
          with("embedding_of_sequences", {7, 11}, DType::i32, "BT", {9, 17}),
          with("embedding_of_columns", {40, 3}, DType::f32, "BC", {6, 4}),
          with("embedding_of_u8", {4, 3, 5}, DType::u8, "", {7, 2}),
          with("embedding_of_one", {}, DType::i32, "", {2, 3}),
          with("embedding_of_none", {0, 4}, DType::i32, "BT", {2, 3})};
}

const Tensor kTable = Tensor::from<float>({1, 2, 10, 20, 100, 200}, {3, 2});

TEST(Embedding, looks_rows_up_for_any_type_of_whole_numbers) {
  const std::vector<float> expected{100, 200, 1, 2, 10, 20, 100, 200};
  const Tensor x = Tensor::from<int32_t>({2, 0, 1, 2}, {2, 2}, "BT");
  const Tensor y = embedding(x, kTable);
  EXPECT_EQ(y.to_vector<float>(), expected);
  EXPECT_EQ(y.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(y.labels(), "BTC");
  EXPECT_EQ(embedding(Tensor::from<uint8_t>({2, 0, 1, 2}, {4}, "B"), kTable).labels(), "BC");
  const Tensor columns = embedding(Tensor::from<float>({2, -0.0f, 1, 2}, {2, 2}, "BC"), kTable);
  EXPECT_EQ(columns.to_vector<float>(), expected);
  EXPECT_EQ(columns.labels(), "BTC");
  EXPECT_EQ(embedding(Tensor::from<double>({2, 0, 1, 2}, {4}), kTable).to_vector<float>(), expected);
}

TEST(Embedding, says_what_is_not_in_the_table) {
  const Place place{"train.cpp", 5};
  const auto looked_up = [&](const Tensor& x) {
    return error_text([&] { embedding(x, kTable, place).to_vector<float>(); });
  };
  EXPECT_EQ(looked_up(Tensor::from<int32_t>({0, 1, 2, 3}, {2, 2}, "BT")),
            "error[RT0177]: gather_rows: row 3 at [1,1] does not exist\n"
            "  where:    train.cpp:5\n"
            "  got:      i32[2,2] \"BT\"\n"
            "  expected: values from 0 to 2\n"
            "  help:     rows are counted from 0; the vocabulary of an embedding is above its largest class number");
  for (const float wrong : {0.5f, -1.0f, std::nanf("")}) {
    const std::string text = looked_up(Tensor::from<float>({0, wrong}, {2}, "B"));
    EXPECT_NE(text.find("gather_rows: row -1 at [1] does not exist"), std::string::npos) << text;
  }
  EXPECT_NE(looked_up(Tensor::from<float>({INFINITY}, {1})).find("row 2147483647 at [0]"), std::string::npos);
}

TEST(Embedding, says_what_does_not_fit) {
  const Place place{"train.cpp", 5};
  EXPECT_EQ(error_text([&] { embedding(Tensor::zeros({2}, DType::boolean), kTable, place); }),
            "error[RT0131]: embedding: x is bool\n"
            "  where:    train.cpp:5\n"
            "  got:      x bool[2]\n"
            "  expected: i32, u8 or i64, or whole numbers of a float type\n"
            "  help:     cast(x, DType::i32)");
  EXPECT_EQ(error_text([&] { embedding(Tensor::zeros({2}, DType::i32), Tensor::zeros({2}), place); }),
            "error[RT0205]: embedding: the table does not fit\n"
            "  where:    train.cpp:5\n"
            "  got:      table f32[2]\n"
            "  expected: a table [vocabulary,features] of type f32 or f64");
}

}  // namespace
}  // namespace retrace
