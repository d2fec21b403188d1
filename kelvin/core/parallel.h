// SPDX-License-Identifier: Apache-2.0
// Work on several threads. What the work computes must not depend on which thread does it.
#pragma once
#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace kelvin {

// Threads that wait for work, for rounds that follow each other closely: they look for the next one for some tens of
// microseconds before they sleep, as does whoever waits for them.
class Threads {
 public:
  explicit Threads(std::size_t count);  // the caller's own among them
  ~Threads();
  Threads(const Threads&) = delete;

  // Calls work(0) ... work(items - 1), each once; the first exception is thrown when all have stopped. From round to
  // round an item is taken by the same thread, whose cache knows it, unless another has nothing left to do.
  template <class Work>
  void each(std::size_t items, Work&& work) {
    using Plain = std::remove_reference_t<Work>;
    run(items, &work, [](void* what, std::size_t k) { (*static_cast<Plain*>(what))(k); });
  }

 private:
  struct alignas(64) Share {  // of the items: those a thread begins with
    std::atomic<std::size_t> next = 0;
    std::size_t end = 0;
  };
  void run(std::size_t items, void* work, void (*call)(void*, std::size_t));
  void take(std::size_t thread);
  void wait_for_rounds(std::size_t thread);

  std::size_t count_;
  std::unique_ptr<Share[]> shares_;
  void* work_ = nullptr;
  void (*call_)(void*, std::size_t) = nullptr;
  alignas(64) std::atomic<int> round_ = 0;
  alignas(64) std::atomic<int> busy_ = 0;  // threads, besides the caller's, that are still in this round
  std::atomic<bool> failed_ = false, ending_ = false;
  std::exception_ptr failure_;
  std::mutex failing_;
  std::vector<std::jthread> others_;
};

// The same once, on up to `threads` threads.
template <class Work>
void parallel(std::size_t count, std::size_t threads, Work&& work) {
  if (threads > 1 && count > 1) return Threads(std::min(threads, count)).each(count, work);
  for (std::size_t k = 0; k < count; ++k) work(k);
}

}  // namespace kelvin
