#include "net/stream.hpp"

#include "net/connection.hpp"

#include <utility>

namespace holdfast::net {

namespace {

class SocketStream final : public Stream {
 public:
  SocketStream(EventLoop& loop, Endpoint endpoint)
      : connection_(std::make_unique<Connection>(loop, std::move(endpoint))) {}
  ~SocketStream() override { SocketStream::close(); }

  void connect(UniqueFunction<void(const StreamError&)> done) override {
    if (connection_ != nullptr) connection_->connect(std::move(done));
  }

  void read_some(std::span<char> buffer,
                 UniqueFunction<void(const StreamError&, std::size_t)> done) override {
    if (connection_ != nullptr) connection_->read_some(buffer, std::move(done));
  }

  void write(std::string_view bytes) override {
    if (connection_ != nullptr) connection_->write(bytes);
  }

  std::size_t unsent() const noexcept override {
    return connection_ == nullptr ? unsent_at_close_ : connection_->unsent();
  }

  bool peer_is_gone() const noexcept override {
    return connection_ == nullptr || connection_->peer_is_gone();
  }

  std::string doing() const override {
    return connection_ == nullptr ? std::string{} : connection_->doing();
  }

  void close() noexcept override {
    if (connection_ == nullptr) return;
    unsent_at_close_ = connection_->unsent();
    std::unique_ptr<Connection> ended = std::move(connection_);
    if (!ended->made_here) abandon(std::move(ended));
  }

 private:
  std::unique_ptr<Connection> connection_;
  std::size_t unsent_at_close_ = 0;
};

}  // namespace

std::string Endpoint::text() const {
  if (!unix_path.empty()) return unix_path;
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::unique_ptr<Stream> make_stream(EventLoop& loop, Endpoint endpoint) {
  return std::make_unique<SocketStream>(loop, std::move(endpoint));
}

}  // namespace holdfast::net
