// Which store is meant when nobody names one.
#pragma once

#include <string>

namespace holdfast {

// HOLDFAST_STORE, else the URL of default_store_file(). Throws Error{invalid_url} if neither can
// be found.
std::string default_store_url();

// $XDG_STATE_HOME/holdfast/locks.db, else ~/.local/state/holdfast/locks.db, for root
// /var/lib/holdfast/locks.db. It locks for this user on this host only. Empty if the user has no
// home directory.
std::string default_store_file();

// Makes the folder of default_store_file(), for this user only. Throws Error{store_unavailable}.
void make_default_store_folder();

}  // namespace holdfast
