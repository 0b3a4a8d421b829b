// What a Stream has until it is closed: one attempt to connect and the connection it led to. Part
// of the stream; others use that.
#pragma once

#include "net/dialer.hpp"
#include "net/stream.hpp"
#include "net/tls_session.hpp"

#include "runtime/made_here.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::net {

// The contract is Stream's. Destroying it is closing; in a forked child it is abandoned instead.
// Handlers are moved to the stack before they are called and nothing is touched after that: they
// may close the stream.
class Connection {
 public:
  using ConnectDone = UniqueFunction<void(const StreamError&)>;
  using ReadDone = UniqueFunction<void(const StreamError&, std::size_t)>;

  Connection(EventLoop& loop, Endpoint endpoint);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  void connect(ConnectDone done);
  void read_some(std::span<char> buffer, ReadDone done);
  void write(std::string_view bytes);
  std::size_t unsent() const noexcept { return outgoing_.size() - sent_; }
  bool peer_is_gone() const noexcept;
  const std::string& doing() const noexcept { return doing_; }

  const MadeHere made_here{};
  Connection* next_abandoned = nullptr;

 private:
  void fail_soon(std::string detail);
  void look_up();
  void dial(const Addresses& addresses);
  void take(std::unique_ptr<Descriptor> descriptor);
  void step_handshake();
  void finish_connect(const StreamError& error);

  void became_readable();
  void became_writable();
  void step_read();
  void finish_read(const StreamError& error, std::size_t bytes);
  void flush();
  std::size_t send_some(std::string_view bytes);
  void fail_write(const StreamError& error);
  IoResult receive();
  IoResult send(std::string_view bytes);

  template <class Step>
  void soon(Step step);

  EventLoop& loop_;
  const Endpoint endpoint_;
  const std::string place_;
  std::string doing_{};
  ConnectDone connected_{};
  std::unique_ptr<Resolver> resolver_{};
  std::unique_ptr<Dialer> dialer_{};
  std::unique_ptr<Descriptor> socket_{};
  std::unique_ptr<TlsSession> tls_{};
  bool is_connected_ = false;
  bool read_wants_writable_ = false;   // TLS may have to answer before it can read on
  bool write_wants_readable_ = false;  // ... and the other way round
  bool ended_ = false;                 // nothing more can be read
  StreamError broken_{};               // why it ended, or why nothing more can be written
  std::span<char> buffer_{};
  ReadDone read_done_{};
  std::string outgoing_{};  // what the kernel has not taken, behind the first `sent_` bytes
  std::size_t sent_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // what is posted looks for it first
};

}  // namespace holdfast::net
