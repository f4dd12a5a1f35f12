# When it is installed: the headers that retrace/retrace.h reaches, and no other. From SOURCE_DIR and GENERATED_DIR to
# DESTINATION.

cmake_policy(VERSION 3.25)  # install scripts have none
set(waiting "retrace/retrace.h")
set(found "")
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST found)
    continue()
  endif()
  list(APPEND found "${header}")
  set(path "${SOURCE_DIR}/${header}")
  if(NOT EXISTS "${path}")
    set(path "${GENERATED_DIR}/${header}")
  endif()
  cmake_path(GET header PARENT_PATH folder)
  file(INSTALL DESTINATION "${DESTINATION}/${folder}" TYPE FILE FILES "${path}")
  file(STRINGS "${path}" includes REGEX "^#include \"retrace/")
  list(TRANSFORM includes REPLACE "^#include \"(.*)\".*" "\\1")
  list(APPEND waiting ${includes})
endwhile()
