// The rules as ordinary host code sees them. Accuracy and SIMD targets: tests/elementary_test.cpp.
#include "retrace/base/elementary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "retrace/ops/asin/acos_rule.h"
#include "retrace/ops/asin/asin_rule.h"
#include "retrace/ops/atan2/atan2_rule.h"
#include "retrace/ops/cosh/cosh_rule.h"
#include "retrace/ops/sinh/sinh_rule.h"
#include "retrace/ops/tan/tan_rule.h"
#include "tests/elementary_reference.h"

namespace retrace {
namespace {

struct Plain {
  const char* name;
  float (*of_float)(float);
  double (*of_double)(double);
};
#define RT_PLAIN_BY(name, function) \
  {#name, [](float x) { return rules::function(x); }, [](double x) { return rules::function(x); }}
#define RT_PLAIN(name) RT_PLAIN_BY(name, name)
const Plain kPlain[] = {
    RT_PLAIN(exp),
    RT_PLAIN(expm1),
    RT_PLAIN(log),
    RT_PLAIN(log1p),
    RT_PLAIN(tanh),
    RT_PLAIN(sigmoid),
    RT_PLAIN(softplus),
    RT_PLAIN(erf),
    RT_PLAIN(sin),
    RT_PLAIN(cos),
    RT_PLAIN_BY(tan, tan_rule),
    RT_PLAIN_BY(sinh, sinh_rule),
    RT_PLAIN_BY(cosh, cosh_rule),
    RT_PLAIN_BY(asin, asin_rule),
    RT_PLAIN_BY(acos, acos_rule),
    {"atan", [](float x) { return rules::atan2_rule(x, 1.0f); }, [](double x) { return rules::atan2_rule(x, 1.0); }}};
#undef RT_PLAIN
#undef RT_PLAIN_BY

TEST(Elementary, HostCodeHasTheBitsOfTheKernels) {
  const auto x = elementary::strided_inputs();
  ASSERT_EQ(std::size(kPlain), elementary::functions().size());
  for (size_t i = 0; i < elementary::functions().size(); ++i) {
    ASSERT_EQ(std::string(kPlain[i].name), elementary::functions()[i].name);
    std::vector<float> y;
    for (const float v : x) y.push_back(kPlain[i].of_float(v));
    EXPECT_EQ(elementary::fingerprint(y), elementary::functions()[i].golden) << kPlain[i].name;
  }
}

TEST(Elementary, PowOfHostCodeHasTheBitsOfTheKernels) {
  const auto pairs = elementary::pow_inputs();
  std::vector<float> z;
  for (size_t i = 0; i < pairs.x.size(); ++i) z.push_back(rules::pow(pairs.x[i], pairs.y[i]));
  EXPECT_EQ(elementary::fingerprint(z), elementary::kPowGolden);
}

TEST(Elementary, DoubleOverloadsAreTheDoubleFunctions) {
  for (const auto& plain : kPlain)
    for (const double x : {0.1, 0.7, 2.5}) {
      const auto& function = elementary::functions()[static_cast<size_t>(&plain - kPlain)];
      const double y = plain.of_double(x), expected = function.reference(x);
      EXPECT_EQ(std::isnan(y), std::isnan(expected)) << plain.name;  // asin and acos of 2.5
      if (!std::isnan(expected)) {
        EXPECT_NEAR(y, expected, 1e-14) << plain.name;
      }
    }
  EXPECT_NEAR(rules::pow(1.7, 2.3), std::pow(1.7, 2.3), 1e-14);
}

}  // namespace
}  // namespace retrace
