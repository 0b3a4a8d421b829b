#include "tests/support/test_certificates.hpp"

#include "tests/support/process.hpp"

#include <fstream>

namespace holdfast::test {

namespace {

const char* file_stem(TestCertificates::Kind kind) {
  switch (kind) {
    case TestCertificates::Kind::good:
      return "good";
    case TestCertificates::Kind::only_names:
      return "only_names";
    case TestCertificates::Kind::expired:
      return "expired";
    case TestCertificates::Kind::other_signer:
      return "other_signer";
  }
  return "";
}

}  // namespace

bool TestCertificates::possible() { return is_in_path("openssl"); }

const TestCertificates& TestCertificates::get() {
  static const TestCertificates certificates;
  return certificates;
}

std::string TestCertificates::certificate(Kind kind) const {
  return (dir_ / (std::string(file_stem(kind)) + ".crt")).string();
}

std::string TestCertificates::key(Kind kind) const {
  return (dir_ / (std::string(file_stem(kind)) + ".key")).string();
}

TestCertificates::TestCertificates() {
  make_authority("ca");
  make_authority("other");
  const std::string all = "DNS:localhost,DNS:redis.test,IP:127.0.0.1,IP:::1";
  make_server(Kind::good, "ca", all, "2");
  make_server(Kind::only_names, "ca", "DNS:redis.test", "2");
  make_server(Kind::expired, "ca", all, "-1");
  make_server(Kind::other_signer, "other", all, "2");
}

void TestCertificates::make_authority(const std::string& name) {
  run_tool({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-days", "2", "-subj", "/CN=holdfast test " + name, "-keyout", name + ".key",
            "-out", name + ".crt"},
           dir_.path());
}

void TestCertificates::make_server(Kind kind, const std::string& authority,
                                   const std::string& names, const std::string& days) {
  const std::string stem = file_stem(kind);
  run_tool({"openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-subj", "/CN=holdfast test server", "-keyout", stem + ".key", "-out",
            stem + ".csr"},
           dir_.path());
  std::ofstream(dir_ / (stem + ".ext")) << "subjectAltName=" << names << "\n";
  run_tool({"openssl", "x509", "-req", "-in", stem + ".csr", "-CA", authority + ".crt", "-CAkey",
            authority + ".key", "-CAcreateserial", "-days", days, "-extfile", stem + ".ext", "-out",
            stem + ".crt"},
           dir_.path());
}

}  // namespace holdfast::test
