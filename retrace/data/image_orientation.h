#pragma once
// What a camera says of how an image is to be turned.

#include <string_view>

namespace retrace {

// The orientation of EXIF in the bytes of a JPEG file, 2 to 8; 1, as it is stored, where the file says none.
int image_orientation(std::string_view file);

}  // namespace retrace
