# Every third-party library of the product, found in one place. The targets are made here, in the
# top directory, because imported targets are visible only from where they were found downwards.
# docs/dependencies.md says why each is needed.

find_package(Threads REQUIRED)
if(HOLDFAST_WITH_SQLITE)
  find_package(SQLite3 REQUIRED)
endif()
if(HOLDFAST_WITH_REDIS)
  find_package(OpenSSL REQUIRED)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(CARES REQUIRED IMPORTED_TARGET libcares)
  pkg_check_modules(HIREDIS REQUIRED IMPORTED_TARGET hiredis)
endif()
if(HOLDFAST_BUILD_CLI)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
endif()
if(HOLDFAST_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
