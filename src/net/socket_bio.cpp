#include "net/socket_bio.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

namespace holdfast::net {

namespace {

int socket_of(BIO* bio) noexcept {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

int finish(BIO* bio, ssize_t count, int retry) noexcept {
  BIO_clear_retry_flags(bio);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_flags(bio, retry);
  return static_cast<int>(count);
}

int bio_write(BIO* bio, const char* bytes, int size) {
  return finish(bio, ::send(socket_of(bio), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL),
                BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY);
}

int bio_read(BIO* bio, char* buffer, int size) {
  const ssize_t count = ::recv(socket_of(bio), buffer, static_cast<std::size_t>(size), 0);
  if (count == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return finish(bio, count, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY);
}

long bio_control(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_CTRL_FLUSH:
      return 1;
    case BIO_CTRL_EOF:
      return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    default:
      return 0;
  }
}

BIO_METHOD* make_method() {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "holdfast socket");
  if (method == nullptr) return nullptr;
  BIO_meth_set_write(method, bio_write);
  BIO_meth_set_read(method, bio_read);
  BIO_meth_set_ctrl(method, bio_control);
  return method;
}

}  // namespace

BIO* new_socket_bio(int socket) {
  static BIO_METHOD* const method = make_method();  // for the life of the process
  BIO* const bio = method == nullptr ? nullptr : BIO_new(method);
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace holdfast::net
