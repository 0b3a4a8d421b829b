// holdfast/holdfast.hpp: everything that needs nothing but the standard library.
#pragma once

#include <holdfast/acquire_all.hpp>
#include <holdfast/client.hpp>
#include <holdfast/election.hpp>
#include <holdfast/error.hpp>
#include <holdfast/guard.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/operation.hpp>
#include <holdfast/options.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/run.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>
#include <holdfast/types.hpp>
#include <holdfast/version.hpp>
