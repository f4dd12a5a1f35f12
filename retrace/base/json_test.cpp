#include "retrace/base/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace retrace {
namespace {

TEST(Json, WritesValues) {
  EXPECT_EQ(Json(true).text(), "true");
  EXPECT_EQ(Json(-3).text(), "-3");
  EXPECT_EQ(Json(uint64_t{18446744073709551615u}).text(), "18446744073709551615");
  EXPECT_EQ(Json(0.1).text(), "0.1");
  EXPECT_EQ(Json(1e300).text(), "1e+300");
  EXPECT_EQ(Json(std::optional<int>()).text(), "null");
  EXPECT_EQ(Json(std::optional<int>(4)).text(), "4");
  EXPECT_EQ(Json("a\"b\\\n\x1b\xff\xc3\xa9").text(), "\"a\\\"b\\\\\\u000a\\u001b?\xc3\xa9\"");
}

TEST(Json, HasNullForWhatIsNotFinite) {
  EXPECT_EQ(Json(std::nan("")).text(), "null");
  EXPECT_EQ(Json(-std::numeric_limits<double>::infinity()).text(), "null");
}

TEST(Json, WritesObjectsAndLists) {
  EXPECT_EQ(Json::object({}).text(), "{}");
  EXPECT_EQ(Json::list(std::vector<Json>()).text(), "[]");
  EXPECT_EQ(Json::object({{"a", 1}, {"b", Json::list({"x", 2.5})}, {"c", Json::object({{"d", false}})}}).text(),
            "{\"a\":1,\"b\":[\"x\",2.5],\"c\":{\"d\":false}}");
  EXPECT_EQ(Json::list(std::vector<int>{1, 2}, [](int i) { return Json(2 * i); }).text(), "[2,4]");
}

}  // namespace
}  // namespace retrace
