// SPDX-License-Identifier: Apache-2.0
#include "apps/python/source/callback.h"

#include "kelvin/core/error.h"

namespace kelvin::python {

Locked::Introduced::Introduced() : before(PyGILState_Ensure()), state(PyEval_SaveThread()) {}

Locked::Introduced::~Introduced() {
  PyEval_RestoreThread(state);
  PyGILState_Release(before);
}

bool Locked::introduce() {
  if (PyGILState_GetThisThreadState()) return false;
  thread_local const Introduced introduced;
  return true;
}

void Raised::keep(nb::python_error&& error, const std::string& whose) {
  const std::string what = nb::str(error.value()).c_str();
  const std::string kind = nb::str(nb::type_name(error.type())).c_str();
  {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = std::make_unique<nb::python_error>(std::move(error));
  }
  throw Error("{} raised {}: {}", whose, kind, what);
}

void Raised::raise_again() {
  std::unique_ptr<nb::python_error> error;
  {
    const std::lock_guard lock(mutex_);
    error = std::move(first_);
  }
  if (error) throw nb::python_error(std::move(*error));
}

Shared::Shared(nb::object object)
    : object_(new nb::object(std::move(object)), [](nb::object* mine) {
        const Locked lock;
        delete mine;
      }) {}

}  // namespace kelvin::python
