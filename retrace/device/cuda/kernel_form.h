#pragma once
// Kernels in forms. The plain form is compiled with its .cu file and stores its results as they are; plans compile
// others, with a chain on each value that is stored (retrace/plan/cuda/cuda_epilogue.h).
//
// RT_KERNEL_OF_FORM(name, threads, blocks, Arguments, a, form)
//                           what RT_KERNEL_RESIDENT declares, in every form, in a header: name_of(a, form) is called by
//                           the kernels of its forms, and name_form has its bounds.
// RT_PLAIN_FORM(name)       the kernel in its plain form.
//
// A form says `plain`. If it is not, it stores: put(at, value) element `at` of the result, put4(at, values) the four
// from a multiple of four on. An element may be stored again: the last time counts. When a block has stored its tile,
// number `tile` of `rows` rows and `column_tile` of `columns` columns, all its threads come to
// finish<rows, columns, threads>(tile, column_tile).

#include "retrace/device/cuda/kernel.h"

#define RT_KERNEL_OF_FORM(name, most_threads, resident_blocks, ItsArguments, a, form) \
  struct name##_form {                                                                \
    using Arguments = ItsArguments;                                                   \
    static constexpr int threads = most_threads, blocks = resident_blocks;            \
  };                                                                                  \
  template <class Form>                                                               \
  RT_DEVICE void name##_of(const ItsArguments& a, const Form& form)

#define RT_PLAIN_FORM(name)                                                                          \
  RT_KERNEL_RESIDENT(name, name##_form::threads, name##_form::blocks, name##_form::Arguments, its) { \
    name##_of(its, ::retrace::cuda::PlainForm());                                                    \
  }

namespace retrace::cuda {

struct PlainForm {
  static constexpr bool plain = true;
};

// Stores the first `count` of four neighbours from `at` on: all at once where that is a multiple of four (`wide`).
template <class Form>
RT_DEVICE void put_neighbours(const Form& form, long long at, Float4 values, long long count, bool wide) {
  if (wide) {
    form.put4(at, values);
    return;
  }
  const float four[4] = {values.x, values.y, values.z, values.w};
  RT_UNROLL
  for (int k = 0; k < 4; ++k)
    if (k < count) form.put(at + k, four[k]);
}

}  // namespace retrace::cuda
