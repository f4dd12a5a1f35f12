#include "retrace/data/datasets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "retrace/base/double_math.h"
#include "retrace/base/error.h"
#include "retrace/base/fp_environment.h"
#include "retrace/data/random_stream.h"
#include "retrace/data/strokes.h"

namespace retrace::datasets {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr int kPieces = 5;                        // lines between two points of a stroke
constexpr uint64_t kFirstTestIndex = 5000000000;  // a multiple of ten: both splits begin with a 0

// Uniform numbers of one digit, in the order in which they are asked for.
class Draws {
 public:
  Draws(uint64_t seed, uint64_t index, uint64_t use) : stream_(seed, "digits", 0, use, index) {}
  // Uniform in [0, 1), a multiple of 2^-24.
  double unit() { return static_cast<double>(stream_.uniform()); }
  double between(double low, double high) { return low + (high - low) * unit(); }
  // Triangular in (-size, size), mean 0.
  double around(double size) { return size * (unit() + unit() - 1.0); }

 private:
  RandomStream stream_;
};

// The map of one digit: x' = xx x + xy y + x0, y' alike, in pixels.
struct Hand {
  double xx, xy, yx, yy, x0, y0;
  double radius;    // half of the pen's width, in pixels
  double pressure;  // relative change of the radius along a stroke
  double edge;      // width of the ramp from ink to paper, in pixels
  double ink;       // darkness of a covered pixel
  double noise;     // of a pixel, in units of full ink
};

Hand random_hand(Draws& draws, double degrees) {
  const double height = draws.between(16.5, 20.5), width = height * draws.between(0.8, 1.25);
  const double slant = draws.around(0.14);
  const double angle = degrees * (kPi / 180.0), c = double_math::cos(angle), s = double_math::sin(angle);
  // Upright letters are scaled, slanted, then turned; y points downwards.
  Hand hand{};
  hand.xx = c * width;
  hand.xy = c * (slant * height) + s * height;
  hand.yx = -s * width;
  hand.yy = c * height - s * (slant * height);
  hand.x0 = 0.5 * kDigitSize + draws.around(2.5);
  hand.y0 = 0.5 * kDigitSize + draws.around(2.5);
  hand.radius = draws.between(0.7, 1.5);
  hand.pressure = draws.around(0.35);
  hand.edge = draws.between(1.0, 1.6);
  hand.ink = draws.between(0.7, 1.0);
  hand.noise = draws.between(0.02, 0.1);
  return hand;
}

using Canvas = std::array<double, kDigitSize * kDigitSize>;

struct Dab {
  double x, y, radius;
};

// Raises each pixel near the line from a to b to the share of it that the pen covers.
void draw_line(Canvas& canvas, const Dab& a, const Dab& b, double edge) {
  const double reach = std::max(a.radius, b.radius) + edge;
  const auto clip = [](double v) { return static_cast<int>(std::clamp(v, 0.0, static_cast<double>(kDigitSize))); };
  const int x_first = clip(std::min(a.x, b.x) - reach), x_last = clip(std::max(a.x, b.x) + reach + 1.0);
  const int y_first = clip(std::min(a.y, b.y) - reach), y_last = clip(std::max(a.y, b.y) + reach + 1.0);
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  for (int y = y_first; y < y_last; ++y) {
    for (int x = x_first; x < x_last; ++x) {
      const double px = x + 0.5 - a.x, py = y + 0.5 - a.y;
      const double t = length > 0.0 ? std::clamp((px * dx + py * dy) / length, 0.0, 1.0) : 0.0;
      const double qx = px - t * dx, qy = py - t * dy;
      const double distance = std::sqrt(qx * qx + qy * qy);
      const double covered = (a.radius + t * (b.radius - a.radius) - distance) / edge + 0.5;
      double& pixel = canvas[static_cast<size_t>(y * kDigitSize + x)];
      pixel = std::max(pixel, std::min(covered, 1.0));
    }
  }
}

void draw_stroke(Canvas& canvas, const Stroke& points, const Hand& hand) {
  const Stroke line = smooth(points, kPieces);
  const auto dab = [&](size_t i) {
    const StrokePoint p = line[i];
    const double along = static_cast<double>(i) / static_cast<double>(line.size() - 1);
    return Dab{hand.xx * p.x + hand.xy * p.y + hand.x0, hand.yx * p.x + hand.yy * p.y + hand.y0,
               hand.radius * (1.0 + hand.pressure * (along - 0.5) * 2.0)};
  };
  for (size_t i = 0; i + 1 < line.size(); ++i) draw_line(canvas, dab(i), dab(i + 1), hand.edge);
}

}  // namespace

Digit make_digit(uint64_t seed, uint64_t index) {
  const FloatingPointScope scope;
  Draws draws(seed, index, 0), noise(seed, index, 1);
  Digit digit{};
  digit.label = static_cast<int32_t>(index % 10);
  digit.angle = static_cast<float>(draws.between(-45.0, 45.0));
  const Hand hand = random_hand(draws, digit.angle);
  const auto ways = glyphs(digit.label);
  Glyph glyph = ways[static_cast<size_t>(draws.unit() * static_cast<double>(ways.size()))];

  Canvas canvas{};
  const double tremble = draws.between(0.02, 0.05);
  for (auto& stroke : glyph) {
    for (auto& point : stroke) point.x += draws.around(tremble), point.y += draws.around(tremble);
    draw_stroke(canvas, stroke, hand);
  }
  for (size_t i = 0; i < canvas.size(); ++i) {
    const double value = canvas[i] * hand.ink + noise.around(hand.noise);
    digit.pixels[i] = static_cast<uint8_t>(std::clamp(value, 0.0, 1.0) * 255.0 + 0.5);
  }
  return digit;
}

ImageSet make_digits(Split split, const DigitsOptions& options, Place place) {
  if (options.count < 0 || options.count > int64_t{1} << 24)
    throw Error(ErrorKind::usage, 309, fmt::format("digits: {} images were asked for", options.count))
        .where(place)
        .expected("0 to 16777216");
  ImageSet set;
  set.count = options.count, set.height = set.width = kDigitSize;
  set.pixels.reserve(static_cast<size_t>(options.count) * kDigitSize * kDigitSize);
  const uint64_t first = split == Split::train ? 0 : kFirstTestIndex;
  for (int64_t i = 0; i < options.count; ++i) {
    const Digit digit = make_digit(options.seed, first + static_cast<uint64_t>(i));
    set.pixels.insert(set.pixels.end(), digit.pixels.begin(), digit.pixels.end());
    set.labels.push_back(digit.label);
    set.angles.push_back(digit.angle);
  }
  return set;
}

Datastore digits(Split split, const DigitsOptions& options, Place place) {
  return image_set_store(make_digits(split, options, place));
}

}  // namespace retrace::datasets
