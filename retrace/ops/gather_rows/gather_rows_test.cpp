#include "retrace/ops/gather_rows/gather_rows.h"

#include <gtest/gtest.h>

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

const CaseFunction kGather = [](const std::vector<Tensor>& in) {
  return std::vector<Tensor>{gather_rows(in[0], in[1])};
};
CaseFunction scatter(int64_t rows) {
  return [=](const std::vector<Tensor>& in) { return std::vector<Tensor>{scatter_rows(in[0], in[1], rows)}; };
}
CaseFunction scatter_magnitude(int64_t rows) {
  return [=](const std::vector<Tensor>& in) {
    auto values = in[0].to_vector<double>();
    for (double& x : values) x = x < 0 ? -x : x;
    return std::vector<Tensor>{scatter_rows(Tensor::from_bytes(values.data(), in[0].spec()), in[1], rows)};
  };
}
CaseInput index(Shape shape, double rows, std::string labels = "") {
  return {.shape = shape, .low = 0, .high = rows, .type = DType::i32, .labels = labels};
}

OP_EXAMPLE(gather_rows, gather_rows(reshape(Tensor::arange(6), {3, 2}), Tensor::from({2, 0}, {2})));
OP_EXAMPLE(scatter_rows, scatter_rows(Tensor::from<float>({1, 2, 3, 4}, {2, 2}), Tensor::from({2, 0}, {2}), 3));

OP_CASES(gather_rows) {
  return {
      {.op = "gather_rows", .name = "odd", .inputs = {{.shape = {5, 3}}, index({7}, 5)}, .build = kGather},
      {.op = "gather_rows", .name = "labelled", .inputs = {{.shape = {5, 3}}, index({7}, 5, "B")}, .build = kGather},
      {.op = "gather_rows", .name = "numbers", .inputs = {{.shape = {5}}, index({2, 3}, 5)}, .build = kGather},
      {.op = "gather_rows", .name = "planes", .inputs = {{.shape = {4, 2, 3}}, index({2, 3}, 4)}, .build = kGather},
      {.op = "gather_rows", .name = "one", .inputs = {{.shape = {1, 1}}, index({}, 1)}, .build = kGather},
      {.op = "gather_rows", .name = "no_index", .inputs = {{.shape = {5, 3}}, index({0}, 5)}, .build = kGather},
      {.op = "gather_rows", .name = "many", .inputs = {{.shape = {3, 70}}, index({2000}, 3)}, .build = kGather},
      {.op = "gather_rows",
       .name = "exact",
       .inputs = {{.shape = {2, 2}, .type = DType::u8, .values = {1, 2, 3, 4}},
                  {.shape = {3}, .type = DType::i32, .values = {1, 0, 1}}},
       .build = kGather,
       .expected = {3, 4, 1, 2, 3, 4},
       .differentiable = false},
      {.op = "scatter_rows",
       .name = "odd",
       .inputs = {{.shape = {7, 3}}, index({7}, 5)},
       .build = scatter(5),
       .bound = {.relative = 1e-6},
       .magnitude = scatter_magnitude(5)},
      {.op = "scatter_rows", .name = "empty", .inputs = {{.shape = {0, 3}}, index({0}, 5)}, .build = scatter(5)},
      {.op = "scatter_rows",
       .name = "planes",
       .inputs = {{.shape = {2, 3, 5}}, index({2, 3}, 4)},
       .build = scatter(4),
       .bound = {.relative = 1e-6},
       .magnitude = scatter_magnitude(4)},
      {.op = "scatter_rows",
       .name = "many",
       .inputs = {{.shape = {3000, 70}}, index({3000}, 3)},
       .build = scatter(3),
       .bound = {.relative = 1e-5},
       .magnitude = scatter_magnitude(3)},
  };
}

// Blocks of 256 occurrences and the tree, written out.
float in_contract_order(const std::vector<float>& terms) {
  std::vector<float> blocks;
  for (size_t begin = 0; begin < terms.size(); begin += 256) {
    float sum = 0;
    for (size_t i = begin; i < std::min(begin + 256, terms.size()); ++i) sum = sum + terms[i];
    blocks.push_back(sum);
  }
  const auto tree = [&](auto&& self, size_t first, size_t count) -> float {
    if (count == 1) return blocks[first];
    size_t left = 1;
    while (2 * left < count) left *= 2;
    return self(self, first, left) + self(self, first + left, count - left);
  };
  return tree(tree, 0, blocks.size());
}

TEST(ScatterRows, adds_blocks_of_256_occurrences_by_the_tree) {
  for (int count : {1, 256, 257, 700, 1500, 2049}) {
    std::vector<float> x, of_row;
    std::vector<int32_t> index;
    uint32_t state = 1;
    while (static_cast<int>(of_row.size()) < count) {
      state = state * 1664525u + 1013904223u;
      x.push_back(static_cast<float>(state >> 8) * 0x1p-24f - 0.3f);
      index.push_back((state >> 4) % 3 == 0 ? 0 : 1);
      if (index.back() == 1) of_row.push_back(x.back());
    }
    const auto size = static_cast<int64_t>(x.size());
    const auto y = scatter_rows(Tensor::from(x, {size, 1}), Tensor::from(index, {size}), 2).to_vector<float>();
    EXPECT_EQ(y[1], in_contract_order(of_row)) << count;
  }
}

TEST(GatherRows, names_the_row_that_does_not_exist) {
  const auto table = Tensor::zeros({3, 2}), index = Tensor::from<int32_t>({0, -1}, {2});
  EXPECT_EQ(error_text([&] { gather_rows(table, index, {"model.cpp", 7}).to_vector<float>(); }),
            "error[RT0177]: gather_rows: row -1 at [1] does not exist\n"
            "  where:    model.cpp:7\n"
            "  got:      i32[2]\n"
            "  expected: values from 0 to 2\n"
            "  help:     rows are counted from 0; the vocabulary of an embedding is above its largest class number");
}

TEST(GatherRows, refuses_a_float_index_and_a_table_without_axes) {
  EXPECT_EQ(error_text([] { gather_rows(Tensor::zeros({3, 2}), Tensor::zeros({2}), {"model.cpp", 7}); }),
            "error[RT0131]: gather_rows: the index is f32\n"
            "  where:    model.cpp:7\n"
            "  got:      the index f32[2]\n"
            "  expected: i32\n"
            "  help:     cast(the index, DType::i32)");
  EXPECT_EQ(error_text([] { gather_rows(Tensor::zeros({}), Tensor::zeros({2}, DType::i32), {"model.cpp", 7}); }),
            "error[RT0133]: gather_rows: the table has no axes\n"
            "  where:    model.cpp:7\n"
            "  got:      table f32[]\n"
            "  expected: 1 axis or more, the first counting rows");
}

TEST(ScatterRows, refuses_axes_that_do_not_fit) {
  EXPECT_EQ(
      error_text([] { scatter_rows(Tensor::zeros({3, 2}), Tensor::zeros({4}, DType::i32), 5, {"model.cpp", 7}); }),
      "error[RT0179]: scatter_rows: the first axes of x are not those of the index\n"
      "  where:    model.cpp:7\n"
      "  got:      x f32[3,2] and the index i32[4]\n"
      "  expected: x of shape [4] and the axes of a row");
}

TEST(ScatterRows, refuses_other_types_and_a_negative_number_of_rows) {
  const auto index = Tensor::zeros({4}, DType::i32);
  EXPECT_EQ(error_text([&] { scatter_rows(Tensor::zeros({4}, DType::i32), index, 5, {"model.cpp", 7}); }),
            "error[RT0131]: scatter_rows: x is i32\n"
            "  where:    model.cpp:7\n"
            "  got:      x i32[4]\n"
            "  expected: f32 or f64\n"
            "  help:     cast(x, DType::f32)");
  EXPECT_EQ(error_text([&] { scatter_rows(Tensor::zeros({4}), Tensor::zeros({4}), 5, {"model.cpp", 7}); }),
            "error[RT0131]: scatter_rows: the index is f32\n"
            "  where:    model.cpp:7\n"
            "  got:      the index f32[4]\n"
            "  expected: i32\n"
            "  help:     cast(the index, DType::i32)");
  EXPECT_EQ(error_text([&] { scatter_rows(Tensor::zeros({4}), index, -1, {"model.cpp", 7}); }),
            "error[RT0102]: scatter_rows: a table has -1 rows\n"
            "  where:    model.cpp:7\n"
            "  got:      x f32[4]\n"
            "  expected: 0 rows or more");
}

}  // namespace
}  // namespace retrace
