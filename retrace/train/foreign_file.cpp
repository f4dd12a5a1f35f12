#include "retrace/train/foreign_file.h"

#include <fmt/format.h>

#include "retrace/base/error.h"
#include "retrace/base/file.h"

namespace retrace {
namespace {

struct ForeignEnding {
  const char *ending, *framework, *conversion;  // {0}: the file, {1}: the file that is made, without its ending
};

constexpr const char* kFromTorch =
    "import torch, safetensors.torch as s; w = torch.load(\"{0}\", map_location=\"cpu\"); s.save_file({{k: "
    "v.contiguous() for k, v in w.items()}}, \"{1}.safetensors\")";
constexpr const char* kFromKeras =
    "import keras, numpy; m = keras.saving.load_model(\"{0}\"); numpy.savez(\"{1}.npz\", **{{w.path: w.numpy() for w "
    "in m.weights}})";
constexpr const char* kFromPickle =
    "import pickle, numpy; numpy.savez(\"{1}.npz\", **pickle.load(open(\"{0}\", \"rb\")))";
constexpr const char* kFromOnnx =
    "import onnx, safetensors.numpy as s; s.save_file({{t.name: onnx.numpy_helper.to_array(t) for t in "
    "onnx.load(\"{0}\").graph.initializer}}, \"{1}.safetensors\")";

constexpr ForeignEnding kForeignEndings[] = {
    {".pt", "PyTorch", kFromTorch},
    {".pth", "PyTorch", kFromTorch},
    {".h5", "Keras", kFromKeras},
    {".hdf5", "Keras", kFromKeras},
    {".keras", "Keras", kFromKeras},
    {".pkl", "pickle", kFromPickle},
    {".pickle", "pickle", kFromPickle},
    {".onnx", "ONNX", kFromOnnx},
    {".npy", "numpy", "import numpy; numpy.savez(\"{1}.npz\", x=numpy.load(\"{0}\"))"},
};

}  // namespace

ForeignFile foreign_file(const std::filesystem::path& path) {
  const std::string file = path.string(), stem = std::filesystem::path(path).replace_extension().string();
  for (const auto& known : kForeignEndings)
    if (path.extension() == known.ending)
      return {known.framework, fmt::format(fmt::runtime(known.conversion), printable(file), printable(stem))};
  return {};
}

void check_own_ending(const std::filesystem::path& path) {
  const std::string framework = foreign_file(path).framework;
  if (framework.empty()) return;
  const std::string name = printable(std::filesystem::path(path).replace_extension(".safetensors").string());
  throw Error(ErrorKind::usage, 532,
              fmt::format("\"{}\" is named like a file of {}", printable(path.string()), framework))
      .expected("a name that ends in .safetensors, or in .npz for numpy")
      .help(framework == "PyTorch"
                ? fmt::format("save to \"{0}\", which PyTorch reads: safetensors.torch.load_file(\"{0}\")", name)
                : fmt::format("save to \"{}\"", name));
}

}  // namespace retrace
