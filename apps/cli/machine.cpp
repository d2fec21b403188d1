// SPDX-License-Identifier: Apache-2.0
#include "apps/cli/machine.h"

#include <sys/utsname.h>

#include <fstream>

#include "apps/cli/command.h"
#include "kelvin/core/isa.h"

namespace kelvin::cli {

namespace fs = std::filesystem;

namespace {

constexpr double without_end = std::numeric_limits<double>::infinity();

// The first number in a file; without end if there is none ("max").
double number_in(const fs::path& file) {
  std::ifstream text(file);
  double x = 0;
  return text >> x ? x : without_end;
}

double available_memory() {
  std::ifstream text("/proc/meminfo");
  std::string name, unit;
  for (double kilobytes = 0; text >> name >> kilobytes; std::getline(text, unit))
    if (name == "MemAvailable:") return 1024 * kilobytes;
  return without_end;
}

// The files that the memory of a cgroup may be, below its directory: the limit, and what is used of it.
struct CgroupFiles {
  const char *limit, *used;
};
constexpr CgroupFiles versions[] = {{"memory.max", "memory.current"},
                                    {"memory.limit_in_bytes", "memory.usage_in_bytes"}};

// The tightest of a group and those that it is in; "/proc/self/cgroup" has lines such as "0::/user.slice/job".
double left_of_cgroup() {
  double left = without_end;
  std::ifstream text("/proc/self/cgroup");
  for (std::string line; std::getline(text, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers.find("memory") == controllers.npos) continue;
    const fs::path root = controllers.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    for (fs::path group = fs::path(line.substr(second + 1)).relative_path();; group = group.parent_path()) {
      for (const CgroupFiles& files : versions) {
        const double limit = number_in(root / group / files.limit), used = number_in(root / group / files.used);
        if (limit < without_end && used < without_end) left = std::min(left, std::max(0.0, limit - used));
      }
      if (group.empty()) break;
    }
  }
  return left;
}

}  // namespace

std::string machine() {
  utsname system = {};
  uname(&system);
  constexpr const char* instructions[] = {"portable", "AVX2", "AVX-512"};
  return fmt::format("{} {}, {} threads, {} instructions", system.sysname, system.machine, all_threads(),
                     instructions[int(best_isa())]);
}

Room room_for(const fs::path& run) {
  std::error_code failed;
  fs::path there = fs::absolute(run, failed);
  while (!there.empty() && there != there.root_path() && !fs::exists(there, failed)) there = there.parent_path();
  const fs::space_info space = fs::space(there, failed);
  const bool known = !failed && space.capacity > 0;  // what is no disk has none
  return {std::min(available_memory(), left_of_cgroup()), known ? double(space.available) : without_end};
}

}  // namespace kelvin::cli
