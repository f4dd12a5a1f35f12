#include "retrace/plan/cuda/generated_kernel.h"

#include "retrace/plan/cuda/cuda_lines.h"
#include "retrace/plan/cuda/cuda_reduction.h"
#include "retrace/plan/cuda/cuda_rows.h"

namespace retrace {

const GeneratedKernel* generated_kernel(const Node& node) {
  static constexpr GeneratedKernel reducing{generate_reducing_chain, reducing_workspace, add_reducing_launches};
  static constexpr GeneratedKernel rows{generate_row_chain, row_chain_workspace, add_row_chain_launch};
  static constexpr GeneratedKernel lines{generate_line_chain, line_chain_workspace, add_line_chain_launch};
  if (node.op == &line_chain_op()) return &lines;
  if (is_row_chain(node)) return &rows;
  return is_reducing(node) ? &reducing : nullptr;
}

}  // namespace retrace
