#include "retrace/run/check_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "retrace/tensor/number.h"

namespace retrace {
namespace {

// Floats of one sign are ordered as their bits are.
int64_t place_of(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return bits >> 31 ? -static_cast<int64_t>(bits & 0x7fffffffu) : static_cast<int64_t>(bits);
}
double place_of(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  const auto size = static_cast<double>(bits & ~(uint64_t{1} << 63));
  return bits >> 63 ? -size : size;
}

template <class T>
bool same(T a, T b, const AccelerateOptions& options) {
  if (std::memcmp(&a, &b, sizeof(T)) == 0) return true;
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) && std::isnan(b)) return true;
    const T largest = std::max(std::fabs(a), std::fabs(b));
    return options.check_mode == Check::tolerance &&
           std::fabs(a - b) <= static_cast<T>(options.check_tolerance) * largest;
  }
  return false;
}

Error differs(const std::string& what, Place made) {
  return Error(ErrorKind::usage, 258,
               "check mode: an accelerated function gives another result than the function itself")
      .where(made)
      .got(what)
      .help("the function depends on something that is not among its arguments: make it one");
}

template <class T>
void compare(const std::string& name, const Tensor& replayed, const Tensor& plain, const AccelerateOptions& options,
             Place made) {
  const auto *a = static_cast<const T*>(replayed.data(made)), *b = static_cast<const T*>(plain.data(made));
  int64_t count = 0, first = 0;
  for (int64_t i = plain.size(); i-- > 0;)
    if (!same(number(a[i]), number(b[i]), options)) ++count, first = i;
  if (!count) return;
  std::string what = fmt::format("{} {}: {} of {} elements differ; element {} is {}, plainly {}", name,
                                 plain.spec().text(), count, plain.size(), first, number(a[first]), number(b[first]));
  if constexpr (std::is_floating_point_v<T>) {
    const auto units = static_cast<double>(place_of(a[first]) - place_of(b[first]));
    what += fmt::format(", {} units in the last place away", std::fabs(units));
  }
  throw differs(what, made);
}

}  // namespace

void NamedResults::tensor(const Tensor& tensor) {
  ++count;
  if (tensor.defined()) all.emplace_back(fmt::format("result {}", count), tensor);
}

void NamedResults::tree(const Tree& tree) {
  ++count;
  for (const auto& [path, tensor] : leaves(tree))
    all.emplace_back(path.empty() ? fmt::format("result {}", count) : fmt::format("result {} \"{}\"", count, path),
                     tensor);
}

void check_replay(const NamedResults& replayed, const NamedResults& plain, const AccelerateOptions& options,
                  Place made) {
  if (replayed.all.size() != plain.all.size())
    throw differs(fmt::format("{} tensors, plainly {}", replayed.all.size(), plain.all.size()), made);
  for (size_t i = 0; i < plain.all.size(); ++i) {
    const auto& [name, a] = replayed.all[i];
    const auto& [plain_name, b] = plain.all[i];
    if (name != plain_name) throw differs(fmt::format("{}, plainly {}", name, plain_name), made);
    if (!(a.spec() == b.spec()))
      throw differs(fmt::format("{} is {}, plainly {}", name, a.spec().text(), b.spec().text()), made);
    switch (b.type()) {
      case DType::f32: compare<float>(name, a, b, options, made); break;
      case DType::f64: compare<double>(name, a, b, options, made); break;
      case DType::i32: compare<int32_t>(name, a, b, options, made); break;
      case DType::bf16: compare<BFloat16>(name, a, b, options, made); break;
      case DType::f16: compare<Float16>(name, a, b, options, made); break;
      case DType::i64: compare<int64_t>(name, a, b, options, made); break;
      case DType::u8:
      case DType::boolean: compare<uint8_t>(name, a, b, options, made); break;
    }
  }
}

}  // namespace retrace
