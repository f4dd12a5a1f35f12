// Values that kernels cannot compute with are errors on a CUDA device (emulated where no other is asked for) as they
// are on the CPU: the same text (but that tensors are "on cuda:0") at the next read, once; then all goes on.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>

#include "retrace/ops/op.h"
#include "retrace/retrace.h"

namespace retrace {
namespace {

[[maybe_unused]] const int emulated = setenv("RETRACE_CUDA_EMULATION", "1", 0);

std::string text_of_failure(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    std::string text = error.what();
    if (const size_t at = text.find(" on cuda:0"); at != std::string::npos) text.erase(at, 10);
    return text;
  }
  return "no error";
}

Tensor whole(const std::vector<int32_t>& values) { return Tensor::from(values, {static_cast<int64_t>(values.size())}); }
Tensor one_row(const std::vector<int32_t>& values) {
  return Tensor::from(values, {1, static_cast<int64_t>(values.size())});
}
Tensor bytes(const std::vector<uint8_t>& values) { return Tensor::from(values, {static_cast<int64_t>(values.size())}); }
Tensor ones(const Shape& shape) { return Tensor::full(1, shape); }

using Function = std::function<Tensor(const std::vector<Tensor>&)>;
const Place kPlace{"model.cpp", 7};

Tensor gather(const std::vector<Tensor>& in) { return gather_rows(in[0], in[1], kPlace); }
Tensor encode(const std::vector<Tensor>& in) { return one_hot(in[0], 3, kPlace); }
Tensor classify(const std::vector<Tensor>& in) { return softmax_cross_entropy(in[0], one_hot(in[1], 3, kPlace)); }
Tensor classify_numbers(const std::vector<Tensor>& in) { return softmax_cross_entropy(in[0], in[1], kPlace); }
Tensor quotient(const std::vector<Tensor>& in) { return divide(in[0], in[1], kPlace); }
Tensor rest(const std::vector<Tensor>& in) { return remainder(in[0], in[1], kPlace); }
Tensor take_in_lines(const std::vector<Tensor>& in) { return take_along_axis(in[0], 1, in[1], kPlace); }
Tensor add_to_lines(const std::vector<Tensor>& in) { return scatter_add(in[0], 0, in[1], in[2], kPlace); }
Function scatter(int64_t rows) {
  return [=](const std::vector<Tensor>& in) { return scatter_rows(in[0], in[1], rows, kPlace); };
}

// A function, arguments that it refuses, and others that it does not.
struct Case {
  std::string name, op;
  Function make;
  std::vector<Tensor> bad, good;
  std::string said = op;  // the function that the error names
};

std::vector<Case> cases() {
  std::vector<int32_t> some(700, 1), all(70'000, 3), numbers(70'000);
  std::iota(numbers.begin(), numbers.end(), 1);
  std::vector<int32_t> bad_some = some, bad_all = all;
  bad_some[300] = 5, bad_some[650] = -7;
  bad_all[60'000] = bad_all[66'000] = 0;
  return {
      {"labels", "one_hot", encode, {whole({0, 3, 2, -1})}, {whole({0, 1, 2, 2})}},
      {"labels_of_bytes", "one_hot", encode, {bytes({0, 1, 255})}, {bytes({0, 1, 2})}},
      {"loss", "one_hot", classify, {ones({3, 3}), whole({0, 1, 3})}, {ones({3, 3}), whole({0, 1, 2})}},
      {"loss_of_numbers",
       "class_numbers",
       classify_numbers,
       {ones({3, 3}), whole({0, 1, 3})},
       {ones({3, 3}), whole({0, 1, 2})},
       "softmax_cross_entropy"},
      {"rows", "gather_rows", gather, {ones({2, 3}), whole({0, 1, -1, 2})}, {ones({2, 3}), whole({1, 0, 1})}},
      {"rows_of_four", "gather_rows", gather, {ones({2, 4}), whole({0, 2})}, {ones({2, 4}), whole({1, 0})}},
      {"rows_of_bytes", "gather_rows", gather, {bytes({1, 2}), whole({0, 2})}, {bytes({1, 2}), whole({1, 0})}},
      {"rows_of_nothing", "gather_rows", gather, {ones({2, 0}), whole({0, 2})}, {ones({2, 0}), whole({1, 0})}},
      {"no_rows", "gather_rows", gather, {ones({0, 3}), whole({0})}, {ones({0, 3}), whole({})}},
      {"sums", "scatter_rows", scatter(3), {ones({3, 2}), whole({2, 7, -1})}, {ones({3, 2}), whole({2, 0, 2})}},
      {"sums_of_many", "scatter_rows", scatter(2), {ones({700}), whole(bad_some)}, {ones({700}), whole(some)}},
      {"sums_of_nothing", "scatter_rows", scatter(3), {ones({2, 0}), whole({0, 3})}, {ones({2, 0}), whole({2, 1})}},
      {"no_sums", "scatter_rows", scatter(0), {ones({1, 2}), whole({0})}, {ones({0, 2}), whole({})}},
      {"lines",
       "take_along_axis",
       take_in_lines,
       {ones({1, 2}), one_row({0, 2, -1})},
       {ones({1, 2}), one_row({1, 0, 1})}},
      {"no_lines", "take_along_axis", take_in_lines, {ones({1, 0}), one_row({0})}, {ones({1, 0}), one_row({})}},
      {"lines",
       "scatter_add",
       add_to_lines,
       {ones({2}), whole({1, 2, -1}), ones({3})},
       {ones({2}), whole({1, 0}), ones({2})}},
      {"integers_of_lines",
       "scatter_add",
       add_to_lines,
       {whole({2}), whole({1}), whole({5})},
       {whole({2}), whole({0}), whole({5})}},
      {"no_lines", "scatter_add", add_to_lines, {ones({0}), whole({0}), ones({1})}, {ones({0}), whole({}), ones({0})}},
      {"integers", "remainder", rest, {whole({6, 5, -4}), whole({2, 0, 0})}, {whole({6, 5}), whole({2, -1})}},
      {"integers", "divide", quotient, {whole({6, 5, -4}), whole({2, 0, 0})}, {whole({6, 5}), whole({2, -1})}},
      {"rests", "remainder", rest, {whole({6, 5, -4}), whole({2, 0, 0})}, {whole({6, 5}), whole({2, -1})}},
      {"bytes", "divide", quotient, {bytes({6, 5}), bytes({0, 2})}, {bytes({6, 5}), bytes({3, 2})}},
      {"many", "divide", quotient, {whole(numbers), whole(bad_all)}, {whole(numbers), whole(all)}},
      {"broadcast", "divide", quotient, {whole({6, 5, -4}), whole({0})}, {whole({6, 5, -4}), whole({2})}},
  };
}

std::vector<Tensor> on(Device& device, std::vector<Tensor> tensors) {
  for (Tensor& tensor : tensors) tensor = tensor.to(device);
  return tensors;
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.spec().bytes() == b.spec().bytes() && std::memcmp(a.data(), b.data(), a.spec().bytes()) == 0;
}

class OnCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_use_gpu()) GTEST_SKIP() << cuda_problem();
  }
  void TearDown() override {
    if (!can_use_gpu()) return;
    EXPECT_EQ(text_of_failure([&] { cuda().synchronize(); }), "no error") << "told twice";
  }
  static Device& cuda() { return *gpus()[0]; }
  Tensor there(const Tensor& tensor) { return tensor.to(cuda()); }
};

class CudaValueErrors : public OnCuda, public testing::WithParamInterface<Case> {};

TEST_P(CudaValueErrors, AreThoseOfTheCpu) {
  const Case& one = GetParam();
  const auto expected = text_of_failure([&] { one.make(one.bad).data(); });
  EXPECT_NE(expected.find(one.said + ": "), std::string::npos) << expected;
  const Tensor y = one.make(on(cuda(), one.bad));
  EXPECT_EQ(text_of_failure([&] { y.data(); }), expected);
  EXPECT_EQ(text_of_failure([&] { y.data(); }), "no error");
  EXPECT_TRUE(same_bytes(one.make(on(cuda(), one.good)), one.make(one.good)));
}

TEST_P(CudaValueErrors, AreThrownByEachFailingReplay) {
  const Case& one = GetParam();
  const auto replayed = accelerate([&](const std::vector<Tensor>& in) { return one.make(in); });
  const auto good = on(cuda(), one.good), bad = on(cuda(), one.bad);
  const auto expected = text_of_failure([&] { one.make(one.bad).data(); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(text_of_failure([&] { replayed(bad).data(); }), expected);
    EXPECT_TRUE(same_bytes(replayed(good), one.make(one.good)));
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, CudaValueErrors, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.op + "_" + info.param.name; });

TEST_F(OnCuda, EachOpThatRefusesValuesHasACase) {
  std::set<std::string> tested;
  for (const auto& one : cases()) tested.insert(one.op);
  for (const auto& op : op_table().all()) EXPECT_EQ(tested.contains(std::string(op.name)), !!op.value_error) << op.name;
}

TEST_F(OnCuda, SynchronisingThrows) {
  const auto y = one_hot(there(whole({5})), 3);
  evaluate();
  EXPECT_NE(text_of_failure([&] { cuda().synchronize(); }).find("label 5 at [0]"), std::string::npos);
}

TEST_F(OnCuda, AReadOfOtherValuesThrows) {
  const auto other = there(whole({1}));
  const auto y = one_hot(there(whole({5})), 3);
  evaluate();
  EXPECT_NE(text_of_failure([&] { other.data(); }).find("label 5 at [0]"), std::string::npos);
  EXPECT_EQ(other.to_vector<int32_t>(), std::vector<int32_t>{1});
}

// Rows of zeros come of the index, and a division by them.
TEST_F(OnCuda, WhatFollowsFromAnErrorIsNoneOfItsOwn) {
  const auto divisors = gather_rows(there(whole({2, 3})), there(whole({0, 4})));
  const auto y = there(whole({6, 6})) / divisors;
  EXPECT_NE(text_of_failure([&] { y.data(); }).find("gather_rows: row 4 at [1]"), std::string::npos);
}

TEST_F(OnCuda, TheFirstOfTwoIsThrown) {
  const auto labels = there(whole({4})), zeros = there(whole({0}));
  for (const bool labels_first : {false, true}) {
    std::vector<Tensor> kept;
    for (const bool encodes : {labels_first, !labels_first}) {
      kept.push_back(encodes ? one_hot(labels, 3) : labels / zeros);
      evaluate();
    }
    EXPECT_NE(text_of_failure([&] { cuda().synchronize(); }).find(labels_first ? "one_hot: " : "divide: "),
              std::string::npos);
    EXPECT_EQ(text_of_failure([&] { cuda().synchronize(); }), "no error");
  }
}

// Neither of the divisions needs the other: they may be computed side by side.
TEST_F(OnCuda, OfTwoInOneTraceTheOneOfTheCpuIsThrown) {
  const auto text = [&](Device& device) {
    const auto in = on(device, {whole({6, 7}), whole({8, 9}), whole({1, 0}), whole({0, 1})});
    const auto first = divide(in[0], in[2], {"model.cpp", 7}), second = divide(in[1], in[3], {"model.cpp", 8});
    return text_of_failure([&] { second.data(); });
  };
  EXPECT_EQ(text(cuda()), text(cpu_device()));
}

TEST_F(OnCuda, AnErrorOutlivesItsPlan) {
  set_plan_cache_enabled(false);
  const auto y = one_hot(there(whole({5})), 3);
  evaluate();
  const auto other = there(whole({1})) + there(whole({2}));
  evaluate();  // the plan before it is gone
  set_plan_cache_enabled(true);
  EXPECT_NE(text_of_failure([&] { cuda().synchronize(); }).find("label 5 at [0]"), std::string::npos);
  EXPECT_EQ(other.to_vector<int32_t>(), std::vector<int32_t>{3});
}

TEST_F(OnCuda, KernelsGoOnWithNanOrZero) {
  const auto encoded = one_hot(there(whole({1, 7})), 2);
  const auto rows = gather_rows(there(ones({2, 3})), there(whole({0, -1})));
  const auto integers = gather_rows(there(whole({4, 5})), there(whole({2, 1})));
  const auto sums = scatter_rows(there(ones({1, 2})), there(whole({9})), 3);
  const auto quotients = there(whole({7})) / there(whole({0}));
  evaluate();
  EXPECT_NE(text_of_failure([&] { cuda().synchronize(); }), "no error");
  const auto nans = [](const Tensor& tensor) {
    std::string text;
    for (const float x : tensor.to_vector<float>()) text += std::isnan(x) ? '1' : '0';
    return text;
  };
  EXPECT_EQ(nans(encoded), "0011");
  EXPECT_EQ(nans(rows), "000111");
  EXPECT_EQ(nans(sums), "111111");
  EXPECT_EQ(integers.to_vector<int32_t>(), (std::vector<int32_t>{0, 5}));
  EXPECT_EQ(quotients.to_vector<int32_t>(), std::vector<int32_t>{0});
}

}  // namespace
}  // namespace retrace
