// SPDX-License-Identifier: Apache-2.0
// Thousands of damaged runs: whatever happens to a file, every command says what it said before, or refuses the file
// by its name in words of ours.
#include <random>

#include "kelvin/analysis/analysis.h"
#include "kelvin/analysis/posterior/summary.h"
#include "kelvin/analysis/verdict/diagnose.h"
#include "kelvin/core/crc32c.h"
#include "kelvin/io/json.h"
#include "kelvin/report/document.h"
#include "kelvin/trajectory/export.h"
#include "kelvin/trajectory/verify.h"
#include "tests/disk_runs.h"
#include "tests/program.h"
#include "tests/run_contents.h"

namespace kelvin {
namespace {

namespace fs = std::filesystem;

const std::string small_network =
    "data = { generator = { name = \"spiral\", rows = 20 }, test = 5 }\n"
    "model = { layers = [2, 3, 1], activation = \"tanh\", loss = \"binary_cross_entropy\", prior = 1.0 }\n";

struct DamagedKind {
  const char* name;
  std::string file;
  std::uint64_t more;    // steps that a finished run is resumed for, so that there are several chunks
  std::uint64_t killed;  // at this step; 0: it finishes
};
const DamagedKind damaged_kinds[] = {
    {"a network with all that can be stored",
     "steps = 40\nevery = 1\nwarmup = 10\nwalkers = 2\nlog_every = 20\n"
     "store = { keep_warmup = true, predictions = true, log_likelihood = true }\n" +
         small_network + "part.all = { step = 0.05 }\n",
     80, 0},
    {"a toy that was killed",
     "steps = 200\nevery = 2\nlog_every = 20\ncheckpoint_every = 50\nwalkers = 3\nmodel = { toy = \"double_well\" }\n"
     "part.all = { step = 0.2, temperature = 0.5 }\n",
     0, 130},
    {"weighted draws",
     "steps = 300\nwarmup = 1000\nevery = 3\nwalkers = 2\nlog_every = 100\nswitching = 5.0\n"
     "model = { toy = \"double_well\" }\npart.all = { step = 0.1, temperature = 0.5 }\n",
     300, 0},
    {"a ladder of temperatures in half precision",
     "steps = 60\nevery = 2\nbatch = 7\nlog_every = 30\nstore.weights = \"half\"\n"
     "exchange = { rungs = 3, highest = 3.0, every = 15, batches = 4 }\n" +
         small_network + "part.all = { step = 0.05 }\n",
     60, 0},
};

Found analysed(const char* name, std::vector<Samples> runs) {
  for (const Analysis& row : analyses())
    if (row.name == name) {
      Subject subject = subject_of(runs.front());
      subject.runs = std::move(runs);
      subject.brief = true;
      return find(row, row.ask(), subject, [](double, double, std::string_view) {});
    }
  throw Error("no analysis {}", name);
}

// Bytes of every draw, and of what the record, the log and the moments say.
std::string everything_of(const std::string& run) {
  const Samples samples = open_samples(run, Which::every);
  Packer pack;
  for (const auto& [array, fingerprint] : samples.manifest.arrays)
    for (std::size_t w = 0; w < samples.walkers && !array.ends_with("/time"); ++w) {
      const bool warmup = array.starts_with("warmup_");
      pack(samples.array(array, w, 0, (warmup ? samples.manifest.warmup_draws : samples.manifest.draws)[w]));
    }
  for (const LogLine& line : read_log(run)) pack(line.potential);
  if (samples.record.has_finished())
    for (const std::string& block : samples.blocks) pack(samples.running_mean(block, samples.walkers - 1));
  return pack.bytes;
}

struct DamagedCommand {
  const char* name;
  std::function<std::string(const std::string& run, const Directory& desk)> says;
};

std::string exported(const std::string& run, const Directory& desk) {
  std::string out;
  for (const Format& format : formats()) {
    const std::string file = desk.path("exported" + std::string(format.extension));
    for (const std::string& written :
         export_run(run, format, {.file = file, .draw = {}, .names = {}, .replace = true})) {
      if (format.name != "netcdf") out += bytes_of(written);  // which has times of its own
      fs::remove(written);
    }
  }
  return out;
}

std::string resumed(const std::string& run, const Directory& desk) {
  const std::string copy = desk.path("copy");
  fs::remove_all(copy);
  fs::copy(run, copy, fs::copy_options::recursive);
  resume_whole(copy, 4);
  return everything_of(copy);
}

const DamagedCommand damaged_commands[] = {
    {"summary", [](const std::string& run, const Directory&) { return as_text(summary(open_samples(run), true)); }},
    {"watch",
     [](const std::string& run, const Directory&) {
       const RunRecord record = read_record(run);
       const Manifest manifest = read_manifest(run);
       check_same_run(run, manifest, record);
       const auto line = last_log_line(run, record);
       return (line ? to_json(recorded(*line)) : "") + to_json(recorded(record)) + to_json(Value(manifest.draws));
     }},
    {"report", [](const std::string& run,
                  const Directory&) { return to_json(report_document({run}, "now", [](std::string_view) {})); }},
    {"diagnose", [](const std::string& run, const Directory&) { return as_text(diagnose(open_samples(run))); }},
    {"compare",
     [](const std::string& run, const Directory& desk) {
       return as_text(analysed("compare", {open_samples(run), open_samples(desk.path("other"))}).finding);
     }},
    {"averages", [](const std::string& run,
                    const Directory&) { return as_text(analysed("averages", {open_samples(run)}).finding); }},
    {"export", exported},
    {"read", [](const std::string& run, const Directory&) { return everything_of(run); }},
    {"resume", resumed},
};

// One mutation: what it does to the files of a run.
struct Mutation {
  std::string what;
  std::vector<std::string> files;    // any of which may be named
  std::vector<std::string> written;  // new contents of each; nothing if it is deleted
  bool deleted = false;
};

class Mutator {
 public:
  Mutator(std::string run, std::string other, unsigned seed)
      : run_(std::move(run)), other_(std::move(other)), random_(seed) {
    for (const auto& entry : fs::recursive_directory_iterator(run_)) {
      const std::string name = entry.path().lexically_relative(run_).string();
      if (!entry.is_regular_file() || name == "lock" || entry.path().extension() == ".part") continue;
      if (fs::file_size(entry.path()) == 0) continue;
      files_.push_back(name);
      if (std::isdigit(entry.path().filename().string()[0])) chunks_.push_back(name);
      else if (name != "chunks" && name != "checkpoint/state") texts_.push_back(name);
    }
  }
  Mutation next() {
    std::vector<std::function<Mutation()>> ways = {
        [&] { return changed("a bit flipped", any(files_), [&](std::string& b) { b[at(b)] ^= char(1 << pick(8)); }); },
        [&] { return changed("truncated", any(files_), [&](std::string& b) { b.resize(at(b)); }); },
        [&] { return changed("emptied", any(files_), [&](std::string& b) { b.clear(); }); },
        [&] { return changed("appended", any(files_), [&](std::string& b) { b += std::string(1 + pick(9), 'x'); }); },
        [&] { return changed("zeroed", any(files_), [&](std::string& b) { zero(b); }); },
        [&] { return deleted(any(files_)); },
        [&] { return exchanged(); },
        [&] { return of_other(any(chunks_)); },
        [&] { return of_other(any(texts_)); },
        [&] { return of_other(pick(2) ? "chunks" : "checkpoint/state"); },
        [&] { return changed("a digit or letter", any(texts_), [&](std::string& b) { retyped(b); }); },
        [&] { return changed("a digit or letter", any(roots_), [&](std::string& b) { retyped(b); }); },
        [&] { return changed("a bit flipped", any(roots_), [&](std::string& b) { b[at(b)] ^= char(1 << pick(8)); }); }};
    return ways[pick(ways.size())]();
  }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }
  std::size_t at(const std::string& bytes) { return pick(bytes.size()); }
  const std::string& any(const std::vector<std::string>& names) { return names[pick(names.size())]; }
  Mutation changed(const char* what, const std::string& file, const std::function<void(std::string&)>& change) {
    std::string bytes = bytes_of(run_ + "/" + file);
    change(bytes);
    return {fmt::format("{} in {}", what, file), {file}, {bytes}};
  }
  void zero(std::string& bytes) {
    const std::size_t from = at(bytes);
    std::fill_n(bytes.begin() + long(from), std::min<std::size_t>(bytes.size() - from, 1 + pick(64)), '\0');
  }
  void retyped(std::string& text) {
    for (int tries = 0; tries < 1000; ++tries) {
      char& letter = text[at(text)];
      if (!std::isalnum(static_cast<unsigned char>(letter))) continue;
      const char before = letter;
      letter = std::isdigit(before) ? char('0' + (before - '0' + 1 + int(pick(9))) % 10) : before == 'x' ? 'y' : 'x';
      return;
    }
  }
  Mutation deleted(const std::string& file) {
    if (file.starts_with("analysis/")) return deleted(any(chunks_));  // findings are the user's to remove
    return {"deleted " + file, {file}, {""}, true};
  }
  Mutation exchanged() {
    const std::string a = any(chunks_), b = any(chunks_);
    return {fmt::format("exchanged {} and {}", a, b), {a, b}, {bytes_of(run_ + "/" + b), bytes_of(run_ + "/" + a)}};
  }
  Mutation of_other(const std::string& file) {
    return {fmt::format("{} of another run", file), {file}, {bytes_of(other_ + "/" + file)}};
  }

  std::string run_, other_;
  std::mt19937 random_;
  std::vector<std::string> files_, chunks_, texts_;
  const std::vector<std::string> roots_ = {"run.json",      "run.toml",         "log.jsonl",
                                           "manifest.json", "checkpoint/state", "chunks"};
};

void apply(const std::string& run, const Mutation& mutation) {
  for (std::size_t k = 0; k < mutation.files.size(); ++k) {
    const std::string file = run + "/" + mutation.files[k];
    if (mutation.deleted) fs::remove(file);
    else std::ofstream(file, std::ios::binary) << mutation.written[k];
  }
}

struct Counts {
  int same = 0, refused = 0, silent = 0, raw = 0, unnamed = 0;
};

void look(Counts& counts, const Mutation& mutation, const std::string& command, const std::string& expected,
          const std::function<std::string()>& says, bool report_failures = true) {
  const auto names_file = [&](const std::string& text) {
    return std::any_of(mutation.files.begin(), mutation.files.end(),
                       [&](const std::string& file) { return text.find(file) != text.npos; });
  };
  try {
    const bool same = says() == expected;
    ++(same ? counts.same : counts.silent);
    if (!same && report_failures) ADD_FAILURE() << command << " is silent: " << mutation.what;
  } catch (const Error& e) {
    ++counts.refused;
    counts.unnamed += !names_file(e.what());
    if (!names_file(e.what())) ADD_FAILURE() << command << ", " << mutation.what << ", does not name it: " << e.what();
  } catch (const std::exception& e) {
    ++counts.raw;
    ADD_FAILURE() << command << ", " << mutation.what << ", raw: " << e.what();
  }
}

void make_damaged_kind(const DamagedKind& kind, const std::string& run, const std::string& seed) {
  const std::string file = "seed = " + seed + "\n" + kind.file;
  if (kind.killed) run_until_killed(run, file, kind.killed);
  else run_whole(run, file);
  if (kind.more) resume_whole(run, kind.more);
  keep(run, summary(open_samples(run), true));
}

// How the commands take a mutation of a run, which is then mended again.
void look_at_all(Counts& counts, const std::string& run, const Directory& desk, const Mutation& mutation,
                 const std::map<std::string, std::string>& expected) {
  const std::string kept = desk.path("kept");
  for (std::size_t k = 0; k < mutation.files.size(); ++k)
    fs::copy_file(run + "/" + mutation.files[k], kept + std::to_string(k), fs::copy_options::overwrite_existing);
  apply(run, mutation);
  const Counts before = counts;
  for (const DamagedCommand& command : damaged_commands)
    look(counts, mutation, command.name, expected.at(command.name), [&] { return command.says(run, desk); });
  const Verification found = verify(run);
  if (counts.refused > before.refused) {
    EXPECT_FALSE(found.intact()) << "verify passes over " << mutation.what;
  }
  for (std::size_t k = mutation.files.size(); k-- > 0;)
    fs::copy_file(kept + std::to_string(k), run + "/" + mutation.files[k], fs::copy_options::overwrite_existing);
}

TEST(Damaged, OfTwoThousandRunsNoneIsUsedSilently) {
  Counts counts;
  int mutations = 0;
  for (const DamagedKind& kind : damaged_kinds) {
    const Directory desk{in_memory()};
    const std::string run = desk.path("run");
    make_damaged_kind(kind, run, "1");
    make_damaged_kind(kind, desk.path("other"), "2");
    ASSERT_TRUE(verify(run).intact()) << kind.name << ": " << verify(run).damage.front().sentence;
    std::map<std::string, std::string> expected;
    for (const DamagedCommand& command : damaged_commands) {
      expected[command.name] = command.says(run, desk);
      ASSERT_EQ(expected[command.name], command.says(run, desk)) << kind.name << ": " << command.name << " varies";
    }
    Mutator mutator(run, desk.path("other"), 5);
    for (int n = 0; n < 510; ++n, ++mutations) look_at_all(counts, run, desk, mutator.next(), expected);
    EXPECT_TRUE(verify(run).intact()) << "it was mended each time";
  }
  std::printf("%d mutations: %d times the same, %d refused\n", mutations, counts.same, counts.refused);
  EXPECT_GE(mutations, 2000);
  EXPECT_EQ(counts.silent, 0);
  EXPECT_EQ(counts.raw, 0);
  EXPECT_EQ(counts.unnamed, 0);
  EXPECT_GT(counts.refused, 2 * mutations) << "most damage meets some commands";
}

// Negative control: the same chunks with checksums made to fit, as if nothing were checked, are used silently.
TEST(Damaged, WithoutChecksAnExchangeOfChunksWouldBeSilent) {
  const Directory desk{in_memory()};
  const std::string run = desk.path("run");
  make_damaged_kind(damaged_kinds[0], run, "1");
  const std::string expected = everything_of(run);
  const std::string a = "samples.zarr/posterior/layer1.weight/0.0.0.0",
                    b = "samples.zarr/posterior/layer1.weight/1.0.0.0";
  const Mutation mutation{"exchanged", {a, b}, {bytes_of(run + "/" + b), bytes_of(run + "/" + a)}};
  apply(run, mutation);
  Counts checked, unchecked;
  look(checked, mutation, "read", expected, [&] { return everything_of(run); });
  EXPECT_EQ(checked.refused, 1);

  Manifest manifest = read_manifest(run);
  const auto array =
      std::uint32_t(std::distance(manifest.arrays.begin(), manifest.arrays.find("posterior/layer1.weight")));
  std::string bytes = bytes_of(run + "/chunks");
  std::vector<ChunkSum> sums(bytes.size() / sizeof(ChunkSum));
  std::memcpy(sums.data(), bytes.data(), bytes.size());
  for (ChunkSum& sum : sums)
    if (sum.array == array && sum.number == 0) sum.walker = 1 - sum.walker;
  std::memcpy(bytes.data(), sums.data(), bytes.size());
  std::ofstream(run + "/chunks", std::ios::binary) << bytes;
  manifest.files["chunks"] = sum_of(bytes);
  std::ofstream(run + "/manifest.json") << manifest_bytes(manifest);
  look(
      unchecked, mutation, "read", expected, [&] { return everything_of(run); }, false);
  EXPECT_EQ(unchecked.silent, 1);
}

}  // namespace
}  // namespace kelvin
