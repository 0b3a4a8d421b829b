#include "store/sqlite/wake_file.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace holdfast::sqlite {

namespace {

constexpr unsigned gone_events = IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB | IN_IGNORED;

// Opens `<database>-wake`, making it if needed so that whoever may use the database may use it.
Descriptor open_wake_file(const std::string& database_path) noexcept {
  const std::string path = database_path + "-wake";
  struct stat database {};
  if (stat(database_path.c_str(), &database) != 0) {
    return Descriptor{};
  }
  const mode_t mode = database.st_mode & 0777U;
  Descriptor made(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
  if (!made) {
    return Descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  }
  // Best effort, as SQLite does for the -wal: root must not lock out the owner of the database.
  if (fchmod(made.get(), mode) != 0 ||
      (geteuid() == 0 && fchown(made.get(), database.st_uid, database.st_gid) != 0)) {
    return made;
  }
  return made;
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) {
    close(number_);
  }
}

WakeFile::WakeFile(std::string database_path)
    : database_path_(std::move(database_path)), path_(database_path_ + "-wake") {}

void WakeFile::touch() noexcept {
  if (!is_current()) {
    file_ = open_wake_file(database_path_);
  }
  if (file_) {
    const ssize_t written = pwrite(file_.get(), "\n", 1, 0);
    static_cast<void>(written);
  }
}

// False also if the file was removed or replaced: nobody would watch the one we have open.
bool WakeFile::is_current() const noexcept {
  struct stat ours {};
  struct stat named {};
  return file_ && fstat(file_.get(), &ours) == 0 && stat(path_.c_str(), &named) == 0 &&
         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

std::unique_ptr<WakeWatch> WakeWatch::start(EventLoop& loop, const std::string& database_path,
                                            UniqueFunction<void()> on_news) {
  Descriptor inotify(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify) {
    return nullptr;
  }
  auto watch = std::make_unique<WakeWatch>(database_path, std::move(inotify), std::move(on_news));
  if (!watch->add()) {
    return nullptr;
  }
  watch->watch_ =
      loop.watch_readable(watch->inotify_.get(), [raw = watch.get()] { raw->read_events(); });
  return watch;
}

WakeWatch::WakeWatch(std::string database_path, Descriptor inotify, UniqueFunction<void()> on_news)
    : database_path_(std::move(database_path)),
      inotify_(std::move(inotify)),
      on_news_(std::move(on_news)) {}

bool WakeWatch::add() {
  const Descriptor file = open_wake_file(database_path_);
  watched_ = inotify_add_watch(inotify_.get(), (database_path_ + "-wake").c_str(),
                               IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF);
  return watched_ >= 0;
}

void WakeWatch::read_events() {
  alignas(inotify_event) std::array<char, 4096> buffer{};
  bool any = false;
  bool gone = false;
  for (;;) {
    const ssize_t size = read(inotify_.get(), buffer.data(), buffer.size());
    if (size <= 0) {
      break;
    }
    any = true;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      gone = gone || (event->wd == watched_ && (event->mask & gone_events) != 0);
      at += sizeof(inotify_event) + event->len;
    }
  }
  if (gone) {
    // Removed, moved or replaced: watch whatever has the name now.
    inotify_rm_watch(inotify_.get(), watched_);
    add();
  }
  if (any) {
    on_news_();
  }
}

}  // namespace holdfast::sqlite
