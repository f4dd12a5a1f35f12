# What is refused before anything is built (docs/numerics.md 1).

if(NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  message(FATAL_ERROR "retrace needs a 64-bit target: this compiler makes code for a 32-bit one")
endif()
if(NOT CMAKE_CXX_BYTE_ORDER STREQUAL "LITTLE_ENDIAN")
  message(FATAL_ERROR "retrace needs a little-endian target: this compiler makes code for '${CMAKE_CXX_BYTE_ORDER}'")
endif()

string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
foreach(flags CMAKE_CXX_FLAGS CMAKE_CXX_FLAGS_${build_type} CMAKE_EXE_LINKER_FLAGS)
  if("${${flags}}" MATCHES "(-Ofast|-f(fast|unsafe|finite|associative|reciprocal)-math[^ ]*)")
    message(FATAL_ERROR "retrace cannot be compiled with ${CMAKE_MATCH_1}: results would differ from those of every "
                        "other build. Remove it from ${flags}; programs that link retrace may use it")
  endif()
endforeach()

# Clang 14 is the oldest that is tried. Older compilers fail in the middle of a file.
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12) OR
   (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14))
  message(FATAL_ERROR "retrace needs GCC 12 or Clang 14, or newer: ${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} "
                      "${CMAKE_CXX_COMPILER_VERSION}. Name another with -DCMAKE_CXX_COMPILER=g++-12")
endif()

if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
