#include "retrace/data/datasets.h"
#include "retrace/data/mnist_files.h"

#include "retrace/base/file.h"
#include "retrace/data/source_kind.h"

namespace retrace {

SourceKind mnist_source() {
  return {.name = "mnist",
          .help = "the four IDX files of MNIST, or others like them, from the folder data.path: images and classes",
          .targets = {{.name = "class"}},
          .reads_folder = true,
          .files = "the four IDX files",
          .sample = [](const SourceRequest&) { return Shape{28, 28, 1}; },
          .load = [](Split split, const SourceRequest& request) { return datasets::mnist(request.path, split); },
          .description =
              [](Split split, const SourceRequest& request) {
                const auto files = datasets::mnist_files(request.path, split);
                const Shape sizes = read_image_sizes(files.images, files.labels);
                return SourceDescription{
                    sizes[0], {{DType::f32, {sizes[1], sizes[2], 1}, Labels("SSC"), {}}, {DType::i32, {}, {}, {}}}};
              },
          .origin =
              [](Split split, int variable, const SourceRequest& request) {
                const auto files = datasets::mnist_files(request.path, split);
                return printable((variable > 0 ? files.labels : files.images).string());
              }};
}

}  // namespace retrace
