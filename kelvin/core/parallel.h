// SPDX-License-Identifier: Apache-2.0
// Work on several threads. What the work computes must not depend on which thread does it.
#pragma once
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kelvin {

// Calls work(0) ... work(count - 1), each once, on up to `threads` threads; the first exception is thrown when all have
// stopped.
template <class Work>
void parallel(std::size_t count, std::size_t threads, Work&& work) {
  if (threads <= 1 || count <= 1) {
    for (std::size_t k = 0; k < count; ++k) work(k);
    return;
  }
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex failing;
  const auto take = [&] {
    try {
      for (std::size_t k; (k = next++) < count;) work(k);
    } catch (...) {
      const std::lock_guard lock(failing);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < std::min(threads, count); ++t) others.emplace_back(take);
    take();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kelvin
