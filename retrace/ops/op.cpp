#include "retrace/ops/op.h"

#include "retrace/ops/op_folders.h"

namespace retrace {

const OpTable& op_table() {
  static const OpTable* table = [] {
    auto* made = new OpTable;
    for (const OpFolder& folder : op_folders()) folder.define(*made);
    return made;
  }();
  return *table;
}

const Op& find_op(std::string_view name) {
  if (const Op* op = op_table().find(name)) return *op;
  std::vector<std::string> names;
  for (const auto& op : op_table().all()) names.emplace_back(op.name);
  const auto near = nearest(name, names);
  throw Error(ErrorKind::usage, 130, fmt::format("there is no op \"{}\"", name))
      .help(near.empty() ? "" : fmt::format("did you mean {}?", near));
}

void op_error(const InferCall& call, int code, const std::string& message, const std::string& got,
              const std::string& expected, const std::string& help) {
  throw Error(ErrorKind::usage, code, fmt::format("{}: {}", call.op.name, message))
      .where(call.place)
      .got(got)
      .expected(expected)
      .help(help);
}

void check_float(const InferCall& call, int input, const char* argument) {
  const auto& spec = call.inputs[static_cast<size_t>(input)];
  if (is_float(spec.type)) return;
  op_error(call, 131, fmt::format("{} is {}", argument, name_of(spec.type)),
           fmt::format("{} {}", argument, spec.text()), "f32 or f64", fmt::format("cast({}, DType::f32)", argument));
}

void check_type(const InferCall& call, int input, const char* argument, DType type) {
  const auto& spec = call.inputs[static_cast<size_t>(input)];
  if (spec.type == type) return;
  op_error(call, 131, fmt::format("{} is {}", argument, name_of(spec.type)),
           fmt::format("{} {}", argument, spec.text()), std::string(name_of(type)),
           fmt::format("cast({}, DType::{})", argument, type == DType::boolean ? "boolean" : name_of(type)));
}

void check_same_type(const InferCall& call, int input, const char* argument) {
  const auto& spec = call.inputs[static_cast<size_t>(input)];
  const DType type = call.inputs[0].type;
  if (spec.type == type) return;
  op_error(call, 132, fmt::format("the arguments have the types {} and {}", name_of(type), name_of(spec.type)),
           fmt::format("{} and {} {}", call.inputs[0].text(), argument, spec.text()), "one type",
           fmt::format("cast({}, DType::{})", argument, name_of(type)));
}

void check_rank(const InferCall& call, int input, const char* argument, int rank, const char* axes) {
  const auto& spec = call.inputs[static_cast<size_t>(input)];
  if (spec.shape.rank() == rank) return;
  op_error(call, 133, fmt::format("{} has {} axes", argument, spec.shape.rank()),
           fmt::format("{} {}", argument, spec.text()), fmt::format("{} axes {}", rank, axes),
           fmt::format("reshape {} first", argument));
}

void check_axis(const InferCall& call, int64_t axis, int rank) {
  if (axis >= 0 && axis < rank) return;
  op_error(call, 134, fmt::format("axis {} does not exist", axis), call.inputs[0].text(),
           rank == 0 ? std::string("no axis: the tensor has rank 0")
                     : fmt::format("an axis from {} to {}", -rank, rank - 1));
}

Labels checked_labels(const InferCall& call, const Shape& shape) {
  Labels labels;
  try {
    labels = Labels(call.attributes.text("labels"));
  } catch (Error& error) {
    throw error.where(call.place);
  }
  if (!labels.empty() && labels.size() != shape.rank())
    op_error(call, 112, fmt::format("labels \"{}\" do not fit the shape {}", labels.text(), shape.text()), "",
             "one label for each axis", "write U for an axis without a meaning of its own");
  return labels;
}

void check_defined(std::string_view op, const Tensor& argument, Place place) {
  if (argument.defined()) return;
  try {
    argument.spec(place);
  } catch (Error& error) {
    throw error.in(std::string(op));
  }
}

}  // namespace retrace
