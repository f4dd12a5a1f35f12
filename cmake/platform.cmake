# What is refused before anything is built (numerics contract, 1).

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

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
