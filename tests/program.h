// SPDX-License-Identifier: Apache-2.0
// Runs the program as a user would, in a directory of its own.
#pragma once
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "tests/files.h"

namespace kelvin {

struct Outcome {
  int code = -1;
  std::string out, error;
};

struct Desk : Directory {
  explicit Desk(const std::filesystem::path& parent = in_memory()) : Directory(parent) {}
  std::string read(const std::string& name) const { return bytes_of(path(name)); }
  Outcome shell(const std::string& before, const std::string& arguments) const {
    const std::string command =
        "cd '" + path("") + "' && " + before + "'" KELVIN_BINARY "' " + arguments + " >.out 2>.err </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".out"), read(".err")};
  }
  Outcome kelvin(const std::string& arguments) const { return shell("", arguments); }
};

// The program in the background, with a desk's directory as its own; its stdout and stderr go to .out2 and .err2.
class Process {
 public:
  // `environment`: "NAME=value", for the program only.
  Process(const Desk& desk, const std::string& arguments, const std::string& environment = "")
      : desk_(desk), id_(fork()) {
    if (id_ != 0) return;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);  // whatever the tests inherited
    const std::string command = "cd '" + desk.path("") + "' && exec env " + environment + " '" KELVIN_BINARY "' " +
                                arguments + " >.out2 2>.err2 </dev/null";
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  Process(const Process&) = delete;
  ~Process() {
    if (id_ > 0) send(SIGKILL), wait();
  }
  void send(int signal) const {
    if (id_ > 0) kill(id_, signal);  // -1, once it has ended, would be every process there is
  }
  bool running() {
    if (id_ > 0 && wait4(id_, &status_, WNOHANG, &usage_) == id_) id_ = -1;
    return id_ > 0;
  }
  // Its exit code, or minus the signal that ended it.
  int wait() {
    if (id_ > 0) wait4(id_, &status_, 0, &usage_);
    id_ = -1;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
  }
  std::string error() const { return desk_.read(".err2"); }
  long most_memory() const { return usage_.ru_maxrss; }  // kilobytes; once it has ended

 private:
  const Desk& desk_;
  pid_t id_;
  int status_ = 0;
  rusage usage_ = {};
};

// Waits up to a minute.
template <class Condition>
bool comes_true(Condition&& condition) {
  for (int n = 0; n < 6000; ++n) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace kelvin
