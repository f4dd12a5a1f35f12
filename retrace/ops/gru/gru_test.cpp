// The example of the page of gru; its cases are beside those of lstm.
#include "retrace/ops/gru/gru.h"

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(gru, gru(Tensor::ones({1, 3, 2}),
                    {Tensor::full(0.1, {3, 2}), Tensor::full(0.1, {3, 1}), Tensor::zeros({3}), Tensor::zeros({3})})
                    .y);

}  // namespace
}  // namespace retrace
