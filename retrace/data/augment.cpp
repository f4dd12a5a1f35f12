#include "retrace/data/augment.h"

#include <fmt/format.h>

#include <cmath>

#include "retrace/data/affine.h"
#include "retrace/data/image_transform.h"
#include "retrace/data/random_motion.h"
#include "retrace/data/transform_kind.h"

namespace retrace {
namespace {

void check_range(const Interval& range, const char* name, double low, double high, Place place) {
  if (range.low >= low && range.low <= range.high && range.high <= high) return;
  throw Error(ErrorKind::usage, 371, fmt::format("augment: {} is no range", name))
      .where(place)
      .got(fmt::format("{} to {}", range.low, range.high))
      .expected(fmt::format("two numbers from {} to {}, the lower one first", low, high));
}

void check_options(const AugmentOptions& options, Place place) {
  using Limits = MotionLimits;
  check_range(options.rotation, "rotation", -Limits::rotation, Limits::rotation, place);
  check_range(options.scale, "scale", Limits::least_scale, Limits::most_scale, place);
  check_range(options.scale_x, "scale_x", Limits::least_scale, Limits::most_scale, place);
  check_range(options.scale_y, "scale_y", Limits::least_scale, Limits::most_scale, place);
  check_range(options.shear_x, "shear_x", -Limits::shear, Limits::shear, place);
  check_range(options.shear_y, "shear_y", -Limits::shear, Limits::shear, place);
  check_range(options.translate_x, "translate_x", -Limits::translation, Limits::translation, place);
  check_range(options.translate_y, "translate_y", -Limits::translation, Limits::translation, place);
  for (const double value : options.fill_value)
    if (!std::isfinite(value)) throw Error(ErrorKind::usage, 371, "augment: fill_value is not finite").where(place);
  if (options.fill_value.empty()) throw Error(ErrorKind::usage, 371, "augment: fill_value is empty").where(place);
}

Tensor moved(const Tensor& image, const InverseMap& map, const AugmentOptions& options, std::string_view caller) {
  require_image_type(image, caller);
  if (image.type() == DType::i32) return resampled(image, map, {0}, Interpolation::nearest);
  const auto fills = static_cast<int64_t>(options.fill_value.size());
  if (fills != 1 && fills != image.shape()[2])
    throw Error(ErrorKind::usage, 373, fmt::format("{}: fill_value has {} numbers", caller, fills))
        .got(image.spec().text())
        .expected("one number, or one for each channel");
  return resampled(image, map, options.fill_value, options.interpolation);
}

// One uniform number of the stream makes one of the range.
class Draws {
 public:
  Draws(RandomStream& random, std::string_view caller) : random_(random), caller_(caller) {}

  double operator()(const Interval& range, const char* name, double low, double high) {
    if (!range.function) return random_.uniform(range.low, range.high);
    const double value = range.function(static_cast<double>(random_.uniform()));
    if (value >= low && value <= high) return value;
    throw Error(ErrorKind::usage, 371, fmt::format("{}: the function of {} made {}", caller_, name, value))
        .expected(fmt::format("a number from {} to {}", low, high));
  }

 private:
  RandomStream& random_;
  std::string_view caller_;
};

AffineMotion drawn_motion(const AugmentOptions& options, RandomStream& random, std::string_view caller) {
  using Limits = MotionLimits;
  constexpr double small = Limits::least_scale, large = Limits::most_scale, steep = Limits::shear;
  constexpr double far = Limits::translation;
  Draws draw(random, caller);
  AffineMotion motion;
  motion.reflect_x = random.below(2) == 1 && options.reflect_x;
  motion.reflect_y = random.below(2) == 1 && options.reflect_y;
  motion.rotation = draw(options.rotation, "rotation", -Limits::rotation, Limits::rotation);
  const double scale = draw(options.scale, "scale", small, large);
  motion.scale_x = scale * draw(options.scale_x, "scale_x", small, large);
  motion.scale_y = scale * draw(options.scale_y, "scale_y", small, large);
  motion.shear_x = draw(options.shear_x, "shear_x", -steep, steep);
  motion.shear_y = draw(options.shear_y, "shear_y", -steep, steep);
  motion.translate_x = draw(options.translate_x, "translate_x", -far, far);
  motion.translate_y = draw(options.translate_y, "translate_y", -far, far);
  return motion;
}

}  // namespace

TransformFunction random_motion(const AugmentOptions& options, std::string_view caller) {
  return [options, caller = std::string(caller)](const Observation& observation, TransformContext& context) {
    const InverseMap map = inverse_of(drawn_motion(options, context.random, caller));
    return with_changed_images(observation, caller,
                               [&](const Tensor& image) { return moved(image, map, options, caller); });
  };
}

Datastore augment(const Datastore& store, const AugmentOptions& options, Place place) {
  check_options(options, place);
  return transform(store, random_motion(options, "augment"), {.seed = options.seed}, place);
}

Datastore named_transform(const Datastore& store, const std::string& name, const OptionValues& values,
                          const TransformOptions& options, Place place) {
  const TransformKind& kind = kind_of(all_transforms(), name, "transform", place);
  return with_place(place, [&] {
    return transform(store, kind.make(completed(values, kind.options, fmt::format("transform \"{}\"", name))), options,
                     place);
  });
}

}  // namespace retrace
