// SPDX-License-Identifier: Apache-2.0
#include <regex>
#include <set>

#include "kelvin/analysis/analysis.h"
#include "kelvin/report/document.h"
#include "kelvin/report/page.h"
#include "kelvin/trajectory/files.h"
#include "tests/json.h"
#include "tests/program.h"

namespace kelvin {

namespace fs = std::filesystem;
using testing::HasSubstr;

namespace {

std::size_t count(const std::string& text, const std::string& piece) {
  std::size_t found = 0;
  for (std::size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++found;
  return found;
}

// What the page's script will read.
Json document_in(const std::string& page) {
  const std::string before = R"(id="report">)";
  const std::size_t begin = page.find(before) + before.size();
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

Value one_run_called(const std::string& name) {
  Finding finding{"words", name, {name}, {}, {}};
  const Value run =
      Value::Group{{"name", name}, {"verdict", Value::List{name}}, {"sections", std::vector<Value>{as_value(finding)}}};
  return Value::Group{
      {"title", name}, {"made", ""}, {"version", ""}, {"overview", Value::List()}, {"runs", std::vector<Value>{run}}};
}

Figure wave(std::size_t points, const std::string& style) {
  Figure figure;
  Curve curve{"wave", {}, {}, {}, {}, style};
  for (std::size_t k = 0; k < points; ++k) curve.x.push_back(double(k)), curve.y.push_back(std::sin(0.01 * double(k)));
  curve.y[points / 3] = 7, curve.y[points / 2] = -9;
  figure.curves = {curve};
  return figure;
}

const char* toy = R"(
steps = 2000
warmup = 0
every = 2
walkers = 2
[model]
toy = { name = "gaussian", stiffness = [1.0, 4.0] }
[part.all]
scheme = "BAOAB"
step = 0.3
temperature = 1.0
)";

const char* spiral = R"(
steps = 400
warmup = 100
every = 4
walkers = 2
log_every = 100
[data]
generator = { name = "spiral", rows = 60, test = 40 }
[model]
layers = [2, 8, 1]
loss = "binary_cross_entropy"
prior = { name = "gaussian", scale = 1.0 }
[batch]
size = 20
[part.all]
scheme = "BAOAB"
step = 0.1
)";

}  // namespace

TEST(Report, page_belongs_to_the_sources_beside_it) {
  const fs::path web = fs::path(KELVIN_SOURCE_DIR) / "web";
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(web / "src")) files.insert(entry.path());
  std::string bytes;
  for (const char* name : {"index.html", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"})
    bytes += bytes_of((web / name).string());
  for (const fs::path& file : files) bytes += bytes_of(file.string());
  EXPECT_THAT(std::string(empty_page()),
              HasSubstr(fmt::format(R"(<meta name="kelvin-sources" content="{:08x}">)", checksum(bytes))))
      << "web/ has changed: ./run web builds the page anew";
}

TEST(Report, page_refers_to_nothing_outside_itself) {
  const std::string page(empty_page());
  const std::regex outside(R"re((src|href|action)\s*=\s*["']?\s*(https?:|//|[a-z./]+\.(js|css|png)))re",
                           std::regex::icase);
  EXPECT_FALSE(std::regex_search(page.begin(), page.begin() + std::ptrdiff_t(page.find("<script>")), outside));
  EXPECT_EQ(page.find("fetch("), std::string::npos);
  EXPECT_EQ(page.find("XMLHttpRequest"), std::string::npos);
  EXPECT_THAT(page, HasSubstr("default-src 'none'")) << "the browser is told to load nothing";
  EXPECT_EQ(count(page, "@import"), 0u);
}

TEST(Report, names_cannot_become_markup) {
  const std::string hostile = "</script><script>alert('x')</script><!-- <b>\"&amp;\\u003c";
  const std::string page = report_page(one_run_called(hostile));
  const std::string empty(empty_page());
  EXPECT_EQ(count(page, "<script"), count(empty, "<script"));
  EXPECT_EQ(count(page, "</script"), count(empty, "</script"));
  EXPECT_EQ(count(page, "<!--"), count(empty, "<!--"));
  EXPECT_EQ(count(page, "<b>"), count(empty, "<b>"));
  EXPECT_EQ(document_in(page), one_run_called(hostile)) << "and come back as they were";
}

TEST(Report, thinned_lines_keep_their_extremes_and_order) {
  Figure line = wave(100000, "line");
  EXPECT_TRUE(thin(line, 1000));
  const Curve& c = line.curves[0];
  EXPECT_LE(c.x.size(), 1000u);
  EXPECT_GT(c.x.size(), 900u);
  EXPECT_EQ(*std::max_element(c.y.begin(), c.y.end()), 7);
  EXPECT_EQ(*std::min_element(c.y.begin(), c.y.end()), -9);
  EXPECT_TRUE(std::is_sorted(c.x.begin(), c.x.end()));
  for (std::size_t k = 0; k < c.x.size(); ++k)
    if (std::abs(c.y[k]) < 2) {
      EXPECT_EQ(c.y[k], std::sin(0.01 * c.x[k])) << "points are left out, not changed";
    }

  Figure points = wave(1000, "points");
  EXPECT_TRUE(thin(points, 100));
  for (std::size_t k = 0; k < points.curves[0].x.size(); ++k) EXPECT_EQ(points.curves[0].x[k], 10.0 * double(k));

  Figure few = wave(50, "line");
  EXPECT_FALSE(thin(few, 50));
  EXPECT_EQ(few.curves[0].x.size(), 50u);
}

TEST(Report, thinned_maps_keep_their_grid) {
  Figure figure;
  figure.map = Map{std::vector<double>(400), std::vector<double>(300), std::vector<double>(400 * 300), "heat", {}, ""};
  for (std::size_t i = 0; i < 400; ++i) figure.map->x[i] = double(i);
  for (std::size_t j = 0; j < 300; ++j) figure.map->y[j] = double(j);
  for (std::size_t k = 0; k < 400 * 300; ++k) figure.map->z[k] = double(k % 400) + 1000.0 * double(k / 400);
  EXPECT_TRUE(thin(figure, 10));
  const Map& map = *figure.map;
  ASSERT_EQ(map.z.size(), map.x.size() * map.y.size());
  EXPECT_LE(std::max(map.x.size(), map.y.size()), 160u);
  for (std::size_t j = 0; j < map.y.size(); ++j)
    for (std::size_t i = 0; i < map.x.size(); ++i) ASSERT_EQ(map.z[j * map.x.size() + i], map.x[i] + 1000 * map.y[j]);
}

TEST(Report, says_what_was_run_how_it_learned_and_what_was_found) {
  const Desk desk;
  desk.write("spiral.toml", spiral);
  ASSERT_EQ(desk.kelvin("sample spiral.toml -o run -q").code, 0);
  Finding own{"zz_own", "A finding nobody knows", {"It is there."}, {}, {wave(20000, "line")}};
  own.figures[0].name = "wave";
  own.figures[0].curves[0].y[0] = 1.23456789;
  keep(desk.path("run"), own);
  std::string remarks;
  const Json document =
      report_document({desk.path("run")}, "today", [&](std::string_view text) { remarks += std::string(text) + "\n"; });
  EXPECT_EQ(document["title"], "run");
  EXPECT_EQ(document["made"], "today");
  const Json& sections = document["runs"][0]["sections"];
  ASSERT_GE(sections.size(), 3u);

  EXPECT_THAT(sections[0]["words"][0], HasSubstr("moves 33 numbers by BAOAB at N T = 1"));
  EXPECT_EQ(sections[0]["folds"][0]["settings"]["seed"], 1);
  EXPECT_EQ(sections[0]["folds"][1]["text"], spiral);

  const Json& loss = sections[1]["figures"][0]["curves"];
  ASSERT_EQ(loss.size(), 2u) << "training and test rows";
  std::stringstream log(desk.read("run/log.jsonl"));
  std::size_t line_number = 0;
  for (std::string text; std::getline(log, text); ++line_number) {
    const Json line = Json::parse(text);
    EXPECT_EQ(loss[0]["x"][line_number], line["step"]);
    for (const int split : {0, 1}) {
      const double exact = line[split ? "test" : "train"]["loss"];
      EXPECT_NEAR(loss[split]["y"][line_number].as<double>(), exact, 1e-5 * exact) << "six digits";
    }
  }
  EXPECT_EQ(line_number, loss[0]["x"].size());

  const Json& last = sections.back();
  EXPECT_EQ(last["title"], "A finding nobody knows");
  EXPECT_LE(last["figures"][0]["curves"][0]["x"].size(), 6000u);
  EXPECT_THAT(last["figures"][0]["caption"], HasSubstr("Thinned"));

  std::set<std::string> names;
  for (const std::string& name : figure_names(document.value())) EXPECT_TRUE(names.insert(name).second) << name;
  EXPECT_TRUE(names.contains("run-zz_own-wave"));
  EXPECT_LT(report_page(document.value()).size(), 2'500'000u);
  std::set<std::string> shown;
  for (const Json& s : sections) shown.insert(s["name"]);
  for (const Analysis& row : analyses())
    if (row.in_report && row.needs != Needs::several && row.in_report(open_samples(desk.path("run")))) {
      EXPECT_TRUE(shown.contains(std::string(row.name))) << row.name << ": " << remarks;
    }
}

TEST(Report, is_made_of_toys_and_of_several_runs) {
  const Desk desk;
  desk.write("toy.toml", toy);
  ASSERT_EQ(desk.kelvin("sample toy.toml -o a -q").code, 0);
  ASSERT_EQ(desk.kelvin("sample toy.toml -o b -q --seed 2").code, 0);
  const Outcome one = desk.kelvin("report a");
  EXPECT_EQ(one.code, 0) << one.error;
  EXPECT_TRUE(fs::exists(desk.path("a/report.html")));
  const Outcome two = desk.kelvin("report a b -o both.html --json");
  EXPECT_EQ(two.code, 0) << two.error;
  const Json made = Json::parse(two.out), document = document_in(desk.read("both.html"));
  EXPECT_EQ(made["report"], "both.html");
  EXPECT_EQ(document["runs"].size(), 2u);
  EXPECT_EQ(document["overview"].size(), 1u);
  EXPECT_EQ(made["figures"].size(), figure_names(document.value()).size());
}

TEST(Report, misuse_is_answered_in_one_sentence_and_leaves_no_file) {
  const Desk desk;
  desk.write("toy.toml", toy);
  ASSERT_EQ(desk.kelvin("sample toy.toml -o a -q").code, 0);
  const auto refused = [&](const std::string& arguments, int code, const std::string& piece, const char* before = "") {
    const Outcome outcome = desk.shell(before, arguments);
    EXPECT_EQ(outcome.code, code) << arguments;
    EXPECT_THAT(outcome.error + (code == 2 ? outcome.out : ""), HasSubstr(piece));
    if (code == 1) {
      EXPECT_EQ(count(outcome.error, "\n"), 1u) << outcome.error;
    }
    EXPECT_FALSE(fs::exists(desk.path("page.html"))) << arguments;
  };
  refused("report nowhere -o page.html", 1, "nowhere");
  refused("report a nowhere -o page.html", 1, "nowhere");
  refused("report -o page.html", 2, "run");
  refused("report a -o page.html --figure loss", 2, "--png");
  refused("report a -o page.html --png pictures", 1, "install the Debian package `chromium`", "PATH=/nowhere ");
  refused("report a -o page.html --open", 1, "install the Debian package `xdg-utils`", "PATH=/nowhere ");
  refused("report a -o missing/page.html", 1, "missing");
  fs::create_directory(desk.path("a/analysis"));
  desk.write("a/analysis/odd.json", "{\"name\": 1}");
  refused("report a -o page.html", 1, "odd.json");
}

}  // namespace kelvin
