#include "retrace/monitor/png_picture.h"

#include <cerrno>

#include "retrace/base/error.h"
#include "retrace/monitor/program.h"

namespace retrace {
namespace {

constexpr uint64_t kMostBytes = 1'000'000'000;

}  // namespace

std::string png_picture(std::string_view svg) {
  const TemporaryFile from(".svg"), to(".png");
  if (!write_all(from.descriptor(), svg)) throw write_failed(from.path(), errno);
  const ProgramEnd end = run_program({"rsvg-convert", "--zoom", "2", "--background-color", "white", "--format", "png",
                                      "--output", to.path(), from.path()});
  if (!end.installed)
    throw Error(ErrorKind::unavailable, 735, "PNG pictures are made by rsvg-convert, which is not installed")
        .help("install the package librsvg2-bin, or give --out a name that ends in .svg");
  std::string png = end.status == 0 ? read_file(to.path(), "picture", kMostBytes) : "";
  if (png.empty())
    throw Error(ErrorKind::unavailable, 737, "rsvg-convert does not make the picture")
        .got(end.message)
        .help("give --out a name that ends in .svg: that picture needs no other program");
  return png;
}

}  // namespace retrace
