#include "runtime/descriptor.hpp"

#include "runtime/event_loop.hpp"
#include "runtime/made_here.hpp"

#include <asio/posix/stream_descriptor.hpp>

#include <system_error>

namespace holdfast {

// Shared with the waits that Asio holds: they outlive the Descriptor by a turn of the loop.
struct Descriptor::Shared {
  using Number = asio::posix::stream_descriptor;

  Shared(asio::io_context& context, int number, Closing owner)
      : descriptor(context, number), closing(owner) {}

  static void await_readable(const std::shared_ptr<Shared>& self) {
    self->descriptor.async_wait(Number::wait_read, [self](const std::error_code& ec) {
      if (ec || self->ended) return;
      self->awaits_readable = false;
      self->readable();
    });
  }

  static void await_writable(const std::shared_ptr<Shared>& self) {
    self->descriptor.async_wait(Number::wait_write, [self](const std::error_code& ec) {
      if (ec || self->ended) return;
      self->awaits_writable = false;
      self->writable();
    });
  }

  Number descriptor;
  const Closing closing;
  MadeHere made_here{};
  bool ended = false;
  bool awaits_readable = false;
  bool awaits_writable = false;
  UniqueFunction<void()> readable{};
  UniqueFunction<void()> writable{};
};

Descriptor::Descriptor(EventLoop& loop, int number, Closing closing)
    : shared_(std::make_shared<Shared>(loop.context(), number, closing)) {}

Descriptor::~Descriptor() {
  shared_->ended = true;
  if (!shared_->made_here) {
    // Not even the destructor of the asio object may run; the loop that it points to is the
    // parent's. One more owner, for good.
    struct Kept {
      std::shared_ptr<Shared> shared;
      Kept* next_abandoned = nullptr;
    };
    abandon(std::make_unique<Kept>(shared_));
    return;
  }
  std::error_code ignored;
  if (shared_->closing == Closing::callers) {
    shared_->descriptor.release();
  } else {
    shared_->descriptor.close(ignored);
  }
}

int Descriptor::number() const noexcept { return shared_->descriptor.native_handle(); }

void Descriptor::on_readable(UniqueFunction<void()> callback) {
  shared_->readable = std::move(callback);
}

void Descriptor::on_writable(UniqueFunction<void()> callback) {
  shared_->writable = std::move(callback);
}

void Descriptor::await_readable() {
  if (std::exchange(shared_->awaits_readable, true)) return;
  Shared::await_readable(shared_);
}

void Descriptor::await_writable() {
  if (std::exchange(shared_->awaits_writable, true)) return;
  Shared::await_writable(shared_);
}

}  // namespace holdfast
