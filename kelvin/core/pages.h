// SPDX-License-Identifier: Apache-2.0
// Memory for arrays that vector loops pass over. It begins at a multiple of the vector length, so that no vector lies
// across two cache lines. On request it lies in large pages, where the system has them: looking up an address then
// takes less time than reading it.
#pragma once
#include <sys/mman.h>

#include <new>
#include <vector>

namespace kelvin {

template <class T>
struct LargePages {
  using value_type = T;
  static constexpr std::size_t page = std::size_t(1) << 21, worth = 4 * page, line = 64;
  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}
  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    if (bytes < worth) return static_cast<T*>(::operator new(bytes, std::align_val_t(line)));
    void* memory = ::operator new(bytes, std::align_val_t(page));
#ifdef MADV_HUGEPAGE
    madvise(memory, bytes / page * page, MADV_HUGEPAGE);  // a wish: small pages do too
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) {
    ::operator delete(memory, std::align_val_t(n * sizeof(T) < worth ? line : page));
  }
  bool operator==(const LargePages&) const { return true; }
};

template <class T>
using LargeArray = std::vector<T, LargePages<T>>;

// Room for so many at least: workspaces keep the size they once needed.
template <class T>
void grow(LargeArray<T>& array, std::size_t count) {
  if (array.size() < count) array.resize(count);
}

}  // namespace kelvin
