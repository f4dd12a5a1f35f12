#pragma once
// Targets that are numbers of classes, without an array of one_hot.

#include "retrace/ops/op.h"

namespace retrace {

// Scores x and what a comparison needs to know of its classes, in the type of x.
struct ClassTargets {
  Tensor numbers;  // the class of each position: the shape of x with 1 in place of the classes
  Tensor classes;  // 0, 1, 2, ..
};

// Whether targets t of x are class numbers: i32 or u8, with one axis less.
bool are_class_numbers(const Tensor& x, const Tensor& t, Place place);

// Whether the classes of x, its last axis, can be compared with t: shapes and labels fit, and `type` holds each number.
bool can_compare_classes(const Tensor& x, const Tensor& t);

// Where that is so. A number that no class has throws as in one_hot.
ClassTargets class_targets(const Tensor& x, const Tensor& t, Place place);

// 1 at the class of each position and else 0, in the shape of x: one_hot, element by element.
Tensor hits(const Tensor& numbers, const Tensor& classes, Place place);

// -log(softmax(x)) along the axis of classes.
Tensor surprise(const Tensor& x, Place place);

void define_class_numbers(OpTable& table);
void define_weighted_cross_entropy(OpTable& table);

}  // namespace retrace
