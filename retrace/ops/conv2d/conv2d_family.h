#pragma once
// Shared by the definitions of the three convolution ops: checks of shapes, and the calls of the kernels.

#include "retrace/ops/conv2d/conv2d_kernel.h"
#include "retrace/ops/window.h"

namespace retrace {

std::vector<TensorSpec> infer_conv2d(const InferCall& call);
std::vector<TensorSpec> infer_conv2d_input_gradient(const InferCall& call);
std::vector<TensorSpec> infer_conv2d_filter_gradient(const InferCall& call);

// The convolution of these attributes, from the shapes of image, weights and result of the forward convolution.
Conv2dShape conv2d_shape(const Attributes& attributes, const Shape& x, const Shape& w, const Shape& y);

// f32: the tiled kernels; f64: plain loops with the same terms, each sum in order of k.
void run_conv2d(const KernelCall& call);
void run_conv2d_input_gradient(const KernelCall& call);
void run_conv2d_filter_gradient(const KernelCall& call);

// The sum goes over (sample, row, column) of dy by blocks of 256.
int64_t subtree_conv2d_filter_gradient(const InferCall& call);

int64_t workspace_conv2d(const InferCall& call);
int64_t workspace_conv2d_input_gradient(const InferCall& call);
int64_t workspace_conv2d_filter_gradient(const InferCall& call);

// f32 on a CUDA device.
void cuda_conv2d(const CudaCall& call);
void cuda_conv2d_input_gradient(const CudaCall& call);
void cuda_conv2d_filter_gradient(const CudaCall& call);
int64_t cuda_workspace_conv2d_filter_gradient(const InferCall& call);

}  // namespace retrace
