#pragma once
// Texts as stores.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "retrace/data/datastore.h"
#include "retrace/data/token_text.h"

namespace retrace {

// Which windows of a text are observations.
struct TextWindows {
  int64_t first = 0, end = -1;  // the tokens that they are taken from; -1: all from the first on
  int64_t length = 64;          // tokens of a window
  int64_t stride = 0;           // from the first token of a window to that of the next; 0: `length`
};

// A store whose observations are windows of a text: the numbers of its tokens, f32[length] "C", and of those that
// follow each of them, i32[length] "T". Window i begins at the token first + i * stride; there are
// (end - first - 1 - length) / stride + 1, rounded down. `files`: those that the text was read from. Error(bad_data)
// where not one fits.
Datastore text_windows(std::shared_ptr<const TokenText> text, const TextWindows& windows,
                       std::vector<std::string> files = {});

// The text of a file, or of the files of a folder in the order of the bytes of their names, without links, folders and
// names that begin with a dot. Errors: missing; bad_data for more than 1 GiB.
std::vector<TextPiece> read_text(const std::filesystem::path& path);

}  // namespace retrace
