#include "retrace/base/json_value.h"

#include <gtest/gtest.h>

#include <limits>

namespace retrace {
namespace {

JsonValue parsed(std::string_view text) {
  const auto value = JsonValue::parse(text);
  EXPECT_TRUE(value) << text;
  return value.value_or(JsonValue());
}

TEST(JsonValue, ReadsEachKind) {
  EXPECT_TRUE(parsed("null").is_null());
  EXPECT_EQ(parsed("true").boolean(), true);
  EXPECT_EQ(parsed("-3").integer(), -3);
  EXPECT_EQ(parsed("-3").number(), -3.0);
  EXPECT_EQ(parsed("0.5").number(), 0.5);
  EXPECT_EQ(parsed("2.0").integer(), std::nullopt);
  EXPECT_EQ(*parsed("\"a\\u00e9\\n\"").string(), "a\xc3\xa9\n");
  EXPECT_EQ(parsed("[1,[2]]").list()->size(), 2u);
  EXPECT_EQ(parsed("{\"b\":1,\"a\":{}}").members()->front().first, "b") << "members stay in their order";
}

TEST(JsonValue, HasNothingOfAnotherKind) {
  const JsonValue text = parsed("\"1\"");
  EXPECT_FALSE(text.number() || text.integer() || text.boolean() || text.list() || text.members() || text.find("a"));
  EXPECT_TRUE(text.is_primitive());
  EXPECT_FALSE(parsed("[]").is_primitive());
  EXPECT_EQ(parsed("1").string(), nullptr);
}

TEST(JsonValue, FindsTheLastMemberOfAName) {
  const JsonValue value = parsed("{\"a\":1,\"b\":2,\"a\":3}");
  EXPECT_EQ(value.find("a")->integer(), 3);
  EXPECT_EQ(value.find("c"), nullptr);
}

TEST(JsonValue, HasMembersOrWhatStandsInForThem) {
  const JsonValue value = parsed("{\"yes\":true,\"three\":3,\"half\":0.5,\"text\":\"a\"}");
  EXPECT_TRUE(value.boolean_or("yes", false));
  EXPECT_TRUE(value.boolean_or("text", true));
  EXPECT_EQ(value.integer_or("three", 7), 3);
  EXPECT_EQ(value.integer_or("half", 7), 7);
  EXPECT_EQ(value.number_or("three", 7), 3.0);
  EXPECT_EQ(value.number_or("absent", 7), 7.0);
  EXPECT_EQ(value.string_or("text", "b"), "a");
  EXPECT_EQ(value.string_or("half", "b"), "b");
  EXPECT_EQ(parsed("[]").string_or("text", "b"), "b");
}

TEST(JsonValue, KeepsWholeNumbersOf64Bits) {
  EXPECT_EQ(parsed("9223372036854775807").integer(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(parsed("-9223372036854775808").integer(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(parsed("9223372036854775808").integer(), std::nullopt);
  EXPECT_EQ(parsed("9223372036854775808").number(), 9223372036854775808.0);
}

TEST(JsonValue, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "[1,]", "nul", "{\"a\":1} x", "\"\xff\"", "NaN", "1e999", "'a'"})
    EXPECT_FALSE(JsonValue::parse(text)) << text;
}

TEST(JsonValue, RefusesDeepNesting) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(JsonValue::parse(nested(100)));
  EXPECT_FALSE(JsonValue::parse(nested(101)));
  EXPECT_FALSE(JsonValue::parse(std::string(1'000'000, '[')));
}

TEST(JsonValue, IsWrittenAsItWasRead) {
  for (const char* text :
       {"null", "false", "-7", "0.1", "\"a\\\"b\"", "[]", "[1,\"x\",[null]]", "{}", "{\"b\":[1,2],\"a\":{\"c\":true}}"})
    EXPECT_EQ(parsed(text).text(), text);
}

TEST(JsonValue, IsEqualByWhatItSays) {
  EXPECT_EQ(parsed("1"), parsed("1.0"));
  EXPECT_NE(parsed("9007199254740993"), parsed("9007199254740992"));
  EXPECT_EQ(parsed("{\"a\":1,\"b\":[2]}"), parsed("{\"b\":[2.0],\"a\":1}"));
  EXPECT_NE(parsed("{\"a\":1}"), parsed("{\"a\":1,\"b\":null}"));
  EXPECT_NE(parsed("{\"a\":1,\"b\":null}"), parsed("{\"a\":1}"));
  EXPECT_NE(parsed("[1,2]"), parsed("[2,1]"));
  EXPECT_NE(parsed("1"), parsed("\"1\""));
  EXPECT_NE(parsed("1"), parsed("true"));
}

}  // namespace
}  // namespace retrace
