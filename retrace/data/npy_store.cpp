#include "retrace/data/npy_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "retrace/base/file.h"
#include "retrace/data/array_store.h"
#include "retrace/data/npy.h"
#include "retrace/data/npy_shapes.h"
#include "retrace/data/npz_arrays.h"

namespace retrace {
namespace {

constexpr int64_t kMostClasses = 65'536;

Error refused(const std::string& file, int code, const std::string& what) {
  return Error(ErrorKind::bad_data, code, fmt::format("NPY file \"{}\" {}", printable(file), what));
}

// "[2,5]" of the value at that place in row-major order.
std::string index_text(const Shape& shape, size_t place) {
  Shape index = shape;
  for (int i = shape.rank(); i-- > 0;) {
    index[i] = static_cast<int64_t>(place) % shape[i];
    place /= static_cast<size_t>(shape[i]);
  }
  return index.text();
}

std::vector<float> finite_values(const NpyArray& array, const std::string& file) {
  std::vector<float> values = array.floats();
  const auto wrong = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (wrong != values.end())
    throw refused(file, 365, "has a value that is not finite")
        .got(fmt::format("{} at {}", *wrong, index_text(array.shape, static_cast<size_t>(wrong - values.begin()))))
        .expected("numbers that f32 can hold")
        .help("replace it: numpy.nan_to_num, or remove the sample");
  return values;
}

Tensor inputs_of(const NpyArray& array, const std::string& file, bool scale_bytes) {
  const Shape shape = npy_input_shape(array.shape, file);
  const char* const labels = shape.rank() == 2 ? "BC" : "BSSC";
  if (scale_bytes && shape.rank() == 4 && array.kind == NpyKind::natural && array.item == 1) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(array.bytes.data());
    return Tensor::from(std::span(bytes, array.bytes.size()), shape, labels);
  }
  return Tensor::from(finite_values(array, file), shape, labels);
}

Tensor classes_of(const NpyArray& array, const std::string& file) {
  const bool single = array.shape.rank() == 1 || (array.shape.rank() == 2 && array.shape[1] == 1);
  if (!single || array.is_floating())
    throw refused(file, 367, "does not hold numbers of classes")
        .got(array.text())
        .expected("whole numbers, one for each sample: [n]")
        .help("convert it, a.astype(\"<i4\"), or set the task to regression (in a job data.task = \"regression\")");
  const std::vector<int64_t> numbers = array.integers();
  const auto wrong = std::find_if(numbers.begin(), numbers.end(), [](int64_t k) { return k < 0 || k >= kMostClasses; });
  if (wrong != numbers.end())
    throw refused(file, 368, fmt::format("has the class {} at index {}", *wrong, wrong - numbers.begin()))
        .expected(fmt::format("0 to {}", kMostClasses - 1));
  return Tensor::from(std::vector<int32_t>(numbers.begin(), numbers.end()), {array.shape[0]}, "B");
}

Tensor values_of(const NpyArray& array, const std::string& file) {
  if (array.shape.rank() != 1 && array.shape.rank() != 2)
    throw refused(file, 369, "does not hold values to learn")
        .got(array.text())
        .expected("one value for each sample, [n], or several, [n,m]");
  const int64_t width = array.shape.rank() == 2 ? array.shape[1] : 1;
  return Tensor::from(finite_values(array, file), {array.shape[0], width}, "BC");
}

// That holds the array.
std::string file_of_array(const std::string& path) {
  const auto inside = npz_place(path);
  return inside ? inside->file.string() : path;
}

}  // namespace

Shape npy_input_shape(const Shape& array, const std::string& file) {
  if (array.rank() < 2 || array.rank() > 4 || (array.rank() > 0 && array.count(1, array.rank()) == 0))
    throw refused(file, 366, "does not hold inputs of a network")
        .got(array.text())
        .expected("features [n,features], or images [n,height,width,channels] or [n,height,width]");
  return array.rank() == 3 ? Shape{array[0], array[1], array[2], 1} : array;
}

Datastore npy_store(const std::string& inputs, const std::string& targets, const NpyStoreOptions& options,
                    Place place) {
  return with_place(place, [&] {
    std::vector<Tensor> arrays = {inputs_of(read_npy(inputs), inputs, options.scale_bytes)};
    if (!targets.empty()) {
      const NpyArray array = read_npy(targets);
      arrays.push_back(options.task == Task::classification ? classes_of(array, targets) : values_of(array, targets));
      if (arrays[0].shape()[0] != arrays[1].shape()[0])
        throw refused(targets, 370, fmt::format("has {} targets", arrays[1].shape()[0]))
            .expected(fmt::format("{}, one for each sample of \"{}\"", arrays[0].shape()[0], printable(inputs)));
    }
    std::vector<std::string> files = {file_of_array(inputs)};
    if (!targets.empty() && file_of_array(targets) != files[0]) files.push_back(file_of_array(targets));
    return array_store(std::move(arrays), {.scale_bytes = options.scale_bytes, .files = std::move(files)});
  });
}

}  // namespace retrace
