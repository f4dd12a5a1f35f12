#include "retrace/data/random_motion.h"
#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

Interval range_of(const OptionValues& options, const char* name) {
  const auto& numbers = options.numbers(name);
  return {numbers.at(0), numbers.at(1)};
}

AugmentOptions options_of(const OptionValues& options) {
  return {
      .reflect_x = options.truth("reflect_x"),
      .reflect_y = options.truth("reflect_y"),
      .rotation = range_of(options, "rotation"),
      .scale = range_of(options, "scale"),
      .scale_x = range_of(options, "scale_x"),
      .scale_y = range_of(options, "scale_y"),
      .shear_x = range_of(options, "shear_x"),
      .shear_y = range_of(options, "shear_y"),
      .translate_x = range_of(options, "translate_x"),
      .translate_y = range_of(options, "translate_y"),
      .fill_value = options.numbers("fill_value"),
      .interpolation = options.text("interpolation") == "nearest" ? Interpolation::nearest : Interpolation::bilinear};
}

OptionRule range_rule(const char* name, const char* help, double standard, double low, double high) {
  return {.name = name,
          .help = help,
          .standard = std::vector<double>{standard, standard},
          .low = low,
          .high = high,
          .range = true};
}

}  // namespace

TransformKind random_affine_transform() {
  using Limits = MotionLimits;
  constexpr double most = Limits::rotation, far = Limits::translation, steep = Limits::shear;
  constexpr double small = Limits::least_scale, large = Limits::most_scale;
  return {
      .name = "random-affine",
      .help = "images are reflected, scaled, sheared, rotated and shifted at random about their middle, in one go",
      .options = {{.name = "reflect_x", .help = "left and right change places every second time", .standard = false},
                  {.name = "reflect_y", .help = "top and bottom change places every second time", .standard = false},
                  range_rule("rotation", "degrees, counter-clockwise: [LOWEST, HIGHEST]", 0, -most, most),
                  range_rule("scale", "of height and width alike", 1, small, large),
                  range_rule("scale_x", "of the width, beside scale", 1, small, large),
                  range_rule("scale_y", "of the height, beside scale", 1, small, large),
                  range_rule("shear_x", "degrees: x grows by tan(shear_x) y", 0, -steep, steep),
                  range_rule("shear_y", "degrees: y grows by tan(shear_y) x", 0, -steep, steep),
                  range_rule("translate_x", "pixels to the right, also parts of one", 0, -far, far),
                  range_rule("translate_y", "pixels downwards, also parts of one", 0, -far, far),
                  {.name = "fill_value",
                   .help = "outside the image: one number, or one for each channel",
                   .standard = std::vector<double>{0},
                   .low = -1e6,
                   .high = 1e6},
                  {.name = "interpolation",
                   .help = "of the four pixels around a point, or the pixel that it lies in",
                   .standard = std::string("bilinear"),
                   .choices = {"bilinear", "nearest"}}},
      .make = [](const OptionValues& options) -> TransformFunction {
        return random_motion(options_of(options), "transform \"random-affine\"");
      }};
}

}  // namespace retrace
