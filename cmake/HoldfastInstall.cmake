# What `cmake --install` leaves: the library, its headers and package files (component
# `development`, and `library` when shared), the command with man page and completions (`command`).
# `cpack -G DEB` makes one Debian package of each.
include(CMakePackageConfigHelpers)

set(cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/holdfast")
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# ---- the library --------------------------------------------------------------------------------

install(TARGETS holdfast EXPORT holdfastTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library
    NAMELINK_COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/holdfast" COMPONENT development
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp")
install(FILES "${PROJECT_BINARY_DIR}/include/holdfast/version.hpp" COMPONENT development
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/holdfast")

if(TARGET holdfast_guard_libpq)
  install(TARGETS holdfast_guard_libpq EXPORT holdfast_guard_libpqTargets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library
      NAMELINK_COMPONENT development)
  install(EXPORT holdfast_guard_libpqTargets NAMESPACE holdfast:: DESTINATION "${cmake_dir}"
    COMPONENT development)
endif()

# ---- the modules --------------------------------------------------------------------------------

get_property(modules GLOBAL PROPERTY HOLDFAST_MODULES)
foreach(module IN LISTS modules)
  install(TARGETS holdfast_${module} LIBRARY
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/holdfast" COMPONENT ${module})
endforeach()

# ---- find_package(holdfast) and pkg-config ------------------------------------------------------

# Who links a static library links what it needs, too.
if(BUILD_SHARED_LIBS)
  set(HOLDFAST_STATIC OFF)
else()
  set(HOLDFAST_STATIC ON)
endif()
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/holdfastConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/holdfastConfig.cmake" INSTALL_DESTINATION "${cmake_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(EXPORT holdfastTargets NAMESPACE holdfast:: DESTINATION "${cmake_dir}"
  COMPONENT development)
install(FILES "${PROJECT_BINARY_DIR}/holdfastConfig.cmake"
  "${PROJECT_BINARY_DIR}/holdfastConfigVersion.cmake"
  DESTINATION "${cmake_dir}" COMPONENT development)

set(pc_modules "")
if(HOLDFAST_WITH_SQLITE)
  list(APPEND pc_modules sqlite3)
endif()
if(HOLDFAST_WITH_REDIS)
  list(APPEND pc_modules openssl libcares hiredis)
endif()
list(JOIN pc_modules " " pc_modules)
if(BUILD_SHARED_LIBS)
  set(pc_requires "Requires.private: ${pc_modules}")
else()
  set(pc_requires "Requires: ${pc_modules}")
endif()
file(RELATIVE_PATH pc_to_prefix "/prefix/${pkgconfig_dir}" "/prefix")
configure_file("${PROJECT_SOURCE_DIR}/cmake/holdfast.pc.in" "${PROJECT_BINARY_DIR}/holdfast.pc"
  @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/holdfast.pc" DESTINATION "${pkgconfig_dir}"
  COMPONENT development)

# ---- the command --------------------------------------------------------------------------------

if(TARGET holdfast_cli)
  install(TARGETS holdfast_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT command)
  install(TARGETS holdfast_lab RUNTIME
    DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/holdfast" COMPONENT command)
  install(FILES "${PROJECT_SOURCE_DIR}/packaging/holdfast.1" COMPONENT command
    DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${PROJECT_SOURCE_DIR}/packaging/holdfast-job.service" COMPONENT command
    DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples")
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" COMPONENT command RENAME copyright
    DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  # The command itself knows its options best.
  function(holdfast_completion shell file folder)
    set(made "${PROJECT_BINARY_DIR}/completion/${file}")
    install(CODE "execute_process(COMMAND \"$<TARGET_FILE:holdfast_cli>\" completion ${shell}
      OUTPUT_FILE \"${made}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT command)
    install(FILES "${made}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}" COMPONENT command)
  endfunction()
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/completion")
  holdfast_completion(bash holdfast bash-completion/completions)
  holdfast_completion(zsh _holdfast zsh/site-functions)
  holdfast_completion(fish holdfast.fish fish/vendor_completions.d)
endif()

# ---- Debian packages ----------------------------------------------------------------------------

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME holdfast)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_CONTACT "the holdfast maintainers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command development)
foreach(module IN LISTS modules)
  string(TOUPPER ${module} upper)
  list(APPEND CPACK_COMPONENTS_ALL ${module})
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME holdfast-${module})
  # Whoever opens it, the command or a program with the library in it, is of the same version.
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "")
  set(CPACK_DEBIAN_${upper}_PACKAGE_ENHANCES "holdfast (= ${PROJECT_VERSION})")
endforeach()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME holdfast)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libholdfast-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "")
if(HOLDFAST_WITH_SQLITE)
  list(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS libsqlite3-dev)
endif()
if(HOLDFAST_WITH_REDIS)
  list(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS libssl-dev libc-ares-dev libhiredis-dev)
endif()
if(BUILD_SHARED_LIBS)
  list(APPEND CPACK_COMPONENTS_ALL library)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME "libholdfast${PROJECT_VERSION_MAJOR}")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
  set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
  list(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libholdfast${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS
    "libholdfast${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION})")
endif()
list(JOIN CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
include(CPack)
