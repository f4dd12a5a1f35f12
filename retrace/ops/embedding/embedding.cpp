#include "retrace/ops/embedding/embedding.h"

#include "retrace/ops/cast/cast.h"
#include "retrace/ops/check_index.h"
#include "retrace/ops/compare/compare.h"
#include "retrace/ops/gather_rows/gather_rows.h"
#include "retrace/ops/op.h"
#include "retrace/ops/reshape/reshape.h"
#include "retrace/ops/round/round.h"
#include "retrace/ops/where/where.h"

namespace retrace {
namespace {

// As an index of rows; -1 for what is no whole number.
Tensor index_of(const Tensor& x, Place place) {
  if (is_index_type(x.type())) return as_index(x, place);
  if (!is_float(x.type()))
    throw Error(ErrorKind::usage, 131, fmt::format("embedding: x is {}", name_of(x.type())))
        .where(place)
        .got(fmt::format("x {}", x.spec().text()))
        .expected("i32, u8 or i64, or whole numbers of a float type")
        .help("cast(x, DType::i32)");
  const Tensor whole = equal(x, floor(x, place), place);
  return where(whole, cast(x, DType::i32, place), constant(-1, DType::i32), place);
}

}  // namespace

Tensor embedding(const Tensor& x, const Tensor& table, Place place) {
  check_defined("embedding", x, place);
  check_defined("embedding", table, place);
  if (table.rank() != 2 || !is_float(table.type()))
    throw Error(ErrorKind::usage, 205, "embedding: the table does not fit")
        .where(place)
        .got(fmt::format("table {}", table.spec().text()))
        .expected("a table [vocabulary,features] of type f32 or f64");
  const Tensor index = index_of(x, place);
  return gather_rows(table, x.labels() == "BC" ? reshape(index, x.shape(), "BT", place) : index, place);
}

void define_embedding(OpTable&) {}  // no op of its own: it is made of gather_rows

}  // namespace retrace
