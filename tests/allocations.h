// SPDX-License-Identifier: Apache-2.0
// Counts calls of operator new, for tests of what must not allocate.
#pragma once
#include <atomic>
#include <cstddef>

extern std::atomic<std::size_t> allocations;
