// The example of the page of rnn; its cases are beside those of lstm.
#include "retrace/ops/rnn/rnn.h"

#include "retrace/ops/testing/op_case.h"

namespace retrace {
namespace {

OP_EXAMPLE(rnn,
           rnn(Tensor::ones({1, 3, 2}), {Tensor::full(0.1, {1, 2}), Tensor::full(0.1, {1, 1}), Tensor::zeros({1})}).y);

}  // namespace
}  // namespace retrace
