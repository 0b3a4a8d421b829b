// One call to etcd on the completion queue, from its start to the post that brings its outcome to
// the store's thread. Made by Session.
#pragma once

#include <holdfast/runtime.hpp>

#include "store/etcd/client.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace holdfast::etcd {

class Session;

// The way from the client's thread to a session that may have ended meanwhile.
class Port : public std::enable_shared_from_this<Port> {
 public:
  Port(Runtime& runtime, Session& session) noexcept : runtime_(&runtime), session_(&session) {}

  void deliver(std::uint64_t id, std::shared_ptr<Tag> call);  // thread-safe
  void close() noexcept {                                     // on the session's thread
    const std::scoped_lock lock(mutex_);
    runtime_ = nullptr;
    session_ = nullptr;
  }

 private:
  std::mutex mutex_{};
  Runtime* runtime_;
  Session* session_;  // of its own thread
};

class Call : public Tag {
 public:
  Call(Client& client, std::shared_ptr<Port> port, std::uint64_t id)
      : client_(client), port_(std::move(port)), id_(id) {}

  grpc::ClientContext context{};
  grpc::Status status{};
  std::size_t endpoint = 0;

 protected:
  void begin(std::shared_ptr<Tag> self) {
    self_ = std::move(self);
    client_.began();
  }
  void end() {
    const std::shared_ptr<Tag> self = std::move(self_);
    Client& client = client_;  // it waits for ended(), so that comes last
    port_->deliver(id_, self);
    client.ended();
  }

 private:
  Client& client_;
  std::shared_ptr<Port> port_;
  std::uint64_t id_;
  std::shared_ptr<Tag> self_{};
};

template <class Response>
class UnaryCall final : public Call {
 public:
  using Call::Call;

  Response response{};

  void start(std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader,
             std::shared_ptr<Tag> self) {
    reader_ = std::move(reader);
    begin(std::move(self));
    reader_->StartCall();
    reader_->Finish(&response, &status, this);
  }
  void proceed(bool /*ok*/) override { end(); }

 private:
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader_{};
};

// Sends one request and reads until `enough` says so; then the stream ends.
template <class Request, class Response>
class StreamCall final : public Call {
 public:
  using Call::Call;

  Response response{};
  bool answered = false;
  std::function<bool(const Response&)> enough{};

  void start(std::unique_ptr<grpc::ClientAsyncReaderWriter<Request, Response>> stream,
             Request request, std::shared_ptr<Tag> self) {
    stream_ = std::move(stream);
    request_ = std::move(request);
    begin(std::move(self));
    stream_->StartCall(this);
  }

  void proceed(bool ok) override {
    if (step_ == Step::ending) {
      end();
    } else if (!ok) {
      finish();
    } else if (step_ == Step::starting) {
      step_ = Step::writing;
      stream_->Write(request_, this);
    } else if (step_ == Step::reading && enough(response)) {
      answered = true;
      context.TryCancel();
      finish();
    } else {
      step_ = Step::reading;
      stream_->Read(&response, this);
    }
  }

 private:
  enum class Step : std::uint8_t { starting, writing, reading, ending };

  void finish() {
    step_ = Step::ending;
    stream_->Finish(&status, this);
  }

  Step step_ = Step::starting;
  Request request_{};
  std::unique_ptr<grpc::ClientAsyncReaderWriter<Request, Response>> stream_{};
};

}  // namespace holdfast::etcd
