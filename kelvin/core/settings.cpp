// SPDX-License-Identifier: Apache-2.0
#include "kelvin/core/settings.h"

namespace kelvin {

void unknown_key(const Value& from, const std::string& path, const std::string& key,
                 const std::vector<std::string>& known) {
  std::string list;
  for (const auto& k : known) list += (list.empty() ? "" : ", ") + k;
  throw Error("{}: no setting \"{}\"; known here: {}{}", from.where, detail::below(path, key), list,
              suggestion(key, known));
}

void not_a_table(const Value& from, const std::string& path) {
  if (from.group())
    throw Error("{}: {} must be a list of tables; write [[{}]] before the settings of each", from.where, path, path);
  throw Error("{}: {} must be a table of settings, not {}; write [{}] and its settings below", from.where, path,
              from.kind(), path);
}

}  // namespace kelvin
