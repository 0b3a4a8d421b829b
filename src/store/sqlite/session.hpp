// One open lock file: connection, prepared statements, and what must hold before every step.
#pragma once

#include "store/sqlite/crowd.hpp"
#include "store/sqlite/database.hpp"
#include "store/sqlite/lock_file.hpp"
#include "store/sqlite/name_table.hpp"
#include "store/sqlite/open_file.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/settings.hpp"
#include "store/sqlite/verbs.hpp"
#include "store/sqlite/wake_file.hpp"

namespace holdfast::sqlite {

class Session {
 public:
  // Throws Error, or SqlError that is_busy() when opening has to be tried again.
  Session(const Settings& settings, Crowd& crowd, Instant now);

  // Runs `step` in a write transaction and commits. `flush`: whether it is expected to hand out a
  // fence or a done mark; if it does so against expectation it is run again.
  template <class Body>
  auto write(const Runtime& runtime, Flush flush, std::uint64_t chance, Body body) {
    for (;;) {
      try {
        return write_once(runtime, flush, chance, body);
      } catch (const NeedsFlush&) {
        flush = Flush::yes;
      }
    }
  }

  // Runs `body` on one snapshot.
  template <class Body>
  auto read(Body body) {
    file_.require_unchanged();
    Transaction transaction(database_, Transaction::Kind::read);
    format_.require_known();
    auto result = body();
    transaction.commit();
    return result;
  }

  void require_unchanged() const { file_.require_unchanged(); }
  const LockFile& file() const noexcept { return file_; }
  Database& database() noexcept { return database_; }
  NameTable& table() noexcept { return table_; }
  Verbs& verbs() noexcept { return verbs_; }

 private:
  template <class Body>
  auto write_once(const Runtime& runtime, Flush flush, std::uint64_t chance, Body& body) {
    choose(flush);
    Transaction transaction(database_, Transaction::Kind::write);
    file_.require_unchanged();
    format_.require_known();
    Step step{.now = runtime.now(), .unix_us = clock_.unix_us(), .flush = flush};
    auto result = body(verbs_, step);
    if (step.finished) {
      table_.sweep_done(chance, step.now);
    } else if (flush == Flush::yes) {
      table_.sweep(chance, step.now);
    }
    transaction.commit();
    if (step.woke) {
      wake_.touch();
    }
    return result;
  }
  void choose(Flush flush);

  HostClock clock_;
  LockFile file_;
  OpenFile open_;
  Database database_;
  OpenedSchema schema_;
  FormatCheck format_{database_};
  NameTable table_;
  Verbs verbs_{table_};
  WakeFile wake_;
  Flush flush_ = Flush::yes;
};

}  // namespace holdfast::sqlite
