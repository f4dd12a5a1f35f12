#include "retrace/monitor/charts.h"

#include <gtest/gtest.h>
#include <png.h>
#include <filesystem>

#include <limits>

#include "retrace/base/error.h"

namespace retrace {
namespace {

const SurfacePlot kPlane{"a 'plane'", {0, 1}, {0, 1, 2}, {0, 1, 2, 1, 2, 3}};

// The pixels of the picture that was drawn, RGB; empty if it could not be.
std::vector<uint8_t> picture(const std::vector<SurfacePlot>& plots, std::string& problem) {
  const auto path = std::filesystem::temp_directory_path() / "retrace surface 'plot'.png";
  problem = write_surface_plots(path, plots);
  if (!problem.empty()) return {};
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_TRUE(png_image_begin_read_from_file(&image, path.c_str())) << image.message;
  image.format = PNG_FORMAT_RGB;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(image));
  EXPECT_TRUE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr)) << image.message;
  EXPECT_EQ(image.width, 560 * plots.size());
  std::filesystem::remove(path);
  return pixels;
}

TEST(SurfacePlot, IsDrawnOrSaysWhyNot) {
  std::string problem;
  const auto plane = picture({kPlane}, problem);
  if (problem.find("not installed") != std::string::npos) GTEST_SKIP() << problem;
  EXPECT_EQ(problem, "");
  EXPECT_NE(plane, picture({{kPlane.title, kPlane.x, kPlane.y, {0, 1, 2, 1, 2, 0}}}, problem));
  EXPECT_EQ(plane, picture({kPlane}, problem));
}

TEST(SurfacePlot, SharesOneScaleAndStandsWhatIsNotFinite) {
  std::string problem;
  const SurfacePlot flat{"flat", {0, 1}, {0, 1}, {2, 2, 2, 2}};
  const SurfacePlot holes{
      "holes",
      {0, 1, 2},
      {0, 1},
      {0, 1, std::numeric_limits<double>::quiet_NaN(), 3, std::numeric_limits<double>::infinity(), 3}};
  const auto alone = picture({flat}, problem);
  if (problem.find("not installed") != std::string::npos) GTEST_SKIP() << problem;
  EXPECT_EQ(problem, "");
  const auto both = picture({flat, holes}, problem);
  EXPECT_EQ(problem, "");
  // The flat one has another colour and place where the other's heights stretch the scale.
  size_t different = 0;
  for (size_t row = 0; row < 480; ++row)
    for (size_t i = 0; i < 3 * 560; ++i) different += alone[row * 3 * 560 + i] != both[row * 6 * 560 + i];
  EXPECT_GT(different, 1000u);
}

TEST(SurfacePlot, RefusesWhatIsNoGrid) {
  SurfacePlot short_of_one = kPlane, line{"line", {0}, {0, 1}, {0, 1}};
  short_of_one.heights.pop_back();
  const auto refusal = [](const SurfacePlot& plot) {
    try {
      write_surface_plots("/nonexistent/x.png", {kPlane, plot});
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refusal(short_of_one),
            "error[RT0530]: surface plot \"a 'plane'\": 5 heights over 2 by 3 points\n"
            "  expected: a height for each point, and 2 points or more along x and y");
  EXPECT_EQ(refusal(line),
            "error[RT0530]: surface plot \"line\": 2 heights over 1 by 2 points\n"
            "  expected: a height for each point, and 2 points or more along x and y");
}

}  // namespace
}  // namespace retrace
