#pragma once
// kernel.h for nvcc and NVRTC. The contracts are there.

#include "retrace/base/elementary_half.h"

#define RT_DEVICE __device__ __forceinline__
#define RT_UNROLL _Pragma("unroll")
#define RT_LOOP _Pragma("unroll 1")
// In a graph a launch may begin before the one that it waits for has ended: a kernel waits before all that it does,
// also before what it prefetches, and lets the next one begin once all its own blocks have.
#define RT_KERNEL_WITH(bounds, name, Arguments, a)                              \
  static RT_DEVICE void name##_body(const Arguments& a);                        \
  extern "C" __global__ void bounds name(const __grid_constant__ Arguments a) { \
    ::retrace::cuda::wait_for_earlier_launches();                               \
    name##_body(a);                                                             \
  }                                                                             \
  static RT_DEVICE void name##_body(const Arguments& a)
#define RT_KERNEL(name, Arguments, a) RT_KERNEL_WITH(, name, Arguments, a)
#define RT_KERNEL_BOUNDS(name, threads, Arguments, a) RT_KERNEL_WITH(__launch_bounds__(threads), name, Arguments, a)
#define RT_KERNEL_RESIDENT(name, threads, blocks, Arguments, a) \
  RT_KERNEL_WITH(__launch_bounds__(threads, blocks), name, Arguments, a)

namespace retrace::cuda {

RT_DEVICE void wait_for_earlier_launches() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

RT_DEVICE Position thread() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
RT_DEVICE unsigned thread_anew() {
  unsigned x;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
  return x;
}
RT_DEVICE Position block() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
RT_DEVICE Position block_threads() { return {blockDim.x, blockDim.y, blockDim.z}; }
RT_DEVICE Position blocks() { return {gridDim.x, gridDim.y, gridDim.z}; }

template <class T>
struct Shared {
  T* pointer;
  unsigned count;
  RT_DEVICE T& operator[](int i) const { return pointer[i]; }
  RT_DEVICE Shared operator+(int offset) const { return {pointer + offset, count - offset}; }
};

RT_DEVICE char* shared_memory() {
  extern __shared__ __align__(16) char retrace_shared_memory[];
  return retrace_shared_memory;
}
template <class T>
RT_DEVICE Shared<T> shared(unsigned count) {
  return {reinterpret_cast<T*>(shared_memory()), count};
}
template <class T, class U>
RT_DEVICE Shared<T> shared(unsigned count, Shared<U> before) {
  const auto end = static_cast<unsigned>(reinterpret_cast<char*>(before.pointer + before.count) - shared_memory());
  return {reinterpret_cast<T*>(shared_memory() + ((end + 15) & ~15u)), count};
}

RT_DEVICE void barrier() { __syncthreads(); }
RT_DEVICE void fence() { __threadfence(); }

template <class T>
RT_DEVICE T shuffle(T value, unsigned lane) {
  return __shfl_sync(0xffffffffu, value, static_cast<int>(lane));
}
template <class T>
RT_DEVICE T shuffle_down(T value, unsigned distance) {
  return __shfl_down_sync(0xffffffffu, value, distance);
}
template <class T>
RT_DEVICE T shuffle_xor(T value, unsigned mask) {
  return __shfl_xor_sync(0xffffffffu, value, static_cast<int>(mask));
}

RT_DEVICE Float4 load4_at(const float* p) {
  const float4 v = *reinterpret_cast<const float4*>(p);
  return {v.x, v.y, v.z, v.w};
}
RT_DEVICE void store4_at(float* p, Float4 v) { *reinterpret_cast<float4*>(p) = make_float4(v.x, v.y, v.z, v.w); }
RT_DEVICE Float4 load4(Global<const float> p, long long i) { return load4_at(p.pointer + i); }
RT_DEVICE Float2 load2(Shared<float> p, int i) {
  const float2 v = *reinterpret_cast<const float2*>(p.pointer + i);
  return {v.x, v.y};
}
RT_DEVICE Float4 load4(Shared<float> p, int i) { return load4_at(p.pointer + i); }
RT_DEVICE void store4(Global<float> p, long long i, Float4 v) { store4_at(p.pointer + i, v); }
RT_DEVICE void store4(Shared<float> p, int i, Float4 v) { store4_at(p.pointer + i, v); }

template <class T>
RT_DEVICE T load_cached(Global<const T> p, long long i) {
  return __ldg(p.pointer + i);
}
template <class T>
RT_DEVICE T load_cached(Global<T> p, long long i) {
  return __ldg(p.pointer + i);
}

// One tile of A and of B. Processors before sm_80 have no TF32: lanes hand each other the factors.
RT_DEVICE void multiply_tile_tf32(float& c0, float& c1, float& c2, float& c3, const float (&a)[4],
                                  const float (&b)[2]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])),
        "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
#else
  const unsigned row = threadIdx.x % 32 / 4 * 4, column = threadIdx.x % 4 * 8;
  RT_UNROLL
  for (unsigned k = 0; k < 8; ++k) {
    const float a0 = shuffle(a[k / 4 * 2], row + k % 4), a1 = shuffle(a[k / 4 * 2 + 1], row + k % 4);
    const float b0 = shuffle(b[k / 4], column + k % 4), b1 = shuffle(b[k / 4], column + 4 + k % 4);
    c0 = __fmaf_rn(a0, b0, c0), c1 = __fmaf_rn(a0, b1, c1), c2 = __fmaf_rn(a1, b0, c2), c3 = __fmaf_rn(a1, b1, c3);
  }
#endif
}
template <int m, int n, int sums, class PlaceOf>
RT_DEVICE void multiply_tf32(float (&to)[sums], const float (&a)[m][4], const float (&b)[n][2], PlaceOf place) {
  static_assert(sums >= 4 * m * n);
  RT_UNROLL
  for (int i = 0; i < m; ++i) {
    RT_UNROLL
    for (int j = 0; j < n; ++j)
      multiply_tile_tf32(to[place(i, j, 0)], to[place(i, j, 1)], to[place(i, j, 2)], to[place(i, j, 3)], a[i], b[j]);
  }
}

RT_DEVICE unsigned pair_of_bf16(float low, float high) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return __float_as_uint(rules::rounded_to_bf16(low)) >> 16 | __float_as_uint(rules::rounded_to_bf16(high));
#endif
}

RT_DEVICE void multiply_tile_bf16(float& c0, float& c1, float& c2, float& c3, const unsigned (&a)[4],
                                  const unsigned (&b)[2]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  const unsigned row = threadIdx.x % 32 / 4 * 4, column = threadIdx.x % 4 * 8;
  RT_UNROLL
  for (unsigned k = 0; k < 16; ++k) {
    const auto number = [&](unsigned pair, unsigned lane) {
      const unsigned pairs = shuffle(pair, lane + k / 2 % 4);
      return __uint_as_float(k % 2 == 0 ? pairs << 16 : pairs & 0xffff0000u);
    };
    const float a0 = number(a[k / 8 * 2], row), a1 = number(a[k / 8 * 2 + 1], row);
    const float b0 = number(b[k / 8], column), b1 = number(b[k / 8], column + 4);
    c0 = __fmaf_rn(a0, b0, c0), c1 = __fmaf_rn(a0, b1, c1), c2 = __fmaf_rn(a1, b0, c2), c3 = __fmaf_rn(a1, b1, c3);
  }
#endif
}
template <int m, int n, int sums, class PlaceOf>
RT_DEVICE void multiply_bf16(float (&to)[sums], const unsigned (&a)[m][4], const unsigned (&b)[n][2], PlaceOf place) {
  static_assert(sums >= 4 * m * n);
  RT_UNROLL
  for (int i = 0; i < m; ++i) {
    RT_UNROLL
    for (int j = 0; j < n; ++j)
      multiply_tile_bf16(to[place(i, j, 0)], to[place(i, j, 1)], to[place(i, j, 2)], to[place(i, j, 3)], a[i], b[j]);
  }
}

template <class T>
RT_DEVICE T atomic_add(Global<T> p, long long i, decltype(T()) value) {
  static_assert(T(1) / T(2) == T(0), "sums of floats depend on the order");
  return atomicAdd(p.pointer + i, value);
}
template <class T>
RT_DEVICE T atomic_add(Shared<T> p, int i, decltype(T()) value) {
  static_assert(T(1) / T(2) == T(0), "sums of floats depend on the order");
  return atomicAdd(p.pointer + i, value);
}

RT_DEVICE unsigned long long atomic_minimum(Global<unsigned long long> p, long long i, unsigned long long value) {
  return atomicMin(p.pointer + i, value);
}
RT_DEVICE unsigned long long atomic_exchange_if(Global<unsigned long long> p, long long i, unsigned long long expected,
                                                unsigned long long value) {
  return atomicCAS(p.pointer + i, expected, value);
}
RT_DEVICE void raise_flag(unsigned* of_host) { *static_cast<volatile unsigned*>(of_host) = 1; }

// Copies at once where the processor (before sm_80) has no asynchronous ones.
template <int bytes>
RT_DEVICE void async_copy_bytes(void* to, const void* from, bool valid) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  const auto target = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int count = valid ? bytes : 0;
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(from), "r"(count) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(target), "l"(from), "n"(bytes), "r"(count)
                 : "memory");
#else
  for (int i = 0; i < bytes / 4; ++i)
    static_cast<unsigned*>(to)[i] = valid ? static_cast<const unsigned*>(from)[i] : 0u;
#endif
}
template <int bytes, class T>
RT_DEVICE void async_copy(Shared<T> to, Global<const T> from, bool valid = true) {
  async_copy_bytes<bytes>(to.pointer, from.pointer, valid);
}
template <int bytes, class T>
RT_DEVICE void async_copy(Shared<T> to, Global<T> from, bool valid = true) {
  async_copy_bytes<bytes>(to.pointer, from.pointer, valid);
}
RT_DEVICE void async_commit() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int newest>
RT_DEVICE void async_wait() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(newest) : "memory");
#endif
}

}  // namespace retrace::cuda
