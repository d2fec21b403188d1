// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/error.h"

#include <filesystem>
#include <new>
#include <system_error>

namespace kelvin {

std::string sentence_of(const std::exception& e) {
  if (dynamic_cast<const Error*>(&e) && *e.what()) return e.what();
  if (dynamic_cast<const std::bad_alloc*>(&e) || dynamic_cast<const std::length_error*>(&e))
    return "there is not enough memory for this; take fewer walkers, rows, parameters or threads, or a machine with "
           "more of it";
  if (const auto* files = dynamic_cast<const std::filesystem::filesystem_error*>(&e))
    return fmt::format("cannot use \"{}\": {}; check that it is there and that you may read and write it",
                       files->path1().string(), files->code().message());
  if (const auto* system = dynamic_cast<const std::system_error*>(&e))
    return fmt::format("the system refuses: {}; with fewer threads or open files it may not", system->code().message());
  return fmt::format("this should not have happened ({}); please report it, with the command and its files",
                     *e.what() ? e.what() : "an error without a name");
}

}  // namespace kelvin
