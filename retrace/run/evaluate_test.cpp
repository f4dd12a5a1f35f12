#include <gtest/gtest.h>

#include "retrace/ops/gather_rows/gather_rows.h"
#include "retrace/ops/operators.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

// The text of the error of a row that does not exist, which that line looks up.
std::string error_at(const char* file) {
  const Tensor table = Tensor::arange(3 * 17), rows = Tensor::from<int32_t>({0, 7}, {2});
  return error_text([&] { gather_rows(reshape(table, {3, 17}), rows, {file, 5}).to_vector<float>(); });
}

TEST(Evaluate, AnErrorOfAValueNamesItsOwnLine) {
  // The plan of the second is that of the first.
  for (const char* file : {"first.cpp", "second.cpp", "first.cpp"}) {
    const std::string text = error_at(file);
    EXPECT_NE(text.find("error[RT0177]: gather_rows: row 7 at [1] does not exist"), std::string::npos) << text;
    EXPECT_NE(text.find(std::string("where:    ") + file + ":5"), std::string::npos) << text;
  }
}

TEST(Evaluate, GoesOnAfterAnError) {
  error_at("first.cpp");
  EXPECT_EQ((Tensor::ones({2}) + Tensor::ones({2})).to_vector<float>(), (std::vector<float>{2, 2}));
}

}  // namespace
}  // namespace retrace
