#include <fmt/format.h>

#include "retrace/base/file.h"
#include "retrace/cli/cli.h"
#include "retrace/cli/output.h"
#include "retrace/data/digits.h"

namespace retrace::cli {

int data_digits(const DataOptions& options) {
  const ImageSet train = make_digits(Split::train), test = make_digits(Split::test);
  const auto sheet = options.out / "digits.png";
  const bool train_there = check_image_set(options.out, Split::train, train);
  const bool test_there = check_image_set(options.out, Split::test, test);
  if (!train_there || !test_there) check_contact_sheet(sheet);  // else it is ours, too
  std::error_code failure;
  std::filesystem::create_directories(options.out, failure);
  if (failure) throw write_failed(options.out, failure.value());
  write_image_set(options.out, Split::train, train);
  write_image_set(options.out, Split::test, test);
  write_contact_sheet(sheet, train);
  print(fmt::format("{} training and {} test images in {}\nto look at: {}\n", train.count, test.count,
                    printable(options.out.string()), printable(sheet.string())));
  return 0;
}

}  // namespace retrace::cli
