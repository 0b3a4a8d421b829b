# What `cmake --install` leaves: the library, its headers, the package files and the command.
