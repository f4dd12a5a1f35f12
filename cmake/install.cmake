# cmake --install: the library, its headers, the command, and what find_package(retrace) and pkg-config read.

if(NOT RETRACE_INSTALL)
  return()
endif()

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/retrace")
install(TARGETS retrace_lib EXPORT retrace_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
if(TARGET retrace)
  set_target_properties(retrace PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")  # for libretrace.so
  install(TARGETS retrace RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
if(TARGET retrace_mpi)
  install(TARGETS retrace_mpi LIBRARY DESTINATION lib/retrace)
endif()
install(CODE "set(SOURCE_DIR \"${PROJECT_SOURCE_DIR}\")
set(GENERATED_DIR \"${RETRACE_GENERATED_DIR}\")
set(DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake")
install(EXPORT retrace_targets NAMESPACE retrace:: DESTINATION "${package_dir}")
set(RETRACE_SQLITE_PACKAGES "")
if(RETRACE_SQLITE_LIBRARY)
  set(RETRACE_SQLITE_PACKAGES "SQLite3 SQLiteCpp")
endif()
get_target_property(RETRACE_LIBRARY_TYPE retrace_lib TYPE)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/retraceConfig.cmake.in" "${PROJECT_BINARY_DIR}/retraceConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/retraceConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/retraceConfig.cmake" "${PROJECT_BINARY_DIR}/retraceConfigVersion.cmake"
        DESTINATION "${package_dir}")

# Its prefix is where the file lies, so that a tree that was moved still works.
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH RETRACE_PC_PREFIX "/prefix/${pkgconfig_dir}" "/prefix")
# A program links the libraries below a static one itself.
set(RETRACE_PC_LIBS "-lretrace")
set(RETRACE_PC_REQUIRES "")
if(RETRACE_LIBRARY_TYPE STREQUAL STATIC_LIBRARY)
  set(RETRACE_PC_LIBS "-lretrace -pthread -ldl")
  set(RETRACE_PC_REQUIRES "Requires: fmt libhwy libjpeg liblzma libpng libzstd tomlplusplus zlib\n")
  if(RETRACE_SQLITE_LIBRARY)  # SQLiteCpp of Debian has no file for pkg-config
    set(RETRACE_PC_LIBS "-lretrace -lSQLiteCpp -pthread -ldl")
    string(REPLACE "libpng" "libpng sqlite3" RETRACE_PC_REQUIRES "${RETRACE_PC_REQUIRES}")
  endif()
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/retrace.pc.in" "${PROJECT_BINARY_DIR}/retrace.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/retrace.pc" DESTINATION "${pkgconfig_dir}")
