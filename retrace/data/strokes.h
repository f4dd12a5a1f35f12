#pragma once
// The shapes of the ten digits: strokes of a pen, as points that a smooth curve passes through.

#include <span>
#include <vector>

namespace retrace {

// Digits stand upright in a box of about 0.6 by 1 around the origin; x to the right, y downwards.
struct StrokePoint {
  double x, y;
};

// One movement of the pen. Two points give a straight line; corners are the ends of strokes.
using Stroke = std::vector<StrokePoint>;

// One way to write a digit.
using Glyph = std::vector<Stroke>;

// The ways to write `digit` (0 to 9); at least one.
std::span<const Glyph> glyphs(int digit);

// A polyline along the Catmull-Rom curve through `points`, with `pieces` lines between neighbours. Only + - * /.
Stroke smooth(const Stroke& points, int pieces);

}  // namespace retrace
