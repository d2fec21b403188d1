// SPDX-License-Identifier: Apache-2.0
// JSON: what is read is written again with the same bytes, and damage is told in a sentence that names the file.
#include "kelvin/io/json.h"

#include <cmath>

#include "kelvin/core/table.h"
#include "tests/files.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

TEST(Json, WhatIsReadIsWrittenAgain) {
  for (const char* text :
       {"null", "true", "-12", "9223372036854775807", "0.1", "1e-300", "1.0", R"("a \"b\" \u0001 \\")", "[]", "{}",
        "[1,2,3]", "[1.0,2.5]", "[1.5,null,-0.0]", "[1.5,2,\"x\"]", "[0.5,[1]]", "[0.5,{}]", "[null,0.5]", "[[],[1.0]]",
        R"({"a":{"b":[true,null]},"c":[0.25,1e+20]})"})
    EXPECT_EQ(to_json(parse_json(text, "test")), text);
}

TEST(Json, KeysAreInOrderAndLinesIndented) {
  const Value value = Value::Group{{"b", Value::List{1, "x"}}, {"a", Value()}};
  EXPECT_EQ(to_json(value), R"({"a":null,"b":[1,"x"]})");
  EXPECT_EQ(to_json(value, 2), "{\n  \"a\": null,\n  \"b\": [\n    1,\n    \"x\"\n  ]\n}");
}

TEST(Json, NumbersThatAreNotFiniteAreNull) {
  EXPECT_EQ(to_json(Value(NAN)), "null");
  EXPECT_EQ(to_json(std::vector<double>{1, INFINITY, NAN}), "[1.0,null,null]");
  const auto back = parse_json("[1.0,null]", "test").as<std::vector<double>>();
  EXPECT_EQ(back[0], 1);
  EXPECT_TRUE(std::isnan(back[1]));
}

TEST(Json, NumbersLieTogether) {
  const Value value = parse_json("[0.5,1.5,2.5]", "test");
  EXPECT_TRUE(std::holds_alternative<Value::Numbers>(value.is));
  EXPECT_EQ(value, (Value::List{0.5, 1.5, 2.5})) << "the same to a reader";
  EXPECT_NE(value, (Value::List{0.5, 1.5, 2.25}));
  EXPECT_NE(value, (Value::List{0.5, 1.5}));
  EXPECT_EQ(parse_json("[0.5,null]", "test"), (Value::List{0.5, Value()}));
  EXPECT_EQ(Value(NAN), Value());
  EXPECT_EQ(Value(1), Value(1.0));
  EXPECT_NE(Value(0), Value());
}

TEST(Json, WholeNumbersTooLargeForAnIntegerAreNumbers) {
  EXPECT_EQ(parse_json("18446744073709551615", "test").as<double>(), 18446744073709551615.0);
  EXPECT_THAT(error_of([] { parse_json("[-1]", "a.json").as<std::vector<std::size_t>>(); }), HasSubstr("at least 0"));
  EXPECT_THAT(error_of([] { parse_json("[1e30]", "a.json").as<std::vector<std::size_t>>(); }),
              HasSubstr("a.json: the value must be a whole number"));
}

TEST(Json, BytesThatAreNoTextDoNotStopWriting) { EXPECT_EQ(to_json("a\xff"), "\"a\xef\xbf\xbd\""); }

TEST(Json, DamageIsNamed) {
  EXPECT_THAT(error_of([] { parse_json("{\n\"a\": 1,\n\"b\": ", "runs/a.json"); }),
              HasSubstr("\"runs/a.json\" is damaged: line 3 is not JSON"));
  for (const char* text : {"", "nul", "{\"a\"}", "[1,]", "1e999", "\"\xff\"", "{} {}"})
    EXPECT_THAT(error_of([&] { parse_json(text, "a.json"); }), HasSubstr("\"a.json\" is damaged")) << text;
  EXPECT_THAT(error_of([] { parse_json(std::string(100'000, '['), "a.json"); }), HasSubstr("more than 500 levels"));
}

TEST(Json, WhatIsMissingOrOfAnotherKindIsNamed) {
  const Value value = parse_json(R"({"a": {"b": "x"}, "none": null})", "a.json");
  EXPECT_EQ(value.at("a").as<std::string>("b"), "x");
  EXPECT_EQ(value.as<double>("none", 2), 2);
  EXPECT_EQ(value.as<double>("other", 3), 3);
  EXPECT_FALSE(value.contains("other"));
  EXPECT_THAT(error_of([&] { value.at("other"); }), HasSubstr("\"a.json\" is damaged: \"other\" is missing"));
  EXPECT_THAT(error_of([&] { value.at("a").as<double>("b"); }), HasSubstr("a.json: b must be a number, not a text"));
  EXPECT_THAT(error_of([&] { value.as<double>("none"); }), HasSubstr("a.json: none must be a number, not nothing"));
}

TEST(Json, TablesKeepTheirKinds) {
  Table table;
  table.row({{"name", "x"}, {"whole", 3u}, {"number", 1.0}, {"truth", true}, {"none", Table::Cell()}});
  EXPECT_EQ(to_json(as_value(table)), R"([{"name":"x","none":null,"number":1.0,"truth":true,"whole":3}])");
  EXPECT_EQ(as_text(table), "name  whole  number  truth  none\nx     3      1       true   -\n");
  for (const auto& [name, here] : table.rows[0]) EXPECT_EQ(cell(as_value(here)), here) << name;
}

}  // namespace
}  // namespace kelvin
