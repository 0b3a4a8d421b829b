# How every target of this project is compiled, and the one shape of a layer.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(BUILD_SHARED_LIBS)
  set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

# Symbols keep their default visibility: the command, the simulator and the tests use internal
# layers, and must link against a shared libholdfast as well as a static one.

# The same compilation in another directory (a second clone, CI) is found in the cache.
find_program(HOLDFAST_CCACHE ccache)
if(HOLDFAST_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${HOLDFAST_CCACHE}")
endif()

add_library(holdfast_build INTERFACE)
target_compile_features(holdfast_build INTERFACE cxx_std_20)
target_compile_options(holdfast_build INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(HOLDFAST_WARNINGS_AS_ERRORS)
  target_compile_options(holdfast_build INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # At -O3 g++ 12 warns wrongly about "literal" + std::string{} (GCC bug 105651).
  target_compile_options(holdfast_build INTERFACE $<$<CONFIG:Release>:-Wno-restrict>)
endif()
target_compile_definitions(holdfast_build INTERFACE
  ASIO_STANDALONE ASIO_NO_DEPRECATED)
target_include_directories(holdfast_build INTERFACE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/include" "${PROJECT_SOURCE_DIR}/src"
  "${PROJECT_SOURCE_DIR}")
target_link_libraries(holdfast_build INTERFACE Threads::Threads)
if(HOLDFAST_SANITIZE)
  target_compile_options(holdfast_build INTERFACE
    "-fsanitize=${HOLDFAST_SANITIZE}" -fno-omit-frame-pointer -fno-sanitize-recover=all
    -Wno-tsan -Wno-mismatched-new-delete -Wno-maybe-uninitialized)
  target_link_options(holdfast_build INTERFACE "-fsanitize=${HOLDFAST_SANITIZE}")
endif()
if(HOLDFAST_COVERAGE)
  target_compile_options(holdfast_build INTERFACE --coverage -fno-inline)
  target_link_options(holdfast_build INTERFACE --coverage)
endif()

# All *.cpp of the current folder. A folder that has none yet still makes a (empty) library.
function(holdfast_sources result)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(NOT sources)
    set(sources "${PROJECT_BINARY_DIR}/empty.cpp")
    file(CONFIGURE OUTPUT "${sources}" CONTENT "")
  endif()
  set(${result} "${sources}" PARENT_SCOPE)
endfunction()

# A layer is one folder and one object library; the library that users link holds them all.
# Further arguments are the third-party libraries that the layer's code needs.
# tests/tidy checks that layers include only what the arrows in docs/internals allow.
function(holdfast_layer name)
  holdfast_sources(sources)
  holdfast_layer_of(${name} "${sources}" ${ARGN})
endfunction()

function(holdfast_layer_of name sources)
  add_library(holdfast_${name} OBJECT ${sources})
  target_link_libraries(holdfast_${name} PUBLIC holdfast_build)
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_LAYERS holdfast_${name})
  holdfast_needs(${name} ${ARGN})
endfunction()

# The objects of a store that lives in a module: libholdfast has none of them, nor what they need.
function(holdfast_module_layer name)
  holdfast_sources(sources)
  add_library(holdfast_${name} OBJECT ${sources})
  target_link_libraries(holdfast_${name} PUBLIC holdfast_build ${ARGN})
endfunction()

function(holdfast_needs name)
  target_link_libraries(holdfast_${name} PUBLIC ${ARGN})
  set_property(GLOBAL APPEND PROPERTY HOLDFAST_LIBRARIES ${ARGN})
endfunction()
