#pragma once
// Pictures as PNG, by rsvg-convert, which is run without a shell.

#include <string>
#include <string_view>

namespace retrace {

// The picture of an SVG text as the bytes of a PNG file, on white, with two pixels for each of the SVG's. Errors:
// unavailable where rsvg-convert is not installed (package librsvg2-bin), or does not make it; output.
std::string png_picture(std::string_view svg);

}  // namespace retrace
