#pragma once
// Masks: images whose colours are classes.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "retrace/data/image_files.h"
#include "retrace/tensor/tensor.h"

namespace retrace {

// A colour, red in the highest of three bytes. As a text "17" where all three are alike, else "#8000ff".
using MaskColour = uint32_t;
std::string text_of_colour(MaskColour colour);
// Nothing if a text is neither.
std::optional<MaskColour> colour_of_text(const std::string& text);

// The most classes of masks: more colours than that are no classes.
constexpr size_t kMostMaskClasses = 256;

// The colours of masks, which are read in full, in ascending order; reading ends where there are more than
// kMostMaskClasses. Errors: those of reading an image.
std::set<MaskColour> colours_of_masks(const ImageFiles& files);

// What the colours of masks mean.
class MaskClasses {
 public:
  // The texts of the colours of each class, in the order of their numbers, and of those that are none. Error(usage) for
  // what is no colour, and for a colour that comes twice.
  MaskClasses(const std::vector<std::string>& classes, const std::vector<std::string>& ignored);

  // i32 [height,width,1] "SSC": the number of the class of each pixel, -1 for those that are none. mask: u8
  // [height,width,3] "SSC"; `name`: of its file. Error(bad_data) for a colour that has no meaning.
  Tensor numbers(const Tensor& mask, const std::string& name) const;

 private:
  int32_t number_of(MaskColour colour) const;

  std::vector<std::pair<MaskColour, int32_t>> numbers_;  // in ascending order of the colours
};

}  // namespace retrace
