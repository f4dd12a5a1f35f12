#pragma once
// Which sanitizer this is compiled with, as 0 or 1; RT_SANITIZED: one that has an allocator of its own.

#ifdef __has_feature  // Clang
#define RT_HAS_FEATURE(name) __has_feature(name)
#else
#define RT_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || RT_HAS_FEATURE(address_sanitizer)
#define RT_ADDRESS_SANITIZER 1
#else
#define RT_ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__) || RT_HAS_FEATURE(thread_sanitizer)
#define RT_THREAD_SANITIZER 1
#else
#define RT_THREAD_SANITIZER 0
#endif
#if RT_ADDRESS_SANITIZER || RT_THREAD_SANITIZER || RT_HAS_FEATURE(memory_sanitizer)
#define RT_SANITIZED 1
#else
#define RT_SANITIZED 0
#endif
