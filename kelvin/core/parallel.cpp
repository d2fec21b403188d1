// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/parallel.h"

#include <system_error>

namespace kelvin {
namespace {

// Looks of 15 to 50 nanoseconds each, then some of half a microsecond that leave the processor to whoever wants it:
// together longer than rounds of a few steps are apart, and shorter than anyone could mind.
constexpr int looks = 200, looks_between_others = 100;

void breathe() {
#ifdef KELVIN_X86
  __builtin_ia32_pause();
#endif
}

void wait_while(const std::atomic<int>& number, int old) {
  for (int look = 0; look < looks + looks_between_others; ++look) {
    if (number.load(std::memory_order_acquire) != old) return;
    if (look < looks) breathe();
    else std::this_thread::yield();
  }
  number.wait(old, std::memory_order_acquire);
}

}  // namespace

Threads::Threads(std::size_t count) : count_(count ? count : 1), shares_(std::make_unique<Share[]>(count_)) {
  try {
    for (std::size_t t = 1; t < count_; ++t) others_.emplace_back([this, t] { wait_for_rounds(t); });
  } catch (const std::system_error&) {  // so many are not to be had
    count_ = others_.size() + 1;
  }
}

Threads::~Threads() {
  ending_ = true;
  ++round_;
  round_.notify_all();
}

void Threads::wait_for_rounds(std::size_t thread) {
  for (int seen = 0;; ++seen) {
    wait_while(round_, seen);
    if (ending_) return;
    take(thread);
    if (--busy_ == 0) busy_.notify_one();
  }
}

void Threads::take(std::size_t thread) {
  try {
    for (std::size_t t = 0; t < count_; ++t) {
      Share& share = shares_[(thread + t) % count_];
      for (std::size_t k; !failed_.load(std::memory_order_relaxed) && (k = share.next++) < share.end;) call_(work_, k);
    }
  } catch (...) {
    const std::lock_guard lock(failing_);
    if (!failure_) failure_ = std::current_exception();
    failed_ = true;
  }
}

void Threads::run(std::size_t items, void* work, void (*call)(void*, std::size_t)) {
  if (count_ == 1 || items <= 1) {
    for (std::size_t k = 0; k < items; ++k) call(work, k);
    return;
  }
  for (std::size_t t = 0; t < count_; ++t) {
    shares_[t].next = t * items / count_;
    shares_[t].end = (t + 1) * items / count_;
  }
  work_ = work;
  call_ = call;
  failed_ = false;
  failure_ = nullptr;
  busy_ = int(others_.size());
  ++round_;
  round_.notify_all();
  take(0);
  for (int left; (left = busy_) != 0;) wait_while(busy_, left);
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace kelvin
