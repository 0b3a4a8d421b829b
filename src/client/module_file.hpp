// Modules of this installation, which are opened when they are needed.
#pragma once

#include <string>

namespace holdfast {

struct ModuleName {
  const char* file;     // "holdfast-etcd.so"
  const char* what;     // "etcd", for people
  const char* package;  // the Debian package that has it
};

// Where the module is: beside this program, as in a build tree; where `cmake --install` puts it,
// seen from this program; or seen from the prefix that was configured. Empty: nowhere.
std::string find_module(const ModuleName& module);

// The address of `symbol` in the module, which is opened by the first call and never closed.
// Throws Error{unsupported} that says what is missing.
const void* module_symbol(const ModuleName& module, const char* symbol);

}  // namespace holdfast
