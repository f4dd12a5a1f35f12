#pragma once
// kernel.h for the host compiler, in emulated kernels (RETRACE_CUDA_EMULATION). The contracts are there; what is
// checked is in emulation/. Kernels that the running program compiled are in a library of their own, which knows the
// machine by a pointer alone.

#ifndef RETRACE_CUDA_EMULATION
#error "kernels are compiled by nvcc, by NVRTC, or with RETRACE_CUDA_EMULATION"
#endif

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "retrace/base/elementary_half.h"

namespace retrace::cuda {

enum class Access : unsigned char { read, read_cached, write, atomic };
enum class Shuffle : unsigned char { from_lane, down, exclusive_or, all_lanes };

// The machine that runs the kernel: one thread of one block at a time.
class Machine {
 public:
  Position thread{}, block{}, block_threads{}, blocks{};
  bool checks = true;  // accesses are reported to global() and shared()

  virtual void global(const void* memory, unsigned bytes, Access how) = 0;
  virtual void shared(const void* memory, unsigned bytes, Access how) = 0;
  // Index i of `count` elements, which stands outside: throws.
  virtual void outside_of_part(long long i, long long count) = 0;
  // The block's shared memory behind `before` (null: all of it), for a part of `bytes` bytes.
  virtual std::byte* shared_part(const void* before, size_t bytes) = 0;
  virtual void barrier(int line) = 0;
  virtual unsigned shuffle(Shuffle how, unsigned value, unsigned amount, int line) = 0;
  // What all lanes of the warp give, `count` words each, one lane after another; valid until the thread's next call.
  virtual const unsigned* gather(const unsigned* words, unsigned count, int line) = 0;
  virtual void fence() = 0;
  virtual void async_copy(void* to, const void* from, unsigned bytes, bool valid) = 0;
  virtual void async_commit() = 0;
  virtual void async_wait(unsigned newest) = 0;

 protected:
  ~Machine() = default;
};
inline Machine* emulated_machine = nullptr;

// A kernel, in the list of those of its program or library.
struct EmulatedKernel {
  using Body = void (*)(const void* arguments);
  const char* name;
  Body body;
  unsigned argument_bytes, most_threads;
  EmulatedKernel* next;

  EmulatedKernel(const char* its_name, Body its_body, unsigned bytes, unsigned threads);
};
inline EmulatedKernel* emulated_kernels = nullptr;

inline EmulatedKernel::EmulatedKernel(const char* its_name, Body its_body, unsigned bytes, unsigned threads)
    : name(its_name), body(its_body), argument_bytes(bytes), most_threads(threads), next(emulated_kernels) {
  emulated_kernels = this;
}

#define RT_DEVICE inline
#define RT_UNROLL
#define RT_LOOP
#define RT_KERNEL(name, Arguments, a) RT_KERNEL_BOUNDS(name, 1024, Arguments, a)
#define RT_KERNEL_RESIDENT(name, threads, blocks, Arguments, a) RT_KERNEL_BOUNDS(name, threads, Arguments, a)
#define RT_KERNEL_BOUNDS(name, threads, Arguments, a)                                                             \
  static void name(const Arguments& a);                                                                           \
  static const ::retrace::cuda::EmulatedKernel name##_emulated(                                                   \
      #name, [](const void* bytes) { name(*static_cast<const Arguments*>(bytes)); }, sizeof(Arguments), threads); \
  static void name(const Arguments& a)

inline const Position& thread() { return emulated_machine->thread; }
inline unsigned thread_anew() { return emulated_machine->thread.x; }
inline const Position& block() { return emulated_machine->block; }
inline const Position& block_threads() { return emulated_machine->block_threads; }
inline const Position& blocks() { return emulated_machine->blocks; }

struct GlobalSpace {
  static void check(const void* memory, unsigned bytes, Access how) {
    if (emulated_machine->checks) emulated_machine->global(memory, bytes, how);
  }
};
struct SharedSpace {
  static void check(const void* memory, unsigned bytes, Access how) {
    if (emulated_machine->checks) emulated_machine->shared(memory, bytes, how);
  }
};

// An element that is looked at or changed: only where it stands, hence the && and the missing copy.
template <class T, class Space>
class CheckedReference {
 public:
  using Value = std::remove_const_t<T>;
  static_assert(std::is_trivially_copyable_v<Value>);

  explicit CheckedReference(T* place) : place_(place) {}
  CheckedReference(const CheckedReference&) = delete;

  operator Value() const&& { return load(); }
  Value operator=(Value value) && { return store(value); }
  Value operator=(CheckedReference&& other) && { return store(other.load()); }
  Value operator+=(Value value) && { return store(load() + value); }
  Value operator-=(Value value) && { return store(load() - value); }
  Value operator*=(Value value) && { return store(load() * value); }

 private:
  Value load() const {
    Space::check(place_, sizeof(T), Access::read);
    Value value;
    std::memcpy(&value, place_, sizeof value);
    return value;
  }
  Value store(Value value) {
    Space::check(place_, sizeof(T), Access::write);
    std::memcpy(place_, &value, sizeof value);
    return value;
  }
  T* place_;
};

template <class T>
CheckedReference<T, GlobalSpace> Global<T>::operator[](long long i) const {
  return CheckedReference<T, GlobalSpace>(pointer + i);
}

// A part of shared memory, [begin, end), seen from `pointer`.
template <class T>
struct Shared {
  T *pointer, *begin, *end;

  T* at(long long i, long long count = 1) const {
    T* place = pointer + i;
    if (emulated_machine->checks && (place < begin || end - place < count))
      emulated_machine->outside_of_part(place - begin, end - begin);
    return place;
  }
  CheckedReference<T, SharedSpace> operator[](int i) const { return CheckedReference<T, SharedSpace>(at(i)); }
  Shared operator+(int offset) const { return {pointer + offset, begin, end}; }
};

template <class T>
Shared<T> shared_part_of(unsigned count, const void* before) {
  T* begin = reinterpret_cast<T*>(emulated_machine->shared_part(before, count * sizeof(T)));
  return {begin, begin, begin + count};
}
template <class T>
Shared<T> shared(unsigned count) {
  return shared_part_of<T>(count, nullptr);
}
template <class T, class U>
Shared<T> shared(unsigned count, Shared<U> before) {
  return shared_part_of<T>(count, before.end);
}

inline void barrier(int line = __builtin_LINE()) { emulated_machine->barrier(line); }
inline void fence() { emulated_machine->fence(); }

template <class T>
T shuffle_value(Shuffle how, T value, unsigned amount, int line) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, int> || std::is_same_v<T, unsigned>);
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits = emulated_machine->shuffle(how, bits, amount, line);
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}
template <class T>
T shuffle(T value, unsigned lane, int line = __builtin_LINE()) {
  return shuffle_value(Shuffle::from_lane, value, lane, line);
}
template <class T>
T shuffle_down(T value, unsigned distance, int line = __builtin_LINE()) {
  return shuffle_value(Shuffle::down, value, distance, line);
}
template <class T>
T shuffle_xor(T value, unsigned mask, int line = __builtin_LINE()) {
  return shuffle_value(Shuffle::exclusive_or, value, mask, line);
}

inline float number_of_bits(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Each sum is one chain of fma from what it was, in ascending order of its `terms` terms: term(word, k) is the factor
// of term k in a word. A product of two numbers in TF32 or bf16 has no rounding of its own.
template <int m, int n, unsigned terms, int sums, class Word, class PlaceOf, class Term>
void multiply_words(float (&to)[sums], const Word (&a)[m][4], const Word (&b)[n][2], PlaceOf place, Term term,
                    int line) {
  static_assert(sums >= 4 * m * n && sizeof(Word) == sizeof(unsigned));
  unsigned mine[4 * m + 2 * n];
  std::memcpy(mine, a, sizeof a), std::memcpy(mine + 4 * m, b, sizeof b);
  const unsigned* const all = emulated_machine->gather(mine, 4 * m + 2 * n, line);
  const auto word = [&](unsigned lane, int at) { return all[lane * (4 * m + 2 * n) + static_cast<unsigned>(at)]; };
  const unsigned lane = emulated_machine->thread.x % 32;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int e = 0; e < 4; ++e) {
        const unsigned row = lane / 4, column = 2 * (lane % 4) + static_cast<unsigned>(e % 2);
        float& sum = to[place(i, j, e)];
        for (unsigned k = 0; k < terms; ++k) {
          const int half = k < terms / 2 ? 0 : 1;
          const unsigned place_in_four = k % (terms / 2) * 8 / terms;
          sum = __builtin_fmaf(term(word(4 * row + place_in_four, 4 * i + e / 2 + 2 * half), k),
                               term(word(4 * column + place_in_four, 4 * m + 2 * j + half), k), sum);
        }
      }
}

template <int m, int n, int sums, class PlaceOf>
void multiply_tf32(float (&to)[sums], const float (&a)[m][4], const float (&b)[n][2], PlaceOf place,
                   int line = __builtin_LINE()) {
  multiply_words<m, n, 8>(
      to, a, b, place, [](unsigned word, unsigned) { return number_of_bits(word & ~0x1fffu); }, line);
}

inline unsigned pair_of_bf16(float low, float high) {
  const auto bits = [](float x) {
    const float rounded = rules::rounded_to_bf16(x);
    unsigned made;
    std::memcpy(&made, &rounded, sizeof made);
    return made;
  };
  return bits(low) >> 16 | bits(high);
}
template <int m, int n, int sums, class PlaceOf>
void multiply_bf16(float (&to)[sums], const unsigned (&a)[m][4], const unsigned (&b)[n][2], PlaceOf place,
                   int line = __builtin_LINE()) {
  multiply_words<m, n, 16>(
      to, a, b, place,
      [](unsigned pair, unsigned k) { return number_of_bits(k % 2 == 0 ? pair << 16 : pair & 0xffff0000u); }, line);
}

template <class Space>
Float4 load4_at(const float* place) {
  Space::check(place, sizeof(Float4), Access::read);
  Float4 value;
  std::memcpy(&value, place, sizeof value);
  return value;
}
template <class Space>
void store4_at(float* place, const Float4& value) {
  Space::check(place, sizeof(Float4), Access::write);
  std::memcpy(place, &value, sizeof value);
}
inline Float4 load4(Global<const float> p, long long i) { return load4_at<GlobalSpace>(p.pointer + i); }
inline Float4 load4(Shared<float> p, int i) { return load4_at<SharedSpace>(p.at(i, 4)); }
inline Float2 load2(Shared<float> p, int i) {
  const float* place = p.at(i, 2);
  SharedSpace::check(place, sizeof(Float2), Access::read);
  return {place[0], place[1]};
}
inline void store4(Global<float> p, long long i, Float4 v) { store4_at<GlobalSpace>(p.pointer + i, v); }
inline void store4(Shared<float> p, int i, Float4 v) { store4_at<SharedSpace>(p.at(i, 4), v); }

template <class T>
std::remove_const_t<T> load_cached(Global<T> p, long long i) {
  GlobalSpace::check(p.pointer + i, sizeof(T), Access::read_cached);
  return p.pointer[i];
}

template <class Space, class T>
T atomic_add_at(T* place, T value) {
  static_assert(std::is_same_v<T, int> || std::is_same_v<T, unsigned> || std::is_same_v<T, unsigned long long>);
  Space::check(place, sizeof(T), Access::atomic);
  const T before = *place;
  *place = static_cast<T>(static_cast<std::make_unsigned_t<T>>(before) + static_cast<std::make_unsigned_t<T>>(value));
  return before;
}
template <class T>
T atomic_add(Global<T> p, long long i, std::type_identity_t<T> value) {
  return atomic_add_at<GlobalSpace>(p.pointer + i, value);
}
template <class T>
T atomic_add(Shared<T> p, int i, std::type_identity_t<T> value) {
  return atomic_add_at<SharedSpace>(p.at(i), value);
}

inline unsigned long long atomic_minimum(Global<unsigned long long> p, long long i, unsigned long long value) {
  GlobalSpace::check(p.pointer + i, sizeof value, Access::atomic);
  const unsigned long long before = p.pointer[i];
  if (value < before) p.pointer[i] = value;
  return before;
}
inline unsigned long long atomic_exchange_if(Global<unsigned long long> p, long long i, unsigned long long expected,
                                             unsigned long long value) {
  GlobalSpace::check(p.pointer + i, sizeof value, Access::atomic);
  const unsigned long long before = p.pointer[i];
  if (before == expected) p.pointer[i] = value;
  return before;
}
inline void raise_flag(unsigned* of_host) { __atomic_store_n(of_host, 1u, __ATOMIC_RELAXED); }

template <int bytes, class T>
void async_copy(Shared<T> to, Global<std::type_identity_t<const T>> from, bool valid = true) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16);
  emulated_machine->async_copy(to.at(0, bytes / sizeof(T)), from.pointer, bytes, valid);
}
inline void async_commit() { emulated_machine->async_commit(); }
template <int newest>
void async_wait() {
  emulated_machine->async_wait(newest);
}

}  // namespace retrace::cuda
