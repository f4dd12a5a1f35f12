#include "retrace/ops/random/random.h"

#include <algorithm>

#include "retrace/base/philox.h"
#include "retrace/ops/op.h"
#include "retrace/ops/random/random_cuda.h"
#include "retrace/ops/random/random_kernel.h"
#include "retrace/trace/draw_scope.h"

namespace retrace {

DrawStream draw_stream(const Attributes& attributes, const TensorSpec& result) {
  const bool by_sample = result.batch_first();
  const int64_t samples = by_sample ? result.shape[0] : 1;
  return {.purpose = hash_bytes("draw"),
          .ordinal = static_cast<uint64_t>(attributes.integer("ordinal")),
          .first_sample = by_sample ? attributes.integer("first_sample") : 0,
          .samples = samples,
          .elements = samples ? result.count() / samples : 0};
}

namespace {

// -- kernels ----------------------------------------------------------------------------------------------------

Draw draw_of(const KernelCall& call) {
  const auto* words = static_cast<const uint32_t*>(call.inputs[0].data);
  const auto wide = [&](int i) { return words[i] | uint64_t{words[i + 1]} << 32; };
  const DrawStream stream = draw_stream(call.attributes, *call.outputs[0].spec);
  return {.key = stream_key(wide(0), stream.purpose, wide(2), stream.ordinal),
          .first_sample = stream.first_sample,
          .samples = stream.samples,
          .elements = stream.elements};
}

void run_uniform(const KernelCall& call) {
  const int64_t count = call.outputs[0].spec->count();
  if (call.outputs[0].spec->type == DType::f32)
    return draw_uniform(draw_of(call), static_cast<float*>(call.outputs[0].data));
  std::vector<float> narrow(static_cast<size_t>(count));
  draw_uniform(draw_of(call), narrow.data());
  std::copy(narrow.begin(), narrow.end(), static_cast<double*>(call.outputs[0].data));
}

void run_normal(const KernelCall& call) {
  if (call.outputs[0].spec->type == DType::f32)
    draw_normal(draw_of(call), static_cast<float*>(call.outputs[0].data));
  else
    draw_normal_reference(draw_of(call), static_cast<double*>(call.outputs[0].data));
}

void run_integers(const KernelCall& call) {
  draw_integers(draw_of(call), static_cast<uint32_t>(call.attributes.integer("n")),
                static_cast<int32_t*>(call.outputs[0].data));
}

// -- the ops ----------------------------------------------------------------------------------------------------

std::vector<TensorSpec> infer_random(const InferCall& call) {
  check_type(call, 0, "the key", DType::i32);
  if (!(call.inputs[0].shape == Shape{4}))
    op_error(call, 186, "the key has a wrong shape", "key " + call.inputs[0].text(), "i32[4]",
             "use random_key(seed).tensor(step)");
  const DType type = call.attributes.type("type");
  const Shape& shape = call.attributes.list("shape");
  for (int64_t size : shape)
    if (size < 0)
      op_error(call, 102, fmt::format("the shape {} has a negative size", shape.text()), shape.text(),
               "sizes of 0 or more");
  const Labels labels = checked_labels(call, shape);
  if (call.op.name == "integers") {
    if (call.attributes.integer("n") < 1)
      op_error(call, 184, fmt::format("n is {}", call.attributes.integer("n")), "", "1 or more");
  } else if (!is_float(type)) {
    op_error(call, 131, fmt::format("the type is {}", name_of(type)), "", "f32 or f64",
             "integers(shape, n) draws whole numbers");
  }
  return {{type, shape, labels, {}}};
}

Tensor draw(const char* name, const Shape& shape, const Tensor* key, int32_t n, const DrawOptions& options,
            Place place) {
  const Op& op = find_op(name);
  DrawScope* const call = DrawScope::current();
  DrawScope* const scope = key ? nullptr : call;
  if (!key && !scope)
    throw Error(ErrorKind::usage, 185, fmt::format("{}: a draw outside of a recorded function needs a key", name))
        .where(place)
        .help(fmt::format("{}(shape, random_key(seed).split(\"name\"))", name));
  Attributes attributes{
      {"shape", shape},
      {"labels", options.labels},
      {"type", options.type},
      {"ordinal", scope ? scope->take() : int64_t{0}},
      {"first_sample", call ? call->first_sample() : int64_t{0}}};  // also with a key: shards stay unseen
  if (op.attributes.size() == 6) attributes.add("n", int64_t{n});
  return record_one(op, std::move(attributes), {scope ? scope->key() : *key}, place);
}

}  // namespace

RandomKey RandomKey::split(std::string_view name) const { return RandomKey(hash_combine(value_, hash_bytes(name))); }
RandomKey RandomKey::split(uint64_t number) const {
  return RandomKey(hash_combine(value_, mix64(number + 0x9e3779b97f4a7c15ull)));
}

Tensor RandomKey::tensor(int64_t step) const {
  const auto low = [](uint64_t x) { return static_cast<int32_t>(static_cast<uint32_t>(x)); };
  const auto wide = static_cast<uint64_t>(step);
  return Tensor::from<int32_t>({low(value_), low(value_ >> 32), low(wide), low(wide >> 32)}, {4});
}

RandomKey random_key(uint64_t seed) { return RandomKey(mix64(seed + 0x9e3779b97f4a7c15ull)); }

RandomKey function_key(uint64_t seed, std::string_view name) {
  const RandomKey key = random_key(seed);
  return name.empty() ? key : key.split(name);
}

Tensor uniform(const Shape& shape, RandomKey key, const DrawOptions& options, Place place) {
  const Tensor own = key.tensor();
  return draw("uniform", shape, &own, 0, options, place);
}
Tensor uniform(const Shape& shape, const DrawOptions& options, Place place) {
  return draw("uniform", shape, nullptr, 0, options, place);
}
Tensor normal(const Shape& shape, RandomKey key, const DrawOptions& options, Place place) {
  const Tensor own = key.tensor();
  return draw("normal", shape, &own, 0, options, place);
}
Tensor normal(const Shape& shape, const DrawOptions& options, Place place) {
  return draw("normal", shape, nullptr, 0, options, place);
}
Tensor integers(const Shape& shape, int32_t n, RandomKey key, const DrawOptions& options, Place place) {
  const Tensor own = key.tensor();
  return draw("integers", shape, &own, n, {.labels = options.labels, .type = DType::i32}, place);
}
Tensor integers(const Shape& shape, int32_t n, const DrawOptions& options, Place place) {
  return draw("integers", shape, nullptr, n, {.labels = options.labels, .type = DType::i32}, place);
}

void define_random(OpTable& table) {
  // No gradients: draws depend on no parameter.
  table.add({.name = "uniform",
             .attributes = {"shape", "labels", "type", "ordinal", "first_sample"},
             .infer = infer_random,
             .kernel = run_uniform,
             .cuda = cuda_uniform});
  table.add({.name = "normal",
             .attributes = {"shape", "labels", "type", "ordinal", "first_sample"},
             .infer = infer_random,
             .kernel = run_normal,
             .cuda = cuda_normal});
  table.add({.name = "integers",
             .attributes = {"shape", "labels", "type", "ordinal", "first_sample", "n"},
             .infer = infer_random,
             .kernel = run_integers,
             .cuda = cuda_integers});
}

}  // namespace retrace
