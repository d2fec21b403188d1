// SPDX-License-Identifier: Apache-2.0
#include "kelvin/run/command.h"

#include "kelvin/core/pack.h"

namespace kelvin {
namespace {

void pack_value(Packer& pack, const Value& value) {
  pack(std::uint8_t(value.is.index()));
  std::visit(
      [&]<class T>(const T& is) {
        if constexpr (std::is_same_v<T, Value::Group>) {
          pack(std::uint64_t(is.size()));
          for (const auto& [name, child] : is) {
            pack(name);
            pack_value(pack, child);
          }
        } else if constexpr (std::is_same_v<T, Value::List>) {
          pack(std::uint64_t(is.size()));
          for (const Value& item : is) pack_value(pack, item);
        } else if constexpr (!std::is_same_v<T, std::monostate>) {
          pack(is);
        }
      },
      value.is);
}

template <std::size_t Kind = 0>
Value unpack_value_of(Unpacker& unpack, std::uint8_t kind);

Value unpack_value(Unpacker& unpack) {
  std::uint8_t kind = 0;
  unpack(kind);
  return unpack_value_of(unpack, kind);
}

template <std::size_t Kind>
Value unpack_value_of(Unpacker& unpack, std::uint8_t kind) {
  if constexpr (Kind == std::variant_size_v<decltype(Value::is)>) {
    throw Error("it is no value");
  } else {
    if (kind != Kind) return unpack_value_of<Kind + 1>(unpack, kind);
    using T = std::variant_alternative_t<Kind, decltype(Value::is)>;
    T is{};
    if constexpr (std::is_same_v<T, Value::Group> || std::is_same_v<T, Value::List>) {
      std::uint64_t size = 0;
      unpack(size);
      for (std::uint64_t k = 0; k < size; ++k) {
        if constexpr (std::is_same_v<T, Value::List>) {
          is.push_back(unpack_value(unpack));
        } else {
          std::string name;
          unpack(name);
          is[name] = unpack_value(unpack);
        }
      }
    } else if constexpr (!std::is_same_v<T, std::monostate>) {
      unpack(is);
    }
    Value value;
    value.is = std::move(is);
    return value;
  }
}

template <std::size_t Kind = 0>
Command command_of(std::uint8_t kind) {
  if constexpr (Kind == std::variant_size_v<Command>) {
    throw Error("it is no command");
  } else {
    if (kind == Kind) return std::variant_alternative_t<Kind, Command>{};
    return command_of<Kind + 1>(kind);
  }
}

}  // namespace

std::string packed(const std::vector<Command>& commands) {
  Packer pack;
  for (const Command& command : commands) {
    pack(std::uint8_t(command.index()));
    if (const auto* more = std::get_if<MoreSteps>(&command)) pack(more->steps);
    if (const auto* phase = std::get_if<NewPhase>(&command)) pack_value(pack, Value(phase->part));
  }
  return pack.bytes;
}

std::vector<Command> unpacked_commands(std::string_view bytes) {
  std::vector<Command> commands;
  for (Unpacker unpack{bytes}; !unpack.bytes.empty();) {
    std::uint8_t kind = 0;
    unpack(kind);
    Command& command = commands.emplace_back(command_of(kind));
    if (auto* more = std::get_if<MoreSteps>(&command)) unpack(more->steps);
    if (auto* phase = std::get_if<NewPhase>(&command)) phase->part = unpack_value(unpack).entries();
  }
  return commands;
}

}  // namespace kelvin
