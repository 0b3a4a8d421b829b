// Certificates for TLS servers under test: one authority, and servers that are right or wrong in
// one way each. Made by the openssl command, once a process.
#pragma once

#include "tests/support/temp_dir.hpp"

#include <string>

namespace holdfast::test {

class TestCertificates {
 public:
  enum class Kind {
    good,          // localhost, redis.test, 127.0.0.1, ::1
    only_names,    // redis.test and no address
    expired,       // as good, until yesterday
    other_signer,  // as good, signed by an authority that nobody named
  };

  // Made at the first call; throws std::runtime_error when there is no openssl.
  static const TestCertificates& get();
  static bool possible();

  std::string authority() const { return (dir_ / "ca.crt").string(); }
  std::string certificate(Kind kind) const;
  std::string key(Kind kind) const;

 private:
  TestCertificates();
  void make_authority(const std::string& name);
  void make_server(Kind kind, const std::string& authority, const std::string& names,
                   const std::string& days);

  TempDir dir_{};
};

}  // namespace holdfast::test
