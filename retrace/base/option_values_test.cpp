#include "retrace/base/option_rules.h"

#include <gtest/gtest.h>

#include "retrace/base/error.h"

namespace retrace {
namespace {

using Numbers = std::vector<double>;

const std::vector<OptionRule> kRules{{.name = "momentum", .standard = 0.9},
                                     {.name = "period", .standard = int64_t{10}},
                                     {.name = "nesterov", .standard = false},
                                     {.name = "kind", .standard = "soft"},
                                     {.name = "parts", .standard = std::vector<std::string>{"a"}},
                                     {.name = "means", .standard = Numbers{0.5}}};

std::string refusal(const OptionValues& given) {
  try {
    completed(given, kRules, "solver \"x\"");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(OptionValues, AreCompletedWithStandardValues) {
  const OptionValues all = completed({{"period", 3}, {"nesterov", true}}, kRules, "x");
  EXPECT_EQ(all.number("momentum"), 0.9);
  EXPECT_EQ(all.integer("period"), 3);
  EXPECT_EQ(all.number("period"), 3.0);
  EXPECT_TRUE(all.truth("nesterov"));
  EXPECT_EQ(all.text("kind"), "soft");
  EXPECT_EQ(all.texts("parts"), std::vector<std::string>{"a"});
}

TEST(OptionValues, AWholeNumberIsANumber) {
  const OptionValues all = completed({{"momentum", 1}}, kRules, "x");
  EXPECT_EQ(all.find("momentum")->index(), OptionValue(1.0).index());
  EXPECT_EQ(all.number("momentum"), 1.0);
}

TEST(OptionValues, ListsOfNumbersTakeOneNumberAndWholeNumbers) {
  const auto means = [](const OptionValue& value) {
    return completed({{"means", value}}, kRules, "x").numbers("means");
  };
  EXPECT_EQ(means(Numbers{1, 2.5}), (Numbers{1, 2.5}));
  EXPECT_EQ(means(0.25), Numbers{0.25});
  EXPECT_EQ(means(int64_t{3}), Numbers{3});
  EXPECT_EQ(means(std::vector<int64_t>{3, 4}), (Numbers{3, 4}));
  EXPECT_EQ(completed({}, kRules, "x").numbers("means"), Numbers{0.5});
  EXPECT_EQ(with_standard_values({{"means", 0.25}}, kRules).numbers("means"), Numbers{0.25});
  EXPECT_EQ(refusal({{"means", "0.25"}}), "error[RT0431]: solver \"x\": the option \"means\" has another type");
}

TEST(OptionValues, RefuseWhatHasNoRule) {
  EXPECT_EQ(refusal({{"momentun", 0.5}}),
            "error[RT0432]: solver \"x\" has no option \"momentun\"\n"
            "  expected: momentum, period, nesterov, kind, parts, means\n"
            "  help:     did you mean \"momentum\"?");
  EXPECT_EQ(refusal({{"period", 0.5}}), "error[RT0431]: solver \"x\": the option \"period\" has another type");
  EXPECT_EQ(refusal({{"kind", true}}), "error[RT0431]: solver \"x\": the option \"kind\" has another type");
}

TEST(OptionValues, AreReadByNameAndType) {
  const OptionValues values{{"a", 1.5}};
  EXPECT_THROW(values.number("b"), Error);
  EXPECT_THROW(values.text("a"), Error);
  EXPECT_THROW(values.integer("a"), Error);
}

}  // namespace
}  // namespace retrace
