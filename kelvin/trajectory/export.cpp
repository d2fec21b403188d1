// SPDX-License-Identifier: Apache-2.0
#include "kelvin/trajectory/export.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <set>

#include "kelvin/core/entry.h"
#include "kelvin/core/error.h"
#include "kelvin/io/json.h"
#include "kelvin/io/npy.h"
#include "kelvin/io/safetensors.h"
#include "kelvin/trajectory/zarr.h"

namespace kelvin {

namespace fs = std::filesystem;

namespace {

// ---- what there is to write

Variable variable_at(const Samples& samples, const std::string& group, const std::string& name) {
  const std::string array = group + "/" + name, attributes = "samples.zarr/" + array + "/.zattrs";
  const ZarrShape shape = samples.shape(array);
  Variable v{group, name, shape.each, {}, shape.type};
  v.dimensions = parse_json(read_named(samples.run, samples.manifest, attributes), attributes)
                     .as<std::vector<std::string>>("_ARRAY_DIMENSIONS");
  if (v.dimensions.size() != 2 + v.shape.size())
    throw damaged(samples.run / attributes,
                  fmt::format("it names {} dimensions of {}", v.dimensions.size(), 2 + v.shape.size()));
  v.dimensions.erase(v.dimensions.begin(), v.dimensions.begin() + 2);  // chain and draw
  return v;
}

constexpr const char *parameters = "posterior", *statistics = "sample_stats", *moments = "moments";

Selection select(const fs::path& run, const ExportOptions& options) {
  Selection s;
  s.samples = open_samples(run, Which::every);
  if (s.samples.draws == 0) throw Error("\"{}\" has no draws yet; there is nothing to export", run.string());
  for (const auto& [place, fingerprint] : s.samples.manifest.arrays) {
    const std::size_t slash = std::min(place.find('/'), place.size());
    const std::string group = place.substr(0, slash);
    s.groups[group].push_back(variable_at(s.samples, group, place.substr(std::min(slash + 1, place.size()))));
  }
  const auto place_of = [&](const Variable& v) {
    return std::find(s.samples.blocks.begin(), s.samples.blocks.end(), v.name);
  };
  auto& blocks = s.groups[parameters];
  std::sort(blocks.begin(), blocks.end(),
            [&](const Variable& a, const Variable& b) { return place_of(a) < place_of(b); });
  const std::size_t walkers = s.samples.walkers;
  if (options.walker >= long(walkers))
    throw Error("--walker {} is out of range; \"{}\" has the walkers 0 to {}", options.walker, run.string(),
                walkers - 1);
  for (std::size_t w = 0; w < walkers; ++w)
    if (options.walker < 0 || std::size_t(options.walker) == w) s.walkers.push_back(w);
  return s;
}

// Without a slash at its end; "." by its name.
fs::path run_directory(const fs::path& run) {
  const fs::path plain = (run / "").lexically_normal().parent_path();
  return plain.filename().string().starts_with('.') ? fs::canonical(run) : plain;
}

// ---- single states

// Reads "last", "mean" or a number.
std::optional<std::size_t> draw_of(const std::string& text, const Selection& s) {
  if (text.empty() || text == "last") return s.samples.draws - 1;
  if (text == "mean") return {};
  std::size_t n = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (end != text.data() + text.size() || status != std::errc() || n >= s.samples.draws)
    throw Error("--draw must be \"last\", \"mean\" or a number from 0 to {}, not \"{}\"", s.samples.draws - 1, text);
  return n;
}

std::vector<double> stored_mean(const Selection& s, const Variable& v, std::size_t walker) {
  if (v.group == moments) return s.samples.running_mean(v.name, walker);
  std::vector<double> mean(v.size(), 0.0);
  in_pieces(s.samples.draws, v.size(), [&](std::size_t first, std::size_t count) {
    const auto values = s.values(v, walker, first, count);
    for (std::size_t i = 0; i < values.size(); ++i) mean[i % mean.size()] += values[i];
  });
  for (double& x : mean) x /= double(s.samples.draws);
  return mean;
}

// The chosen draw of the first chosen walker, or the mean over all draws of the chosen walkers.
std::vector<double> state(const Selection& s, const Variable& v) {
  if (s.draw) return s.values(v, s.walkers.front(), *s.draw, 1);
  std::vector<double> mean(v.size(), 0.0);
  for (const std::size_t w : s.walkers) {
    const auto of_walker = stored_mean(s, v, w);
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += of_walker[k] / double(s.walkers.size());
  }
  return mean;
}

// A block as PyTorch has it: under each of its names, cut where several tensors are stacked. Blocks of no network are
// left out.
template <class Real>
void add_named_by_pytorch(const Selection& s, const Variable& v, std::span<const Real> values,
                          std::map<std::string, ArrayView<Real>>& arrays) {
  const auto& known = s.samples.record.pytorch;
  const auto at = known.find(v.name);
  if (at == known.end()) return;
  for (const TorchNames& pieces : at->second) {
    std::vector<std::size_t> shape = v.shape;
    shape.front() /= pieces.size();
    const std::size_t each = values.size() / pieces.size();
    for (std::size_t k = 0; k < pieces.size(); ++k) arrays[pieces[k]] = {shape, values.subspan(k * each, each)};
  }
}

template <class Real, class Write>
void write_state_as(const Selection& s, Write&& write) {
  std::map<std::string, std::vector<Real>> numbers;
  std::map<std::string, ArrayView<Real>> arrays;
  for (const Variable& v : s.groups.at(parameters)) {
    const auto values = state(s, v);
    const auto& mine = numbers[v.name] = {values.begin(), values.end()};
    if (s.named_by_pytorch) add_named_by_pytorch<Real>(s, v, mine, arrays);
    else arrays[v.name] = {v.shape, mine};
  }
  write(arrays);
}

template <class Write>
void write_state(const Selection& s, Write&& write) {
  const auto& blocks = s.groups.at(parameters);
  if (std::any_of(blocks.begin(), blocks.end(), [](const Variable& v) { return v.wide(); }))
    write_state_as<double>(s, write);
  else write_state_as<float>(s, write);
}

void write_npz_state(const Selection& s, const std::string& file) {
  write_state(s, [&]<class Real>(const std::map<std::string, ArrayView<Real>>& arrays) { write_npz(file, arrays); });
}

void write_safetensors_state(const Selection& s, const std::string& file) {
  auto about = s.about();
  about["format"] = "pt";  // loaders of PyTorch ask for it
  about["draw"] = s.draw ? std::to_string(*s.draw) : "mean";
  write_state(s, [&]<class Real>(const std::map<std::string, ArrayView<Real>>& arrays) {
    write_safetensors(file, arrays, about);
  });
}

// ---- tables of text

// Text that goes to a file piece by piece.
struct TextFile {
  std::string name, text;
  std::ofstream file;

  explicit TextFile(const std::string& path) : name(path), file(path, std::ios::binary) {}
  void end_row(char last_separator = ',') {
    if (text.ends_with(last_separator)) text.back() = '\n';
    if (text.size() > std::size_t(1) << 20) flush();
  }
  void flush() {
    file.write(text.data(), std::streamsize(text.size()));
    text.clear();
    if (!file.flush()) throw Error("cannot write \"{}\"; check that its directory exists and has room", name);
  }
};

template <class... Args>
void append(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

std::size_t width_of(std::span<const Variable> variables) {
  std::size_t width = 0;
  for (const Variable& v : variables) width += v.size();
  return width;
}

// Some draws of several variables, to be read draw by draw.
std::vector<std::vector<double>> values_of(const Selection& s, std::span<const Variable> variables, std::size_t walker,
                                           std::size_t first, std::size_t count) {
  std::vector<std::vector<double>> out;
  for (const Variable& v : variables) out.push_back(s.values(v, walker, first, count));
  return out;
}

void write_csv(const Selection& s, const std::string& file) {
  std::vector<Variable> variables = s.groups.at(statistics);
  const auto& blocks = s.groups.at(parameters);
  variables.insert(variables.end(), blocks.begin(), blocks.end());
  TextFile out(file);
  out.text = "chain,draw,";
  for (const Variable& v : variables)
    for (std::size_t k = 0; k < v.size(); ++k) {
      const char* quote = v.shape.size() > 1 ? "\"" : "";  // around names with commas
      append(out.text, "{}{}{},", quote, entry_name(v.name, k, v.shape), quote);
    }
  out.end_row();
  for (const std::size_t walker : s.walkers)
    in_pieces(s.samples.draws, width_of(variables), [&](std::size_t first, std::size_t count) {
      const auto values = values_of(s, variables, walker, first, count);
      for (std::size_t n = 0; n < count; ++n) {
        append(out.text, "{},{},", walker, first + n);
        for (std::size_t i = 0; i < variables.size(); ++i)
          for (std::size_t k = 0, each = variables[i].size(); k < each; ++k) {
            const double x = values[i][n * each + k];
            if (variables[i].wide()) append(out.text, "{},", x);  // the shortest text that gives the same number
            else append(out.text, "{},", float(x));
          }
        out.end_row();
      }
    });
  out.flush();
}

// The columns that CmdStan writes before the parameters, with the statistic each is, or a number where there is none.
// Stan counts energies in units of the log density, so ours are multiplied by the number of rows.
struct StanColumn {
  std::string_view name, statistic;
  bool times_rows;
  double (*otherwise)(const Selection&);
};
double none(const Selection&) { return 0; }
double one(const Selection&) { return 1; }
double unknown(const Selection&) { return std::numeric_limits<double>::quiet_NaN(); }
// The step of the first part, if it is a number and not a schedule.
double step_of(const Selection& s) {
  const auto& parts = s.samples.record.settings.part;
  const auto part = parts.find(s.samples.parts.front());
  return part != parts.end() && part->second.step.name == "constant" ? part->second.step.number("value") : unknown(s);
}
constexpr StanColumn stan_columns[] = {
    {"lp__", "lp", false, unknown},
    {"accept_stat__", "acceptance_rate", false, one},
    {"stepsize__", "step_size", false, step_of},
    {"treedepth__", "tree_depth", false, none},
    {"n_leapfrog__", "n_steps", false, none},
    {"divergent__", "diverging", false, none},
    {"energy__", "energy", true, unknown},
};

// A legal name in Stan: letters, digits and underscores.
std::string stan_name(std::string name) {
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return std::isalpha(static_cast<unsigned char>(name[0])) ? name : "p" + name;
}

// The first index runs fastest: place k in that order, as its place in ours and the indices counted from 1.
std::pair<std::size_t, std::string> column_major(std::size_t k, const std::vector<std::size_t>& shape) {
  std::size_t place = 0;
  std::string indices;
  std::vector<std::size_t> at(shape.size());
  for (std::size_t d = 0; d < shape.size(); k /= shape[d++]) at[d] = k % shape[d];
  for (std::size_t d = 0; d < shape.size(); ++d) {
    place = place * shape[d] + at[d];
    indices += fmt::format(".{}", at[d] + 1);
  }
  return {place, indices};
}

void write_stan_csv(const Selection& s, const std::string& file) {
  const std::size_t walker = s.walkers.front();
  TextFile out(file);
  auto about = s.about();
  append(out.text,
         "# model = {}\n# method = sample\n#   sample\n#     num_samples = {}\n#     num_warmup = 0\n"
         "#     save_warmup = 0\n#     thin = 1\n#     algorithm = {}\n#         max_depth = 10\n# id = {}\n"
         "# random\n#   seed = {}\n# kelvin = {}\n",
         stan_name(about["run"]), s.samples.draws, about["schemes"], walker + 1, about["seed"],
         about["inference_library_version"]);

  std::vector<const Variable*> sources;  // null where the run has no such statistic
  const auto& known = s.groups.at(statistics);
  for (const StanColumn& column : stan_columns) {
    append(out.text, "{},", column.name);
    const auto at = std::find_if(known.begin(), known.end(),
                                 [&](const Variable& v) { return v.name == column.statistic && v.size() == 1; });
    sources.push_back(at == known.end() ? nullptr : &*at);
  }
  const auto& blocks = s.groups.at(parameters);
  std::vector<std::vector<std::size_t>> places;  // of each parameter, in Stan's order
  std::set<std::string> names;
  for (const Variable& v : blocks) {
    const std::string name = stan_name(v.name);
    if (!names.insert(name).second) throw Error("two blocks would both be called \"{}\" in Stan's CSV", name);
    auto& order = places.emplace_back();
    for (std::size_t k = 0; k < v.size(); ++k) {
      const auto [place, indices] = column_major(k, v.shape);
      append(out.text, "{}{},", name, indices);
      order.push_back(place);
    }
  }
  out.end_row();

  const double rows = double(std::max<std::size_t>(1, s.samples.record.rows));
  in_pieces(s.samples.draws, width_of(blocks), [&](std::size_t first, std::size_t count) {
    std::vector<std::vector<double>> columns;
    for (std::size_t c = 0; c < sources.size(); ++c) {
      auto& column = columns.emplace_back(sources[c] ? s.values(*sources[c], walker, first, count)
                                                     : std::vector<double>(count, stan_columns[c].otherwise(s)));
      if (stan_columns[c].times_rows)
        for (double& x : column) x *= rows;
    }
    const auto values = values_of(s, blocks, walker, first, count);
    for (std::size_t n = 0; n < count; ++n) {
      for (const auto& column : columns) append(out.text, "{:.8g},", column[n]);
      for (std::size_t i = 0; i < values.size(); ++i)
        for (const std::size_t place : places[i]) append(out.text, "{:.8g},", values[i][n * places[i].size() + place]);
      out.end_row();
    }
  });
  out.flush();
}

constexpr Format all_formats[] = {
    {"netcdf", ".nc", false, false, write_netcdf, "netCDF-4 with the groups of ArviZ: all draws, all statistics"},
    {"csv", ".csv", false, false, write_csv, "a table: a row per draw, statistics first, then every parameter"},
    {"stan-csv", ".csv", false, true, write_stan_csv, "what CmdStan writes: a file per walker, FILE_1.csv, FILE_2.csv"},
    {"npz", ".npz", true, false, write_npz_state, "one state for NumPy: an array per block"},
    {"safetensors", ".safetensors", true, false, write_safetensors_state, "one state for PyTorch: a tensor per block"},
};

// The files a format makes, each with the walkers in it.
std::vector<std::pair<fs::path, std::vector<std::size_t>>> files_of(const Selection& s, const Format& format,
                                                                    const ExportOptions& options) {
  fs::path file = options.file;
  if (file.empty()) file = run_directory(s.samples.run).string() + std::string(format.extension);
  if (!format.per_walker) return {{file, s.walkers}};
  std::vector<std::pair<fs::path, std::vector<std::size_t>>> files;
  for (const std::size_t w : s.walkers)
    files.push_back(
        {file.parent_path() / fmt::format("{}_{}{}", file.stem().string(), w + 1,
                                          file.has_extension() ? file.extension().string() : format.extension),
         {w}});
  return files;
}

}  // namespace

std::size_t Variable::size() const {
  std::size_t n = 1;
  for (const std::size_t extent : shape) n *= extent;
  return n;
}

bool Variable::wide() const { return type->width > sizeof(float); }

std::vector<double> Selection::values(const Variable& v, std::size_t walker, std::size_t first,
                                      std::size_t count) const {
  return samples.array(v.group + "/" + v.name, walker, first, count);
}

std::size_t Selection::draws_in(const std::string& group) const {
  const auto& warmup = samples.manifest.warmup_draws;
  if (!group.starts_with("warmup_")) return samples.draws;
  return warmup.empty() ? 0 : *std::min_element(warmup.begin(), warmup.end());
}

std::map<std::string, std::string> Selection::about() const {
  std::map<std::string, std::string> texts = {{"run", run_directory(samples.run).filename().string()}};
  const std::string attributes = "samples.zarr/.zattrs";
  const Value given = parse_json(read_named(samples.run, samples.manifest, attributes), attributes);
  for (const auto& [key, value] : given.entries()) texts[key] = value.text() ? value.as<std::string>() : to_json(value);
  for (const std::string& part : samples.parts)
    if (const auto at = samples.record.part.find(part); at != samples.record.part.end())
      texts["schemes"] += (texts["schemes"].empty() ? "" : " ") + at->second.scheme;
  return texts;
}

std::span<const Format> formats() { return all_formats; }

std::vector<std::string> export_run(const fs::path& run, const Format& format, const ExportOptions& options) {
  if (!options.draw.empty() && !format.one_state)
    throw Error("--draw {} makes no sense for {}, which holds all draws; leave it out", options.draw, format.name);
  if (!options.names.empty() && !format.one_state)
    throw Error("--names {} makes no sense for {}, which holds all draws by Kelvin's names; leave it out",
                options.names, format.name);
  if (!options.names.empty() && options.names != "kelvin" && options.names != "pytorch")
    throw Error("--names must be \"kelvin\" or \"pytorch\", not \"{}\"", options.names);
  Selection selection = select(run, options);
  selection.named_by_pytorch = options.names == "pytorch";
  if (selection.named_by_pytorch && selection.samples.record.pytorch.empty())
    throw Error(
        "\"{}\" knows no names of PyTorch, for it has no network or was begun by an earlier version; leave out --names",
        run.string());
  selection.groups[statistics];
  if (format.one_state) {
    selection.draw = draw_of(options.draw, selection);
    if (selection.groups[parameters].empty()) {
      if (selection.draw)
        throw Error("\"{}\" kept no weights (store.weights = \"none\"), only their means; write them with --draw mean",
                    run.string());
      for (const std::string& block : selection.samples.blocks)
        selection.groups[parameters].push_back(variable_at(selection.samples, moments, block));
    }
  }
  const auto files = files_of(selection, format, options);
  for (const auto& [file, walkers] : files)
    if (fs::exists(file) && !(options.replace && fs::is_regular_file(file)))
      throw Error("\"{}\" exists already; give another file with -o, or --force to replace it", file.string());

  std::vector<std::string> written, unfinished;
  try {
    for (const auto& [file, walkers] : files) {
      selection.walkers = walkers;
      unfinished.push_back(file.string() + ".part");
      format.write(selection, unfinished.back());
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      fs::rename(unfinished[i], files[i].first);
      written.push_back(files[i].first.string());
    }
  } catch (...) {
    std::error_code ignored;
    for (const std::string& file : unfinished) fs::remove(file, ignored);
    throw;
  }
  return written;
}

}  // namespace kelvin
