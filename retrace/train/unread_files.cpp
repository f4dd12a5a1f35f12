#include "retrace/train/unread_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "retrace/base/error.h"
#include "retrace/base/folder.h"
#include "retrace/base/joined.h"

namespace retrace {
namespace {
namespace fs = std::filesystem;

struct UnreadKind {
  const char* endings;  // each with a blank behind it
  const char* help;
};

constexpr UnreadKind kKinds[] = {
    {".bmp .gif .tif .tiff .webp .avif .heic .ppm .jp2 ",
     "images are read from JPEG and PNG files; in Python PIL.Image.open(name).convert(\"RGB\").save(name + \".png\") "
     "makes one"},
    {".wav .mp3 .flac .ogg .m4a .aiff ",
     "sounds are read as series of numbers (docs/data.md 10); in Python numpy.save(name + \".npy\", x) writes one, x "
     "[positions,features] such as the rows of a spectrogram, into a folder for each class"},
    {".npy .npz .mat .h5 .hdf5 .pkl .pickle .pt .pth ",
     "arrays are read from train_inputs.npy, train_targets.npy, test_inputs.npy and test_targets.npy (docs/data.md 4), "
     "or from one NPZ file with x_train, y_train, x_test and y_test; in Python "
     "numpy.savez(\"data.npz\", x_train=x, y_train=y) writes one"},
    {".parquet .feather .xlsx .xls .ods .json .jsonl .ndjson .arff .sqlite .db .sav .dta ",
     "tables are read from CSV files; in Python pandas.read_parquet(name).to_csv(\"train.csv\", index=False) writes "
     "one, read_excel and read_json likewise"},
    {".mp4 .avi .mov .mkv .webm ", "videos are read as images: a folder of JPEG or PNG files for each class"},
    {".zip .7z .rar .gz .xz .bz2 .zst ", "unpack it"},
    {".pdf .docx .html .htm .md .rtf .epub ",
     "texts are read from .txt files in a folder for each class (docs/data.md 9)"},
    {".csv .tsv ", "name the table to train on train.csv and the other test.csv, or give one of them to --data"},
};

constexpr size_t kMostNames = 4000;
constexpr int kLevels = 3;

// Endings, and how many files have them.
using Endings = std::map<std::string, int64_t>;

std::string ending_of(const fs::path& file) {
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return ending;
}

// Links are not followed.
void count_endings(const fs::path& folder, int levels, size_t& names, Endings& endings) {
  std::error_code failure;
  for (const auto& name : folder_names(folder, failure)) {
    if (name.starts_with(".") || ++names > kMostNames) continue;
    const fs::path path = folder / name;
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(path, ignored);
    if (fs::is_directory(status) && levels > 1) count_endings(path, levels - 1, names, endings);
    if (fs::is_regular_file(status)) ++endings[ending_of(path)];
  }
}

bool is_among(const std::string& ending, std::string_view endings) {
  return !ending.empty() && endings.find(ending + " ") != std::string_view::npos;
}

}  // namespace

std::optional<UnreadFiles> unread_files(const fs::path& location) {
  Endings endings;
  size_t names = 0;
  if (std::error_code ignored; fs::is_directory(location, ignored))
    count_endings(location, kLevels, names, endings);
  else
    ++endings[ending_of(location)];
  const UnreadKind* most = nullptr;
  int64_t most_files = 0;
  for (const auto& kind : kKinds) {
    int64_t files = 0;
    for (const auto& [ending, count] : endings) files += is_among(ending, kind.endings) ? count : 0;
    if (files > most_files) most = &kind, most_files = files;
  }
  if (!most) return std::nullopt;
  std::vector<std::string> found;
  for (const auto& [ending, count] : endings)
    if (is_among(ending, most->endings))
      found.push_back(fmt::format("{} file{} {}", count, count == 1 ? "" : "s", ending));
  return UnreadFiles{joined(found, ", "), most->help};
}

std::optional<fs::path> only_file(const fs::path& folder, std::string_view endings) {
  std::vector<fs::path> found;
  std::error_code failure;
  for (const auto& name : folder_names(folder, failure)) {
    std::error_code ignored;
    if (!name.starts_with(".") && is_among(ending_of(name), endings) && fs::is_regular_file(folder / name, ignored))
      found.push_back(folder / name);
  }
  if (found.size() != 1) return std::nullopt;
  return found[0];
}

}  // namespace retrace
