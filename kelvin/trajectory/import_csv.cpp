// SPDX-License-Identifier: Apache-2.0
// Draws in a table: of our own export, of Stan, or columns of parameters with or without one of their chain.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "kelvin/core/error.h"
#include "kelvin/core/text.h"
#include "kelvin/io/csv.h"
#include "kelvin/trajectory/draw_statistics.h"
#include "kelvin/trajectory/import.h"

namespace kelvin {
namespace {

// Stan's names, and ours.
struct StanStatistic {
  std::string_view theirs, ours;
};
constexpr StanStatistic stan_statistics[] = {
    {"lp__", "lp"},
    {"accept_stat__", "acceptance_rate"},
    {"stepsize__", "step_size"},
    {"treedepth__", "tree_depth"},
    {"n_leapfrog__", "n_steps"},
    {"divergent__", "diverging"},
    {"energy__", "energy"},
};
constexpr std::string_view stan_ending = "__";
constexpr std::string_view chain_columns[] = {"chain", ".chain", "chain__"};
constexpr std::string_view draw_columns[] = {"draw", ".draw", "draw__", "iteration", ".iteration", "iteration__"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

struct Column {
  std::size_t number;                // in the file
  std::string name, array;           // theta[0,1] of theta
  std::vector<std::size_t> indices;  // counted from 0
};

std::optional<std::size_t> whole_number(std::string_view text) {
  std::size_t n = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (status != std::errc() || end != text.data() + text.size() || n > (std::size_t(1) << 32)) return {};
  return n;
}

// "theta[0,1]" as we write entries, or "theta.1.2" as Stan does; any other name stands for itself.
Column column_named(const std::string& name, std::size_t number, bool stan) {
  Column plain{number, name, name, {}}, out = plain;
  const std::size_t from = stan ? name.find('.') : name.find('[');
  if (from == name.npos || from == 0 || (!stan && !name.ends_with(']'))) return plain;
  out.array = name.substr(0, from);
  std::string_view rest = std::string_view(name).substr(from + 1, name.size() - from - 1 - (stan ? 0 : 1));
  for (bool more = true; more;) {
    const std::size_t end = rest.find(stan ? '.' : ',');
    const auto n = whole_number(rest.substr(0, end));
    if (!n || (stan && *n == 0)) return plain;
    out.indices.push_back(*n - (stan ? 1 : 0));
    more = end != rest.npos;
    if (more) rest.remove_prefix(end + 1);
  }
  return out;
}

// The shape of an array whose entries these are, each once; none if some are missing.
std::optional<std::vector<std::size_t>> shape_of(std::span<const Column> columns) {
  std::vector<std::size_t> shape(columns.front().indices.size(), 0);
  std::set<std::vector<std::size_t>> seen;
  for (const Column& column : columns) {
    if (column.indices.size() != shape.size() || !seen.insert(column.indices).second) return {};
    for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = std::max(shape[d], column.indices[d] + 1);
  }
  double size = 1;
  for (const std::size_t extent : shape) size *= double(extent);
  return size == double(columns.size()) ? std::optional(shape) : std::nullopt;
}

// Rows of each chain, in the order in which chains appear.
std::vector<std::vector<std::size_t>> rows_of_chains(const Csv& csv, std::optional<std::size_t> chain_column) {
  std::vector<std::vector<std::size_t>> rows;
  std::map<std::string, std::size_t, std::less<>> known;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    const std::string chain(chain_column ? csv.cell(row, *chain_column) : std::string_view());
    const auto [at, fresh] = known.emplace(chain, rows.size());
    if (fresh) rows.emplace_back();
    rows[at->second].push_back(row);
  }
  for (const auto& [name, number] : known)
    if (rows[number].size() != rows.front().size())
      throw Error("\"{}\": chain {} has {} draws where the first has {}; every chain needs equally many", csv.file,
                  name, rows[number].size(), rows.front().size());
  return rows;
}

double number_in(const Csv& csv, std::size_t row, const Column& column) {
  const auto x = as_number(csv.cell(row, column.number));  // nan and inf are kept
  if (!x)
    throw Error("\"{}\" line {}: column \"{}\" must hold numbers, not \"{}\"", csv.file, csv.lines[row], column.name,
                csv.cell(row, column.number));
  return *x;
}

ImportedArray array_of(const Csv& csv, const std::vector<std::vector<std::size_t>>& chains, const std::string& name,
                       std::span<const Column> columns, const std::vector<std::size_t>& shape) {
  ImportedArray out{name, shape, {}};
  const std::size_t size = columns.size();
  std::vector<std::size_t> places;
  for (const Column& column : columns) {
    std::size_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + column.indices[d];
    places.push_back(place);
  }
  out.values.resize(csv.rows() * size);
  std::size_t draw = 0;
  for (const auto& rows : chains)
    for (const std::size_t row : rows) {
      for (std::size_t k = 0; k < size; ++k) out.values[draw * size + places[k]] = number_in(csv, row, columns[k]);
      ++draw;
    }
  return out;
}

// Entries of one array may stand anywhere; an array that lacks some is none, and its columns stand alone.
std::vector<ImportedArray> arrays_of(const Csv& csv, const std::vector<std::vector<std::size_t>>& chains,
                                     const std::vector<Column>& columns) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<Column>> grouped;
  for (const Column& column : columns) {
    auto& group = grouped[column.array];
    if (group.empty()) order.push_back(column.array);
    group.push_back(column);
  }
  std::vector<ImportedArray> out;
  for (const std::string& name : order) {
    const auto& group = grouped[name];
    if (const auto shape = shape_of(group)) out.push_back(array_of(csv, chains, name, group, *shape));
    else
      for (Column alone : group) {
        alone.indices.clear();
        out.push_back(array_of(csv, chains, alone.name, std::span(&alone, 1), {}));
      }
  }
  return out;
}

bool is_our_statistic(std::string_view name) {
  return std::ranges::any_of(draw_statistics(), [&](const DrawStatistic& s) { return s.name == name; });
}

}  // namespace

ImportedDraws read_csv_draws(const std::string& file) { return draws_in(read_csv(file)); }

ImportedDraws draws_in(const Csv& csv) {
  std::vector<std::string> names = csv.has_header ? csv.names : column_names(csv.columns(), "x");
  const auto has = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  const bool ours = has("chain") && has("draw") && has("step") && has("potential") && has("lp") && has("energy");
  const bool stan = !ours && has("lp__");
  std::optional<std::size_t> chain;
  std::vector<Column> blocks, statistics;
  bool first = true;  // our export has its statistics first
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (is_one_of(names[k], chain_columns)) chain = k;
    if (is_one_of(names[k], chain_columns) || is_one_of(names[k], draw_columns)) continue;
    Column column = column_named(names[k], k, stan);
    if (stan && names[k].ends_with(stan_ending)) {
      const auto known = std::ranges::find(stan_statistics, names[k], &StanStatistic::theirs);
      if (known != std::end(stan_statistics)) column.array = known->ours;
      statistics.push_back(std::move(column));
      continue;
    }
    first = first && ours && is_our_statistic(column.array);
    (first ? statistics : blocks).push_back(std::move(column));
  }
  const auto rows = rows_of_chains(csv, chain);
  return {rows.size(), rows.front().size(), arrays_of(csv, rows, blocks), arrays_of(csv, rows, statistics)};
}

}  // namespace kelvin
