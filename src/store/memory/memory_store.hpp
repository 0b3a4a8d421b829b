// The memory: store. Locks live in this process and end with it: for tests, examples, and programs
// that want the semantics without a server. Clients of one process that use the same memory:NAME
// share one place; memory: alone is private to its client.
#pragma once

#include <holdfast/store.hpp>

#include <memory>
#include <string>

namespace holdfast {

// `name` empty: a place of its own. Thread-safe.
std::shared_ptr<StoreFactory> make_memory_factory(const std::string& name);

}  // namespace holdfast
