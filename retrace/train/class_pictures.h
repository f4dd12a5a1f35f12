#pragma once
// Classes of pixels as pictures.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "retrace/data/mask_classes.h"
#include "retrace/train/class_names.h"

namespace retrace {

// A colour for each class: the one that its name says; where a name says none, the grey value of its number.
std::vector<MaskColour> colours_of_classes(const ClassNames& names, int64_t classes);
// The same to look at: where all are grey, from black to white in equal steps.
std::vector<MaskColour> visible_colours(const ClassNames& names, int64_t classes);

// The class of the highest of the scores of each pixel, the first of equal ones.
std::vector<int32_t> highest_classes(std::span<const float> scores, int64_t classes);

// A PNG, grey where all colours are. Pixels of class -1 are black.
std::string class_png(std::span<const int32_t> classes, int64_t height, int64_t width,
                      const std::vector<MaskColour>& colours);

}  // namespace retrace
