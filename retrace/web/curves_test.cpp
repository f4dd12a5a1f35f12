#include "retrace/web/curves.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "retrace/base/json_value.h"
#include "tests/temporary_folder.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

// Loops that have recorded as many series, of one point each.
void write_run(const fs::path& folder, int series) {
  fs::create_directories(folder);
  std::ofstream file(folder / "metrics.jsonl", std::ios::binary);
  for (int i = 0; i < series; ++i)
    file << fmt::format("{{\"event\":\"record\",\"x\":1,\"values\":{{\"m{}\":{}}}}}\n", i, i);
}

WebRequest request(std::map<std::string, std::string> query) {
  WebRequest request;
  request.path = "/api/series", request.query = std::move(query);
  return request;
}

// "1:loss" of each series of the answer.
std::vector<std::string> told(const std::string& answer) {
  std::vector<std::string> names;
  const auto value = JsonValue::parse(answer);
  if (!value || !value->list()) return {"no list"};
  for (const auto& one : *value->list())
    names.push_back(fmt::format("{}:{}", one.integer_or("run", 0), one.string_or("name", "")));
  return names;
}

TEST(Curves, OfSeveralRunsAreOneAnswer) {
  const TemporaryFolder folder;
  write_run(folder / "a", 2);
  write_run(folder / "b", 1);
  RunList list({folder / "."});
  list.refresh();
  Curves curves;
  EXPECT_EQ(told(curves.series(list, request({{"runs", "1,2"}}))), (std::vector<std::string>{"1:m0", "1:m1", "2:m0"}));
  EXPECT_EQ(told(curves.series(list, request({{"runs", "2,1"}, {"names", "m1\nm0"}}))),
            (std::vector<std::string>{"2:m0", "1:m0", "1:m1"}));
  EXPECT_EQ(told(curves.series(list, request({{"runs", "1,2"}, {"names", "m1"}}))), std::vector<std::string>{"1:m1"});
  // What is no run is left out, and so is one that is removed.
  EXPECT_TRUE(told(curves.series(list, request({{"runs", "-1,0,3,,x"}}))).empty());
  fs::remove_all(folder / "b");
  Curves others;
  EXPECT_EQ(told(others.series(list, request({{"runs", "1,2"}, {"names", "m0"}}))), std::vector<std::string>{"1:m0"});
}

TEST(Curves, ComeInSeveralAnswersWhereThereAreMany) {
  const TemporaryFolder folder;
  write_run(folder / "a", 2 * static_cast<int>(Curves::kMostSeries) + 3);
  RunList list({folder / "."});
  list.refresh();
  Curves curves;
  const auto count = [&](const char* skip) {
    return told(curves.series(list, request({{"runs", "1"}, {"skip", skip}}))).size();
  };
  EXPECT_EQ(count("0"), Curves::kMostSeries);
  EXPECT_EQ(count("64"), Curves::kMostSeries);
  EXPECT_EQ(count("128"), 3u);
  EXPECT_EQ(count("192"), 0u);
}

TEST(Curves, AreReadOnceForAllPagesUntilThereIsSomethingNew) {
  const TemporaryFolder folder;
  write_run(folder / "a", 1);
  RunList list({folder / "."});
  list.refresh();
  Curves curves;
  const auto count = [&] { return told(curves.series(list, request({{"runs", "1"}}))).size(); };
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(count(), 1u);
  write_run(folder / "a", 2);
  const size_t again = count();
  if (std::chrono::steady_clock::now() - begin < std::chrono::seconds(1)) {
    EXPECT_EQ(again, 1u);
  }
  curves.forget();
  EXPECT_EQ(count(), 2u);
}

}  // namespace
}  // namespace retrace
