#pragma once
// Requirements on the compilation of a program that includes retrace. The headers that everything includes include this
// first.

#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#error "retrace needs C++20 or later: compile with -std=c++20, or link to the CMake target retrace::retrace"
#endif

#if defined(_GLIBCXX_DEBUG) && !defined(RETRACE_BUILT_WITH_GLIBCXX_DEBUG)
#error "retrace was built without _GLIBCXX_DEBUG, which changes std::vector: undefine it, or use _GLIBCXX_ASSERTIONS"
#endif
