// Trees as programs use them: assigned from within themselves, grown while somebody holds a child, asked for names
// that are not there.
#include <gtest/gtest.h>

#include <sstream>
#include <thread>

#include "retrace/retrace.h"
#include "tests/error_testing.h"

namespace retrace {
namespace {

Tensor number(float value) { return Tensor::scalar(value); }

// "a/w=1 a/b=2 c=3": paths and values.
std::string text(const Tree& tree) {
  std::string all;
  for (const auto& [path, tensor] : leaves(tree))
    all += (all.empty() ? "" : " ") + path + "=" + std::to_string(static_cast<int>(tensor.number()));
  return all;
}

Tree model() {
  return {{"encoder", {{"b", number(1)}, {"w", number(2)}}}, {"head", {{"b", number(3)}, {"w", number(4)}}}};
}
constexpr const char* kModel = "encoder/b=1 encoder/w=2 head/b=3 head/w=4";

// -- assignment from within ---------------------------------------------------------------------------------------

TEST(TreeIdioms, ANewEntryFromAnOldOne) {
  for (const char* name : {"aaa", "decoder", "zzz"}) {  // in front of the old one and behind it
    Tree t = model();
    t[name] = t["encoder"];
    EXPECT_EQ(text(t[name]), "b=1 w=2");
    EXPECT_EQ(text(t["encoder"]), "b=1 w=2");
    Tree leaf = model();
    leaf["encoder"][name] = leaf["encoder"]["w"];
    EXPECT_EQ(leaf["encoder"][name].tensor().number(), 2);
    Tree other = model();
    other[name] = std::as_const(other)["encoder"];
    EXPECT_EQ(text(other[name]), "b=1 w=2");
    Tree moved = model();
    moved[name] = std::move(moved["encoder"]);
    EXPECT_EQ(text(moved[name]), "b=1 w=2");
    EXPECT_TRUE(moved["encoder"].empty());
  }
}

TEST(TreeIdioms, ManyNewEntriesInALoop) {
  Tree t = model();
  for (int i = 0; i < 50; ++i) t["layer" + std::to_string(i)] = t["encoder"];
  EXPECT_EQ(t.children().size(), 52u);
  EXPECT_EQ(leaf_tensors(t).size(), 104u);
}

TEST(TreeIdioms, ATreeBecomesItsChild) {
  Tree branch = model(), leaf = model(), constant = model(), moved = model(), moved_leaf = model();
  branch = branch["encoder"];
  EXPECT_EQ(text(branch), "b=1 w=2");
  leaf = leaf["encoder"]["w"];
  EXPECT_EQ(text(leaf), "=2");
  constant = std::as_const(constant)["encoder"];
  EXPECT_EQ(text(constant), "b=1 w=2");
  moved = std::move(moved["encoder"]);
  EXPECT_EQ(text(moved), "b=1 w=2");
  moved_leaf = std::move(moved_leaf["encoder"]["w"]);
  EXPECT_EQ(text(moved_leaf), "=2");
}

TEST(TreeIdioms, AChildBecomesItsTree) {
  Tree old = model(), fresh = model(), moved = model(), deep = model();
  old["encoder"] = old;
  EXPECT_EQ(text(old), "encoder/encoder/b=1 encoder/encoder/w=2 encoder/head/b=3 encoder/head/w=4 head/b=3 head/w=4");
  fresh["new"] = fresh;
  EXPECT_EQ(text(fresh["new"]), kModel);
  moved["new"] = std::move(moved);
  EXPECT_EQ(text(moved["new"]), kModel);
  deep["a"]["b"]["c"] = deep["encoder"];
  EXPECT_EQ(text(deep["a"]), "b/c/b=1 b/c/w=2");
}

TEST(TreeIdioms, AReferenceIsKeptWhileTheTreeGrows) {
  Tree t = model();
  Tree& encoder = t["encoder"];
  const Tensor& w = t["encoder"]["w"].tensor();
  for (int i = 0; i < 100; ++i) t["a" + std::to_string(i)] = number(0);
  for (int i = 0; i < 100; ++i) encoder["a" + std::to_string(i)] = number(0);
  EXPECT_EQ(w.number(), 2);
  encoder["w"] = number(7);
  EXPECT_EQ(t["encoder"]["w"].tensor().number(), 7);
  // Also in a tree that was moved.
  const Tree taken = std::move(t);
  encoder["w"] = number(8);
  EXPECT_EQ(taken["encoder"]["w"].tensor().number(), 8);
}

TEST(TreeIdioms, ALoopOverChildrenInserts) {
  Tree t = model();
  for (const auto& [name, child] : t.children()) t[name + "_copy"] = child;
  for (const auto& [name, child] : t.children()) t["0" + name] = child;
  EXPECT_EQ(t.children().size(), 8u);
  EXPECT_EQ(leaf_tensors(t).size(), 16u);
  for (const auto& [name, child] : t.children()) t[name] = child;  // the same name
  for (const auto& [name, child] : t.children()) t[name] = Tree{{"x", child["b"]}};
  EXPECT_EQ(leaf_tensors(t).size(), 8u);
}

TEST(TreeIdioms, ExpressionsOfEntries) {
  Tree s{{"x", {{"w", number(2)}}}, {"y", {{"b", number(3)}}}};
  s["x"]["w"] = s["x"]["w"] + s["y"]["b"];
  s["sum"] = s["x"]["w"] + s["y"]["b"];
  EXPECT_EQ(text(s), "sum=8 x/w=5 y/b=3");
  s = Tree{{"first", s["y"]}, {"second", s["x"]["w"]}, {"all", s}};
  EXPECT_EQ(text(s), "all/sum=8 all/x/w=5 all/y/b=3 first/b=3 second=5");
}

TEST(TreeIdioms, Swaps) {
  Tree t = model();
  std::swap(t["encoder"], t["head"]);
  EXPECT_EQ(text(t), "encoder/b=3 encoder/w=4 head/b=1 head/w=2");
  std::swap(t, t["encoder"]);
  EXPECT_EQ(text(t), "b=3 w=4");
  Tree u = model();
  std::swap(u["encoder"], u);
  EXPECT_EQ(leaf_tensors(u).size() % 2, 0u);  // no use after its end, and no cycle
}

TEST(TreeIdioms, AVectorAppendsItsOwnElement) {
  std::vector<Tree> all{model()};
  for (int i = 0; i < 20; ++i) all.push_back(all[0]);
  EXPECT_EQ(text(all[20]), kModel);
  all.push_back(all[0]["head"]);
  EXPECT_EQ(text(all.back()), "b=3 w=4");
}

TEST(TreeIdioms, ATreeThatWasMovedIsEmptyAndWorks) {
  Tree t = model();
  const Tree taken = std::move(t);
  EXPECT_TRUE(t.empty());
  t["new"] = taken["head"];
  EXPECT_EQ(text(t), "new/b=3 new/w=4");
}

// -- names that are not there -------------------------------------------------------------------------------------

TEST(TreeNames, WritingMakesAnEntryAndReadingNamesTheMissingOne) {
  Tree t = model();
  t["new"] = number(5);
  EXPECT_EQ(t["new"].tensor().number(), 5);
  const auto missing = [&](const std::string& error, const char* name, int line) {
    EXPECT_TRUE(says(error, std::string("error[RT0120]: the tree has no entry \"") + name + "\""));
    EXPECT_TRUE(says(error, "trees_test.cpp:" + std::to_string(line)));
  };
  missing(error_of([&] { t["haed"].tensor(); }), "haed", __LINE__);
  missing(error_of([&] { t["haed"]["w"].tensor(); }), "haed", __LINE__);
  missing(error_of([&] { t["head"]["v"].tensor(); }), "v", __LINE__);
  missing(error_of([&] { relu(t["haed"]); }), "haed", __LINE__);
  missing(error_of([&] { t["head"]["w"] + t["haed"]; }), "haed", __LINE__);
  missing(error_of([&] { const Tree copy = t["haed"]; }), "haed", __LINE__);
  missing(error_of([&] { t["other"] = t["haed"]; }), "haed", __LINE__);
  missing(error_of([&] { t = t["haed"]; }), "haed", __LINE__);
  missing(error_of([&] { linear(number(1), t["haed"]); }), "haed", __LINE__);
  missing(error_of([&] { std::as_const(t)["haed"]; }), "haed", __LINE__);
  missing(error_of([&] { const Tree all{{"a", t["haed"]}}; }), "haed", __LINE__);
  const std::string error = error_of([&] { t["haed"].tensor(); });
  EXPECT_TRUE(says(error, "entries encoder, head, new"));
  EXPECT_TRUE(says(error, "did you mean \"head\"?"));
  EXPECT_EQ(text(t), std::string(kModel) + " new=5");
}

TEST(TreeNames, AMissingEntryIsSeenNowhere) {
  Tree t = model();
  Tree& later = t["later"];
  t["far"]["away"]["w"];
  EXPECT_FALSE(t.contains("later"));
  EXPECT_FALSE(t.contains("far"));
  EXPECT_EQ(t.children().size(), 2u);
  EXPECT_EQ(text(t), kModel);
  check_same_structure(t, model(), "test");
  EXPECT_FALSE(Tree(t).contains("later"));
  Tree none;
  none["x"];
  EXPECT_TRUE(none.empty());
  // Until something is assigned.
  later = number(1);
  EXPECT_TRUE(t.contains("later"));
  t["far"]["away"]["w"] = number(2);
  EXPECT_EQ(text(t["far"]), "away/w=2");
  EXPECT_EQ(text(t), "encoder/b=1 encoder/w=2 far/away/w=2 head/b=3 head/w=4 later=1");
  t["marked"].set_mark("moments");
  EXPECT_TRUE(t.contains("marked"));
  EXPECT_EQ(Tree(t)["marked"].mark(), "moments");
}

TEST(TreeNames, MovingAMissingEntryKeepsItsError) {
  Tree t = model();
  Tree moved = std::move(t["nothing"]);
  EXPECT_TRUE(says(error_of([&] { moved.tensor(); }), "no entry \"nothing\""));
  std::swap(t["encoder"], t["none"]);
  EXPECT_EQ(text(t["none"]), "b=1 w=2");
  EXPECT_TRUE(says(error_of([&] { t["encoder"]["w"].tensor(); }), "no entry \"none\""));
}

TEST(TreeNames, AreNeitherEmptyNorPaths) {
  Tree t;
  const std::string error = error_of([&] { t["a/b"] = number(1); });
  EXPECT_TRUE(says(error, "error[RT0125]: \"a/b\" is no name for an entry of a tree"));
  EXPECT_TRUE(says(error, "trees_test.cpp:" + std::to_string(__LINE__ - 2)));
  EXPECT_TRUE(says(error_of([&] { t[""] = number(1); }), "RT0125"));
  const std::string listed = error_of([&] { Tree{{"x/y", number(1)}}; });
  EXPECT_TRUE(says(listed, "trees_test.cpp:" + std::to_string(__LINE__ - 1)));
}

// -- depth --------------------------------------------------------------------------------------------------------

TEST(TreeDepth, EndsInAnError) {
  Tree t;
  Tree* at = &t;
  const std::string error = error_of([&] {
    for (int i = 0; i < 100'000; ++i) at = &(*at)["a"];
  });
  EXPECT_TRUE(says(error, "error[RT0124]: a tree has more than 1000 levels"));
  Tree nested = number(1);
  EXPECT_TRUE(says(error_of([&] {
                     for (int i = 0; i < 5000; ++i) {
                       Tree outer;
                       outer["a"] = std::move(nested);
                       nested = std::move(outer);
                     }
                   }),
                   "RT0124"));
}

TEST(TreeDepth, IsThatOfTheValueAndNotOfItsHistory) {
  Tree t{{"a", {{"a", {{"w", number(1)}}}}}};
  for (int i = 0; i < 5000; ++i) {
    Tree inner(std::move(t["a"]));
    Tree outer;
    outer["a"] = std::move(inner);
    t = std::move(outer);
    const Tree copy = t["a"];
    t["a"] = copy;
  }
  EXPECT_EQ(text(t), "a/a/w=1");
}

TEST(Trees, AreReadByManyThreads) {
  const Tree t = model();
  std::vector<std::thread> threads;
  std::vector<std::string> texts(4);
  for (auto& own : texts)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) own = text(Tree(t));
    });
  for (auto& thread : threads) thread.join();
  for (const auto& own : texts) EXPECT_EQ(own, kModel);
}

TEST(Trees, ArePrinted) {
  std::ostringstream out;
  out << model() << " " << Tensor::from<float>({1, 2}, {2}) << " " << Shape{2, 3} << " " << Tensor();
  EXPECT_EQ(out.str(), "{encoder/b f32[], encoder/w f32[], head/b f32[], head/w f32[]} f32[2] {1, 2} [2,3] no tensor");
}

}  // namespace
}  // namespace retrace
