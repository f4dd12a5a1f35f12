#pragma once
// Pictures of one line of text, of the block elements of Unicode.

#include <string>
#include <string_view>
#include <vector>

namespace retrace {

// A curve of numbers that come one by one: "▇▅▃▂▁". It has at most 20 places, each the mean of as many numbers; when
// they are full, neighbours become one.
class SmallCurve {
 public:
  void add(double value);
  // From the smallest to the largest place, in eight heights; a place without a finite number is a blank. "" before
  // there are two places.
  std::string text() const;

 private:
  struct Place {
    double sum = 0;
    int64_t count = 0, all = 0;  // finite ones, and all
  };
  std::vector<Place> places_;
  int64_t span_ = 1;  // numbers in a place
};

// "███▌░░░░" for a part from 0 to 1.
std::string progress_bar(double part, int columns);

// The columns that a text of one line takes on a terminal: its characters, each of one column.
size_t text_columns(std::string_view text);

}  // namespace retrace
