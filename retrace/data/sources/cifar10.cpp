#include "retrace/data/cifar10.h"

#include "retrace/base/file.h"
#include "retrace/data/cifar10_files.h"
#include "retrace/data/source_kind.h"

namespace retrace {

namespace {

TrainingFacts facts() {
  return {.class_names = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}};
}

}  // namespace

SourceKind cifar10_source() {
  return {
      .name = "cifar10",
      .help =
          "CIFAR-10 in its binary layout, from the folder data.path: colour images of 32 x 32 pixels in ten classes",
      .targets = {{.name = "class"}},
      .reads_folder = true,
      .files = "data_batch_1.bin to data_batch_5.bin and test_batch.bin",
      .sample = [](const SourceRequest&) { return Shape{kCifar10Side, kCifar10Side, 3}; },
      .load =
          [](Split split, const SourceRequest& request) {
            return SourceSet(datasets::cifar10(request.path, split), kCifar10Classes, facts());
          },
      .description =
          [](Split split, const SourceRequest& request) {
            int64_t samples = 0;
            for (const auto& file : cifar10_files(request.path, split)) samples += file.images;
            return SourceDescription{
                samples,
                {{DType::f32, {kCifar10Side, kCifar10Side, 3}, Labels("SSC"), {}}, {DType::i32, {}, {}, {}}},
                kCifar10Classes,
                facts()};
          },
      .class_names = [](const SourceRequest&) { return facts().class_names; },
      .origin =
          [](Split split, int, const SourceRequest& request) {
            return printable(cifar10_files(request.path, split).front().path.parent_path().string());
          }};
}

}  // namespace retrace
