#include "retrace/monitor/charts.h"

#include <gtest/gtest.h>
#include <filesystem>

#include <cstdlib>
#include <fstream>

#include "retrace/monitor/gnuplot.h"

namespace retrace {
namespace {

const BarChart kChart{"training", "s", {{"plain", 40}, {"accelerated", 10}}};

TEST(BarChart, HasBarsInProportion) {
  EXPECT_EQ(bar_text(kChart, 8), "training (s)\n  plain          40.0 ████████\n  accelerated    10.0 ██\n");
  EXPECT_EQ(bar_text({"none", "s", {{"a", 0}}}, 8), "none (s)\n  a    0.00 \n");
}

TEST(BarChart, IsDrawnOrSaysWhyNot) {
  const auto png = std::filesystem::temp_directory_path() / "retrace bar 'chart'.png";
  const std::string problem = write_bar_charts(png, {kChart, kChart});
  if (problem.find("not installed") != std::string::npos) GTEST_SKIP() << problem;
  EXPECT_EQ(problem, "");
  std::ifstream file(png, std::ios::binary);
  char head[4] = {};
  file.read(head, 4);
  EXPECT_EQ(std::string(head, 4), "\x89PNG");
  std::filesystem::remove(png);
}

TEST(Gnuplot, IsNamedWhenItIsAbsentAndQuotedWhenItFails) {
  const std::string problem = run_gnuplot("plot no_such_function(x)\n");
  EXPECT_TRUE(problem.find("gnuplot failed: ") == 0 || problem.find("gnuplot is not installed") == 0) << problem;
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  EXPECT_EQ(run_gnuplot("exit\n"), "gnuplot is not installed (package gnuplot-nox)");
  setenv("PATH", path.c_str(), 1);
}

TEST(Gnuplot, StringsCannotEnd) {
  EXPECT_EQ(gnuplot_string("a'b"), "'a''b'");
  EXPECT_EQ(gnuplot_string("a\nb"), "'a b'");
}

}  // namespace
}  // namespace retrace
