#include "retrace/ops/vmap/vmap.h"

#include <gtest/gtest.h>

#include <cmath>

#include "retrace/autodiff/value_and_grad.h"
#include "retrace/ops/testing/op_case.h"
#include "retrace/retrace.h"
#include "retrace/run/accelerate.h"
#include "retrace/tensor/fingerprint.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

using Function = std::function<Tree(const Tree&)>;
using Tensors = std::vector<Tensor>;

OP_EXAMPLE(vmap, vmap([](const Tree& x) -> Tree { return sum(x.tensor() * x.tensor()); },
                      Tensor::from<float>({1, 2, 3, 4}, {2, 2}))
                     .tensor());

OP_CASES(vmap) {
  return {{.op = "multiply",
           .name = "by_vmap",
           .inputs = {{.shape = {3, 4}}, {.shape = {4}}},
           .build = [](const Tensors& in) {
             return Tensors{vmap([&](const Tree& x) -> Tree { return x.tensor() * in[1]; }, in[0]).tensor()};
           }}};
}

Tensor waves(const Shape& shape, std::string_view labels = "", double shift = 0) {
  std::vector<float> values(static_cast<size_t>(shape.count()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(std::sin(double(i) * 1.7 + shift));
  return Tensor::from(values, shape, labels);
}

// Bits of a batch against those of the elements one by one; x without labels.
void expect_elements(const char* what, const Function& f, const Tree& x, const VmapOptions& options = {}) {
  const Tree all = vmap(f, x, options);
  const auto leaf = leaves(x);
  int64_t count = 0;
  for (const auto& [path, tensor] : leaf)
    if (path != "w") count = tensor.shape()[0];
  for (int64_t i = 0; i < count; ++i) {
    Tensors in;
    for (const auto& [path, tensor] : leaf) in.push_back(path == "w" ? tensor : tensor[i]);
    const auto one_element = leaf_tensors(f(with_leaves(x, in))), batch = leaf_tensors(all);
    ASSERT_EQ(one_element.size(), batch.size()) << what;
    for (size_t k = 0; k < batch.size(); ++k) {
      const Tensor got = batch[k][i];
      EXPECT_EQ(got.shape(), one_element[k].shape()) << what;
      EXPECT_EQ(fingerprint(got), fingerprint(reshape(one_element[k], got.shape()))) << what << ", element " << i;
    }
  }
}

struct RuleCase {
  const char* name;
  Shape shape;
  std::function<Tensor(const Tensor&)> f;
};

std::vector<RuleCase> rule_cases() {
  const Tensor w = waves({5, 7}, "", 1), v = waves({7}, "", 2), table = waves({4, 3});
  return {
      {"pointwise", {7}, [](const Tensor& x) { return tanh(x * 2.0f) + exp(x); }},
      {"broadcasting", {5, 7}, [v](const Tensor& x) { return x * v + x[1]; }},
      {"a scalar of each element", {5, 7}, [v](const Tensor& x) { return v * x[1][2]; }},
      {"casts and choices",
       {7},
       [](const Tensor& x) { return where(x < 0.0f, cast(cast(x * 9, DType::i32), DType::f32), x); }},
      {"sum by row", {300}, [](const Tensor& x) { return sum(x); }},
      {"sum of the last axis", {3, 300}, [](const Tensor& x) { return sum(x, 1); }},
      {"sum by column", {70, 5}, [](const Tensor& x) { return sum(x, 0); }},
      {"sum of all of two axes", {70, 5}, [](const Tensor& x) { return sum(x); }},
      {"sum that keeps", {3, 40, 5}, [](const Tensor& x) { return sum(x, {0, 2}, {.keep = true}); }},
      {"sum to an axis of one", {40, 1}, [](const Tensor& x) { return sum(x, 0); }},
      {"sum of a number", {}, [](const Tensor& x) { return sum(x); }},
      {"mean and variance", {33, 5}, [](const Tensor& x) { return mean(x, 0) + variance(x, 0); }},
      {"max and argmax", {33, 5}, [](const Tensor& x) { return max(x, 0) + cast(argmax(x, 0), DType::f32); }},
      {"logsumexp", {33}, [](const Tensor& x) { return logsumexp(x, 0); }},
      {"reshape and transpose", {4, 6}, [](const Tensor& x) { return transpose(reshape(x, {3, 8}), {1, 0}); }},
      {"broadcast", {4, 1}, [](const Tensor& x) { return broadcast(x, {3, 4, 2}); }},
      {"slice and pad", {4, 6}, [](const Tensor& x) { return pad(slice(x, 1, {1, 5}), 0, {2, 1}); }},
      {"concatenate and stack",
       {7},
       [v](const Tensor& x) { return stack({concatenate({x, v}, 0), concatenate({v, x}, 0)}, 0); }},
      {"flip and cumsum", {4, 6}, [](const Tensor& x) { return cumsum(flip(x, 1), -1); }},
      {"rows by a table", {3, 3}, [table](const Tensor& x) { return gather_rows(table, argmax(x, 1)); }},
      {"rows of each element",
       {4, 3},
       [](const Tensor& x) { return gather_rows(x, Tensor::from<int32_t>({2, 0}, {2})); }},
      {"linear", {3, 7}, [w](const Tensor& x) { return linear(x, w); }},
      {"linear of one row", {7}, [w](const Tensor& x) { return linear(x, w, {.flatten = false}); }},
      {"matmul from the left", {7, 3}, [w](const Tensor& x) { return matmul(w, x); }},
      {"matmul transposed",
       {7, 3},
       [w](const Tensor& x) { return matmul(x, w, {.transpose_a = true, .transpose_b = true}); }},
      {"matmul of itself", {300, 3}, [](const Tensor& x) { return matmul(x, x, {.transpose_a = true}); }},
      {"matmul of stacks", {2, 3, 5}, [w](const Tensor& x) { return matmul(x, w); }},
      {"softmax", {3, 40}, [](const Tensor& x) { return softmax(x, -1) + softmax(x, 0); }},
      {"layer norm",
       {3, 40},
       [](const Tensor& x) { return layer_norm(x, Tensor::full(2, {40}), Tensor::zeros({40})); }},
      {"conv2d", {2, 6, 6, 3}, [](const Tensor& x) { return max_pool2d(conv2d(x, waves({3, 3, 3, 4})), 2); }},
      {"conv2d by each element's filters",
       {3, 3, 2, 4},
       [](const Tensor& w) { return conv2d(waves({1, 6, 6, 2}), w); }},
      {"attention", {2, 5, 8}, [](const Tensor& x) { return attention(x, x, x); }},
      {"sort", {9}, [](const Tensor& x) { return sort(x, 0).values; }},
      {"scan",
       {6, 2},
       [](const Tensor& x) {
         return scan(
                    [](const Tree& h, const Tree& e) -> ScanStep {
                      const Tensor n = tanh(h.tensor() + e.tensor());
                      return {n, n};
                    },
                    Tensor::zeros({2}), x)
             .results.tensor();
       }},
      {"checkpoint",
       {7},
       [](const Tensor& x) { return checkpoint([](const Tree& e) -> Tree { return exp(e.tensor()); }, x).tensor(); }},
      {"cross entropy",
       {3, 5},
       [](const Tensor& x) { return softmax_cross_entropy(x, Tensor::from<int32_t>({0, 4, 2}, {3})); }},
  };
}

TEST(Vmap, EachElementHasTheBitsOfTheFunctionAlone) {
  for (const RuleCase& c : rule_cases()) {
    Shape shape{5};
    for (const int64_t size : c.shape) shape.push_back(size);
    expect_elements(c.name, [&](const Tree& x) -> Tree { return c.f(x.tensor()); }, waves(shape));
  }
}

TEST(Vmap, GradientsOfEachElementHaveItsBits) {
  for (const RuleCase& c : rule_cases()) {
    Shape shape{3};
    for (const int64_t size : c.shape) shape.push_back(size);
    expect_elements(
        c.name,
        [&](const Tree& x) -> Tree {
          return value_and_grad([&](const Tensor& in) {
                   const Tensor y = c.f(in);
                   return sum(y * y);
                 })(x.tensor())
              .gradients;
        },
        waves(shape));
  }
}

TEST(Vmap, GradientsGoThroughIt) {
  for (const RuleCase& c : rule_cases()) {
    Shape shape{3};
    for (const int64_t size : c.shape) shape.push_back(size);
    const Tensor x = waves(shape);
    const auto loss = [&](const Tensor& y) { return sum(y * y); };
    const Tensor through = value_and_grad([&](const Tensor& in) {
                             return loss(vmap([&](const Tree& e) -> Tree { return c.f(e.tensor()); }, in).tensor());
                           })(x)
                               .gradients;
    for (int64_t i = 0; i < 3; ++i) {
      const Tensor alone = value_and_grad([&](const Tensor& in) { return loss(c.f(in)); })(x[i] * 1.0f).gradients;
      const auto a = through[i].to_vector<float>(), b = alone.to_vector<float>();
      for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-4 * (1 + std::abs(b[k]))) << c.name;
    }
  }
}

Tensor mlp_loss(const Tree& p, const Tensor& x, const Tensor& t) {
  return softmax_cross_entropy(linear(relu(linear(x, p["a"], {.flatten = false})), p["b"], {.flatten = false}), t);
}

Tree mlp() {
  return {{"a", Tree{{"weights", waves({8, 6})}, {"bias", waves({8}, "", 3)}}},
          {"b", Tree{{"weights", waves({4, 8}, "", 5)}, {"bias", waves({4}, "", 4)}}}};
}

TEST(Vmap, MakesTheGradientsOfEachSample) {
  const Tree p = mlp();
  const Tensor x = waves({5, 6}), t = Tensor::from<int32_t>({0, 3, 1, 2, 3}, {5});
  const auto each = [&](const Tree& s) -> Tree {
    return value_and_grad(mlp_loss)(p, s["x"].tensor(), s["t"].tensor()).gradients;
  };
  expect_elements("samples", each, {{"x", x}, {"t", t}});
  auto step = accelerate([](const Tree& parameters, const Tensor& in, const Tensor& targets) {
    return vmap(
        [&](const Tree& s) -> Tree {
          return value_and_grad(mlp_loss)(parameters, s["x"].tensor(), s["t"].tensor()).gradients;
        },
        {{"x", in}, {"t", targets}});
  });
  const std::string plain = fingerprint(vmap(each, {{"x", x}, {"t", t}}));
  EXPECT_EQ(fingerprint(step(p, x, t)), plain);
  EXPECT_EQ(fingerprint(step(p, x, t)), plain);
}

TEST(Vmap, GradientsOfWhatIsUsedFromOutsideAreSums) {
  const Tensor x = waves({5, 3}), t = Tensor::from<int32_t>({0, 2, 1, 1, 0}, {5});
  const auto loss = [&](bool mapped) {
    return [&, mapped](const Tensor& w) {
      const auto one = [&](const Tree& s) -> Tree {
        return softmax_cross_entropy(s["x"].tensor() * w, s["t"].tensor());
      };
      if (mapped) return mean(vmap(one, {{"x", x}, {"t", t}}).tensor());
      Tensor total = Tensor::zeros({});
      for (int64_t i = 0; i < 5; ++i) total = total + one({{"x", x[i]}, {"t", t[i]}}).tensor();
      return total / 5;
    };
  };
  const Tensor w = waves({3}, "", 2);
  const auto a = value_and_grad(loss(true))(w).gradients.to_vector<float>(),
             b = value_and_grad(loss(false))(w).gradients.to_vector<float>();
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
}

TEST(Vmap, InsideOfAnother) {
  const auto row = [](const Tree& r) -> Tree { return logsumexp(r.tensor(), 0); };
  expect_elements("rows", [&](const Tree& m) -> Tree { return vmap(row, m); }, waves({4, 3, 5}));
}

TEST(Vmap, TakesAnotherAxisAndWholeLeaves) {
  const Tensor x = waves({3, 4}), w = waves({3}, "", 1);
  const auto f = [](const Tree& in) -> Tree { return in["x"].tensor() * in["w"].tensor(); };
  const Tensor y = vmap(f, {{"x", x}, {"w", w}}, {.axis = 1, .same = {"w"}}).tensor();
  EXPECT_EQ(fingerprint(y), fingerprint(transpose(x, {1, 0}) * w));
}

TEST(Vmap, KeepsLabels) {
  const Tensor x = waves({2, 3, 4}, "BTC");
  const auto f = [](const Tree& in) -> Tree { return softmax(in.tensor(), "C"); };
  const Tensor by_batch = vmap(f, x).tensor(), by_time = vmap(f, x, {.axis = "T"}).tensor();
  EXPECT_EQ(by_batch.labels(), "BTC");
  EXPECT_EQ(by_time.labels(), "BTC");
  EXPECT_EQ(fingerprint(by_batch), fingerprint(softmax(x, "C")));
  EXPECT_EQ(fingerprint(by_time), fingerprint(softmax(x, "C")));
}

TEST(Vmap, OfNoElements) {
  for (const RuleCase& c : rule_cases()) {
    Shape none{0}, one_element{1};
    for (const int64_t size : c.shape) none.push_back(size), one_element.push_back(size);
    const auto f = [&](const Tree& x) -> Tree { return c.f(x.tensor()); };
    Shape expected = vmap(f, waves(one_element)).tensor().shape();
    expected[0] = 0;
    EXPECT_EQ(vmap(f, Tensor::zeros(none)).tensor().shape(), expected) << c.name;
  }
}

TEST(Vmap, DifferentiatesWhatItsFunctionRecords) {
  Tree parameters;
  parameters["x"] = Tensor::from<float>({1, 2, 3}, {3});
  const auto rows = [&](bool inside) {
    Tensor result;
    value_and_grad([&](const Tree& p) {
      const Tensor x = p["x"].tensor(), outside = square(x);
      result =
          vmap([&](const Tree& v) -> Tree { return jvp(inside ? square(x) : outside, x, v.tensor()); }, Tensor::eye(3))
              .tensor();
      return sum(result);
    })(parameters);
    return result.to_vector<float>();
  };
  EXPECT_EQ(rows(true), (std::vector<float>{2, 0, 0, 0, 4, 0, 0, 0, 6}));
  const std::string text = error_text([&] { rows(false); });
  EXPECT_NE(text.find("error[RT0478]: a body differentiates a tensor that was recorded outside of it"),
            std::string::npos)
      << text;
}

TEST(Vmap, RefusesWhatItCannotMap) {
  const auto same = [](const Tree& x) { return x; };
  EXPECT_EQ(code_of([&] { vmap(same, Tensor::zeros({})); }), 296);
  EXPECT_EQ(code_of([&] { vmap(same, Tensor::zeros({2}, DType::f32, "C")); }), 296);
  EXPECT_EQ(code_of([&] { vmap(same, {{"a", Tensor::zeros({2})}, {"b", Tensor::zeros({3})}}); }), 297);
  EXPECT_EQ(code_of([&] { vmap(same, {{"a", Tensor::zeros({2})}}, {.same = {"a"}}); }), 297);
  EXPECT_EQ(code_of([&] { vmap(same, {{"a", Tensor::zeros({2})}}, {.same = {"b"}}); }), 298);
  EXPECT_EQ(code_of([&] {
              vmap([](const Tree& x) -> Tree { return x.tensor() * x.tensor().number(); }, Tensor::zeros({2}));
            }),
            259);
  EXPECT_EQ(code_of([&] {
              value_and_grad([](const Tensor& x) {
                return sum(vmap([](const Tree& e) -> Tree { return dropout(e.tensor(), 0.5); }, x).tensor());
              })(Tensor::ones({3}));
            }),
            263);
  EXPECT_NE(code_of([&] {
              vmap(
                  [](const Tree& e) -> Tree {
                    return value_and_grad([](const Tensor& x) { return sum(dropout(x, 0.5)); })(e.tensor()).gradients;
                  },
                  Tensor::ones({3, 4}));
            }),
            0);
}

}  // namespace
}  // namespace retrace
