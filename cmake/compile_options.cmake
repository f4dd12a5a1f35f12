# Flags of all our files, in one place.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# Line numbers for reports of sanitizers; with more, kernel files take minutes.
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")

add_library(retrace_flags INTERFACE)

# Without this GCC fuses a * b + c, even written as intrinsics, and a result depends on the compiler.
target_compile_options(retrace_flags INTERFACE -ffp-contract=off)
# -Wno-psabi silences a note about vectors as arguments, which only ever meet inside one file here.
target_compile_options(retrace_flags INTERFACE -Wall -Wextra -Wno-psabi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees phantoms in its own std::variant and std::string.
  target_compile_options(retrace_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds
                                                 -Wno-stringop-overflow -Wno-stringop-overread)
  # It looks for garbage only when 512 MB are full: a twelfth of the time of compiling, and 1 GB at most.
  target_compile_options(retrace_flags INTERFACE "SHELL:--param ggc-min-heapsize=512000")
  # A twentieth of the command is room before functions and loops, and rare paths that stand apart; kernels keep it.
  set(of_command "$<OR:$<STREQUAL:$<TARGET_PROPERTY:NAME>,retrace_lib>,$<STREQUAL:$<TARGET_PROPERTY:NAME>,retrace_cli>>")
  foreach(flag -fno-align-functions -fno-align-loops -fno-align-jumps -fno-align-labels -fno-reorder-blocks-and-partition)
    target_compile_options(retrace_flags INTERFACE "$<${of_command}:${flag}>")
  endforeach()
  # In a unity batch it takes source files for headers.
  target_compile_options(retrace_flags INTERFACE -Wno-subobject-linkage)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # std::stable_sort of GCC 12's library uses a function that it calls deprecated itself.
  target_compile_options(retrace_flags INTERFACE -Wno-deprecated-declarations)
endif()
if(RETRACE_WARNINGS_AS_ERRORS)
  target_compile_options(retrace_flags INTERFACE -Werror)
endif()
# A project around this one may have no build type: the library is of no use without optimization.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  target_compile_options(retrace_flags INTERFACE -O2)
endif()
# Highway writes NEON for processors with AES instructions, which nobody here executes: without the flag GCC refuses to inline
# its functions into constructors that it makes itself.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  target_compile_options(retrace_flags INTERFACE -march=armv8-a+crypto)
endif()
# The same arithmetic from nvcc and NVRTC.
set(RETRACE_NVCC_FLAGS --fmad=false --ftz=false --prec-div=true --prec-sqrt=true)

set(RETRACE_SANITIZE "" CACHE STRING "Sanitizers of this build, separated by commas")
if(RETRACE_SANITIZE)
  target_compile_options(retrace_flags INTERFACE
    -fsanitize=${RETRACE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(retrace_flags INTERFACE -fsanitize=${RETRACE_SANITIZE})
  # AddressSanitizer finds what these look for, at the access itself; a quarter of the time of compiling.
  if(RETRACE_SANITIZE MATCHES "address" AND RETRACE_SANITIZE MATCHES "undefined")
    target_compile_options(retrace_flags INTERFACE -fno-sanitize=null,alignment,object-size)
  endif()
  # Clang also refuses null plus an offset, which nobody reads through: arrays without elements, and launches that are counted
  # before their memory is there.
  if(RETRACE_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(retrace_flags INTERFACE -fno-sanitize=pointer-overflow)
  endif()
  # Programs with sanitizers are large, and tests are many: LLVM's linker takes a quarter of the time.
  include(CheckLinkerFlag)
  check_linker_flag(CXX "-fuse-ld=lld" RETRACE_LINKS_BY_LLD)
  if(RETRACE_LINKS_BY_LLD)
    target_link_options(retrace_flags INTERFACE -fuse-ld=lld)
  endif()
  if(NOT RETRACE_SANITIZE MATCHES "thread")
    target_compile_definitions(retrace_flags INTERFACE _GLIBCXX_ASSERTIONS)
  endif()
endif()

# Kernel files (*_cpu.cpp) are compiled once for each instruction set, with every function inlined. Checks of each load and
# store by UndefinedBehaviorSanitizer take minutes for one of them; AddressSanitizer makes the same ones, and overflow,
# shifts and bounds stay checked.
if(RETRACE_SANITIZE MATCHES "undefined")
  set(RETRACE_KERNEL_OPTIONS -O1 -fno-sanitize=null,alignment,object-size)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    list(APPEND RETRACE_KERNEL_OPTIONS -fno-sanitize=pointer-overflow,function,vptr)
  endif()
else()
  set(RETRACE_KERNEL_OPTIONS -O2)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Of a loop that puts vectors into an array GCC would make a copy of 16 bytes at a time, for which they leave their registers.
    list(APPEND RETRACE_KERNEL_OPTIONS -fno-tree-loop-distribute-patterns -falign-functions -falign-loops -falign-jumps -falign-labels -freorder-blocks-and-partition)
  endif()
endif()

# Kernel files among `sources`.
function(retrace_mark_kernels)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "_cpu\\.cpp$")
      set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS ${RETRACE_KERNEL_OPTIONS})
    endif()
  endforeach()
endfunction()
