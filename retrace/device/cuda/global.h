#pragma once
// Device memory in the argument structs of kernels. The same struct for ordinary host code, which only fills it in, and
// for kernels (kernel.h), which read and write through it. Includes nothing: NVRTC compiles it too.

#ifdef __CUDACC__
#define RT_BOTH __host__ __device__ __forceinline__
#else
#define RT_BOTH inline
#endif

namespace retrace::cuda {

// void, or const void for a const T.
template <class T>
struct VoidLike {
  using Type = void;
};
template <class T>
struct VoidLike<const T> {
  using Type = const void;
};

#ifndef __CUDACC__
// Emulation: kernel_host.h.
template <class T, class Space>
class CheckedReference;
struct GlobalSpace;
#endif

// Elements of type T in device memory: trivially copyable, one pointer. A Global<T> is a Global<const T> where one is
// asked for. Elements are numbers, or small structs that are loaded and stored whole: `float x = p[i]`, `p[i] = x`, and
// not `auto x = p[i]` (the emulation, where p[i] is a checked reference, does not compile it).
template <class T>
struct Global {
  T* pointer = nullptr;

  Global() = default;
  RT_BOTH Global(decltype(nullptr)) {}
  RT_BOTH Global(T* elements) : pointer(elements) {}
  RT_BOTH Global(typename VoidLike<T>::Type* memory) : pointer(static_cast<T*>(memory)) {}
  template <class U>
    requires requires(U* other, void (*take)(T*)) { take(other); }
  RT_BOTH Global(Global<U> other) : pointer(other.pointer) {}

  RT_BOTH Global operator+(long long offset) const { return Global(pointer + offset); }
#ifdef __CUDACC__
  __device__ __forceinline__ T& operator[](long long i) const { return pointer[i]; }
#else
  CheckedReference<T, GlobalSpace> operator[](long long i) const;
#endif
};

}  // namespace retrace::cuda
