// SPDX-License-Identifier: Apache-2.0
// The record of a run and the lines of its log: what is written is read again, what is optional may be absent, what is
// missing is named.
#include "kelvin/run/record.h"

#include <cmath>

#include "kelvin/core/toml.h"
#include "kelvin/io/json.h"
#include "kelvin/trajectory/samples.h"
#include "tests/files.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

RunRecord small_record() {
  RunRecord record;
  record.kelvin = "0.1";
  record.settings = read_run_settings(parse_toml(
      "model = { toy = { name = 'gaussian', stiffness = [1.0, 2.0] } }\npart.all = { friction = inf }\n", "test"));
  record.blocks = {"q"};
  record.parts = {"all"};
  record.part["all"].scheme = "BAOAB";
  return record;
}

TEST(RunRecord, IsReadAsItWasWritten) {
  RunRecord record = small_record();
  record.part["all"].later = {{.from_step = 10, .scheme = "S"}};
  record.learnt = {{.pace = 0.5, .friction = 1, .step = {{"all", 0.1}}, .metric = "dense", .factor = {{1, 2}}}};
  record.tempering =
      TemperingRecord{.temperature = 1, .mass = 2, .friction = 3, .round_trip_steps = 4, .biases = {{1}}};
  record.finished = true;
  record.final = LogLine();
  const std::string text = to_json(recorded(record), 2);
  EXPECT_EQ(to_json(recorded(parse_record(text, "run.json")), 2), text);
  EXPECT_THAT(text, HasSubstr("\"friction\": \"inf\"")) << "as settings are written";
}

TEST(RunRecord, LeavesOutWhatThereIsNot) {
  const Value value = recorded(small_record());
  for (const char* absent : {"finished", "seconds", "draws", "final", "learnt", "exchange", "tempering", "stopped"})
    EXPECT_FALSE(value.contains(absent)) << absent;
  for (const char* absent : {"damping", "constraint", "later"})
    EXPECT_FALSE(value.at("part").at("all").contains(absent)) << absent;
  EXPECT_EQ(value.at("targets").at("classes").size(), 0u) << "a list of names may be empty";
  EXPECT_FALSE(parse_record(to_json(value), "run.json").has_finished());
}

TEST(RunRecord, WhatIsMissingOrUnknownIsNamed) {
  Value::Group value = recorded(small_record()).entries();
  value["from a later version"] = 1;
  EXPECT_EQ(error_of([&] { parse_record(to_json(value), "run.json"); }), "") << "more than is asked for is no damage";
  value.erase("blocks");
  EXPECT_THAT(error_of([&] { parse_record(to_json(value), "run.json"); }),
              HasSubstr("\"run.json\" is damaged: \"blocks\" is missing"));
  EXPECT_THAT(error_of([] { parse_record("[]", "run.json"); }), HasSubstr("\"run.json\" is damaged"));
  value = recorded(small_record()).entries();
  value["rows"] = "many";
  EXPECT_THAT(error_of([&] { parse_record(to_json(value), "run.json"); }),
              HasSubstr("run.json: rows must be a whole number, not a text"));
  value = recorded(small_record()).entries();
  std::get<Value::Group>(value["settings"].is)["stepz"] = 1;
  EXPECT_THAT(error_of([&] { parse_record(to_json(value), "run.json"); }), HasSubstr("did you mean \"steps\"?"));
}

TEST(LogLine, NumbersThatAreNotFiniteAreNull) {
  LogLine line;
  line.step = 7;
  line.potential = INFINITY;
  line.test = ScoreRecord{.loss = NAN, .accuracy = 0.5, .rmse = {}};
  line.part["all"] = {};
  const std::string text = to_json(recorded(line));
  EXPECT_EQ(
      text,
      R"({"part":{"all":null},"potential":null,"rate":0.0,"seconds":0.0,"step":7,"test":{"accuracy":0.5,"loss":null}})");
  const LogLine back = parse_log_line(text, "log.jsonl");
  EXPECT_EQ(to_json(recorded(back)), text);
  EXPECT_TRUE(std::isnan(back.potential));
  EXPECT_TRUE(back.part.contains("all"));
}

TEST(LogLine, NumbersAreFoundByName) {
  LogLine line;
  line.step = 7;
  line.test = ScoreRecord{.loss = 0.25, .accuracy = {}, .rmse = 2};
  EXPECT_EQ(logged(line, "step"), 7);
  EXPECT_EQ(logged(line, "test.loss"), 0.25);
  EXPECT_EQ(logged(line, "test.rmse"), 2);
  for (const char* absent : {"test.accuracy", "train.loss", "test", "test.", "los"})
    EXPECT_FALSE(logged(line, absent)) << absent;
}

}  // namespace
}  // namespace kelvin
