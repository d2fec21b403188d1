// SPDX-License-Identifier: Apache-2.0
// Runs the program as a user would, in a directory of its own.
#pragma once
#include <sys/wait.h>

#include <cstdlib>

#include "tests/files.h"

namespace kelvin {

struct Outcome {
  int code = -1;
  std::string out, error;
};

struct Desk : Directory {
  std::string read(const std::string& name) const { return bytes_of(path(name)); }
  Outcome kelvin(const std::string& arguments) const {
    const std::string command =
        "cd '" + path("") + "' && '" KELVIN_BINARY "' " + arguments + " >.out 2>.err </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".out"), read(".err")};
  }
};

}  // namespace kelvin
