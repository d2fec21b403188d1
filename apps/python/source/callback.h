// SPDX-License-Identifier: Apache-2.0
// Python functions that threads of a run call.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <string>

#include "kelvin/core/isa.h"

namespace kelvin::python {

namespace nb = nanobind;

// Holds the interpreter's lock, in any thread. A thread of ours is made known to the interpreter at its first call, and
// stays so until it ends: to be introduced anew costs more than many calls.
class Locked {
 public:
  Locked() = default;

 private:
  struct Introduced {
    Introduced();
    ~Introduced();
    PyGILState_STATE before;
    PyThreadState* state;
  };
  static bool introduce();  // this thread, unless the interpreter knows it
  bool introduced_ = introduce();
  nb::gil_scoped_acquire lock_;
  FlushToZero ordinary_{false};
};

// The first exception that a function of one's own has raised in some thread. The run ends by an Error; whoever started
// it raises the exception itself.
class Raised {
 public:
  // With the lock held: keeps the exception, and throws an Error that says whose it was.
  [[noreturn]] void keep(nb::python_error&&, const std::string& whose);
  void raise_again();  // if there is one

 private:
  std::mutex mutex_;
  std::unique_ptr<nb::python_error> first_;
};

// Does work without the interpreter's lock. What a Python function has raised meanwhile is raised again.
template <class Work>
auto guarded(Raised& raised, Work&& work) {
  std::exception_ptr failure;
  const auto tried = [&]() -> decltype(work()) {
    const nb::gil_scoped_release unlocked;
    return work();
  };
  try {
    return tried();
  } catch (const nb::python_error&) {
    throw;
  } catch (...) {
    failure = std::current_exception();
  }
  raised.raise_again();
  std::rethrow_exception(failure);
}

// A Python object that may be copied and let go in any thread.
class Shared {
 public:
  Shared() = default;
  explicit Shared(nb::object);
  nb::handle operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  std::shared_ptr<nb::object> object_;
};

}  // namespace kelvin::python
