// SPDX-License-Identifier: Apache-2.0
// `kelvin report`: a page about one run or several, and its figures as PNG files.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <sstream>

#include "apps/cli/command.h"
#include "apps/cli/progress.h"
#include "kelvin/io/json.h"
#include "kelvin/report/document.h"
#include "kelvin/report/page.h"
#include "kelvin/trajectory/files.h"

namespace kelvin::cli {
namespace {

namespace fs = std::filesystem;

// The first of these programs that PATH holds; empty if none.
std::string program_in_path(std::initializer_list<const char*> names) {
  const char* path = std::getenv("PATH");
  for (const char* name : names) {
    std::stringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
      if (access((fs::path(folder) / name).c_str(), X_OK) == 0) return (fs::path(folder) / name).string();
  }
  return "";
}

// Runs a program without its chatter; returns its exit code.
int start_program(std::vector<std::string> words, bool wait) {
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_RDWR);
    for (const int stream : {0, 1, 2}) dup2(nowhere, stream);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  if (child > 0 && wait) waitpid(child, &status, 0);
  return child < 0 ? 127 : WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string chromium_in_path() {
  const std::string found = program_in_path({"chromium", "chromium-browser", "google-chrome"});
  if (found.empty())
    throw Error("--png needs the browser Chromium, which is not installed; install the Debian package `chromium`");
  return found;
}

// Bytes that may not stand in an address are written as %XX.
std::string address_of(const fs::path& file, const std::string& fragment) {
  std::string out = "file://";
  for (const unsigned char c : fs::absolute(file).string())
    out += std::isalnum(c) || std::string_view("/-_.~").find(char(c)) != std::string_view::npos
               ? std::string(1, char(c))
               : fmt::format("%{:02X}", c);
  return out + "#" + fragment;
}

// A photograph of one figure, made in a directory of its own and moved when it is whole.
void photograph(const std::string& chromium, const fs::path& page, const std::string& figure, const fs::path& file) {
  std::string profile = (fs::temp_directory_path() / "kelvin_png_XXXXXX").string();
  if (!mkdtemp(profile.data())) throw Error("cannot make a directory in \"{}\"", fs::temp_directory_path().string());
  const fs::path picture = fs::path(profile) / "figure.png";
  std::vector<std::string> words = {chromium,
                                    "--headless",
                                    "--disable-gpu",
                                    "--hide-scrollbars",
                                    "--no-first-run",
                                    "--force-device-scale-factor=2",
                                    "--window-size=900,600",
                                    "--user-data-dir=" + profile,
                                    "--screenshot=" + picture.string()};
  if (geteuid() == 0) words.push_back("--no-sandbox");  // which refuses to work for root
  words.push_back(address_of(page, "figure=" + figure));
  const int code = start_program(words, true);
  std::string bytes;
  if (fs::exists(picture)) bytes = read_file(picture);
  std::error_code ignored;
  fs::remove_all(profile, ignored);
  if (bytes.empty()) throw Error("\"{}\" made no picture of {} (exit code {})", chromium, figure, code);
  write_file(file, bytes, false);
}

// Figures whose name is `wanted`, or ends in it after a hyphen; all if it is empty.
std::vector<std::string> chosen_figures(const std::vector<std::string>& figures, const std::string& wanted) {
  std::vector<std::string> out;
  std::string known;
  for (const std::string& name : figures) {
    if (wanted.empty() || name == wanted || name.ends_with("-" + wanted)) out.push_back(name);
    known += (known.empty() ? "" : ", ") + name;
  }
  if (out.empty()) throw Error("no figure \"{}\" in this report; it has: {}", wanted, known);
  return out;
}

struct ReportArguments {
  std::vector<std::string> runs;
  std::string out, png, figure;
  bool open = false, json = false, quiet = false;
  template <class Visit>
  void fields(Visit&& field) {
    field("run", runs, "directories of runs", argument);
    field("out", out, "the file (default: report.html in the run, or here for several runs)");
    field("png", png, "write every figure as a PNG file into this directory (needs Chromium)");
    field("figure", figure, "only this figure as PNG", {.needs = "png"});
    field("open", open, "show the page in a browser");
    field("quiet", quiet, "no progress");
    field("json", json, "print the files and the names of the figures as JSON");
  }
};

void report_runs(const ReportArguments& arguments) {
  const std::string chromium = arguments.png.empty() ? "" : chromium_in_path();
  const std::string opener = arguments.open ? program_in_path({"xdg-open"}) : "";
  if (arguments.open && opener.empty())
    throw Error("--open needs xdg-open, which is not installed; install the Debian package `xdg-utils`");
  const std::vector<fs::path> runs(arguments.runs.begin(), arguments.runs.end());
  const Value document = report_document(runs, utc("%Y-%m-%d %H:%M UTC"), remark);
  const auto figures = figure_names(document);
  const auto wanted = arguments.png.empty() ? std::vector<std::string>() : chosen_figures(figures, arguments.figure);
  const fs::path file = !arguments.out.empty() ? fs::path(arguments.out)
                        : runs.size() == 1     ? runs[0] / "report.html"
                                               : fs::path("report.html");
  write_file(file, report_page(document), false);
  std::vector<std::string> pictures;
  if (!wanted.empty()) make_directories(arguments.png);
  Progress progress(double(wanted.size()), "figures", arguments.quiet || wanted.empty());
  for (const std::string& name : wanted) {
    const fs::path picture = fs::path(arguments.png) / (name + ".png");
    photograph(chromium, file, name, picture);
    pictures.push_back(picture.string());
    progress.show(double(pictures.size()), name);
  }
  progress.finish();
  if (arguments.open) start_program({opener, fs::absolute(file).string()}, false);
  if (arguments.json)
    return print(to_json(Value::Group{{"report", file.string()}, {"figures", figures}, {"png", pictures}}, 2) + "\n");
  print(fmt::format("{} ({:.0f} kB, {} figures)\n", file.string(), double(fs::file_size(file)) / 1e3, figures.size()));
  for (const std::string& picture : pictures) print(picture + "\n");
}

}  // namespace

Command report_command() {
  return {.name = "report",
          .summary = "one HTML page about a run, or about several beside each other",
          .footer = "Example:  kelvin report runs/spiral --open",
          .call = calls(report_runs)};
}

}  // namespace kelvin::cli
