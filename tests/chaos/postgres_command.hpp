// A PostgreSQL database of its own for a test of the command or of a job.
#pragma once

#include "test_paths.hpp"
#include "tests/support/postgres_server.hpp"
#include "tests/support/required.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

class PostgresCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
    url = PostgresServer::shared().new_database();
  }
  std::string database() const { return url.substr(url.rfind('/') + 1); }

  std::string url{};
};

}  // namespace holdfast::test
