#include "retrace/data/datasets.h"
#include "retrace/data/image_set_files.h"

#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/data/source_kind.h"

namespace retrace {
namespace {

std::string write(const std::filesystem::path& folder) {
  const ImageSet train = datasets::make_digits(Split::train, {.seed = 1}),
                 test = datasets::make_digits(Split::test, {.seed = 1});
  const auto sheet = folder / "digits.png";
  const bool train_there = check_image_set(folder, Split::train, train);
  const bool test_there = check_image_set(folder, Split::test, test);
  if (!train_there || !test_there) check_contact_sheet(sheet);  // else it is ours, too
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw write_failed(folder, failure.value());
  write_image_set(folder, Split::train, train);
  write_image_set(folder, Split::test, test);
  write_contact_sheet(sheet, train);
  return fmt::format("{} training and {} test images in {}\nto look at: {}\n", train.count, test.count,
                     printable(folder.string()), printable(sheet.string()));
}

}  // namespace

SourceKind digits_source() {
  return {.name = "digits",
          .help = "5,000 + 5,000 generated digits of 28 x 28 pixels, with class and angle",
          .targets = {{.name = "class"}, {.name = "angle", .kind = nn::OutputKind::values}},
          .sample = [](const SourceRequest&) { return Shape{datasets::kDigitSize, datasets::kDigitSize, 1}; },
          .load =
              [](Split split, const SourceRequest& request) {
                return datasets::digits(split, {.count = request.first_of(datasets::DigitsOptions().count), .seed = 1});
              },
          .description =
              [](Split, const SourceRequest& request) {
                return SourceDescription{
                    request.first_of(datasets::DigitsOptions().count),
                    {{DType::f32, {datasets::kDigitSize, datasets::kDigitSize, 1}, Labels("SSC"), {}},
                     {DType::i32, {}, {}, {}},
                     {DType::f32, {1}, Labels("C"), {}}}};
              },
          .write = write,
          .written = "IDX files of the digits, and a PNG contact sheet to look at"};
}

}  // namespace retrace
