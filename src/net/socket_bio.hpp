// An OpenSSL BIO over a socket that never raises SIGPIPE. OpenSSL's own writes with write(), and a
// library has no business with the signals of its program.
#pragma once

#include <openssl/bio.h>

namespace holdfast::net {

// The BIO does not own `socket`. Null without memory.
BIO* new_socket_bio(int socket);

}  // namespace holdfast::net
