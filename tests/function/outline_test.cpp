// SPDX-License-Identifier: Apache-2.0
// What is said of a network's layers: counts, and the text of a layer.
#include "kelvin/function/outline.h"

#include <gmock/gmock.h>

#include "kelvin/core/toml.h"
#include "kelvin/function/network.h"

namespace kelvin {
namespace {

using testing::HasSubstr;

ModelSettings outlined(const std::string& layers) {
  ModelSettings settings;
  assign(settings.layers, parse_toml("it = " + layers, "test").at("it"), "model.layers");
  return settings;
}

std::size_t sum_of(const Table& table, std::string_view column) {
  double sum = 0;
  for (const Table::Row& row : table.rows)
    for (const auto& [name, cell] : row)
      if (name == column) sum += cell.number().value();
  return std::size_t(sum);
}

TEST(Outline, CountsEveryParameterOfEveryLayerOnce) {
  for (const LayerRow* row : layer_rows()) {
    const Shape& input = row->sample.input;
    const ModelSettings settings = outlined(std::string(row->sample.layers));
    const auto layers = outlined_layers(settings, input);
    const NetworkSize size = size_of(layers);
    EXPECT_EQ(size.parameters + size.statistics, parameter_count(network_blocks(settings, input))) << row->name;
    for (const std::size_t depth : {std::size_t(0), std::size_t(1), every_depth}) {
      const Table table = table_of_layers(layers, depth);
      EXPECT_EQ(sum_of(table, "parameters"), size.parameters) << row->name << " to depth " << depth;
      EXPECT_EQ(sum_of(table, "multiply_adds"), std::size_t(size.multiply_adds)) << row->name << " to depth " << depth;
    }
  }
}

TEST(Outline, CountsProductsOfConvolutionsAndDenseLayers) {
  const auto layers = outlined_layers(outlined("['conv 3 4', 'relu', 'flatten', 'dense 7']"), {2, 5, 6});
  const Table table = table_of_layers(layers);
  ASSERT_EQ(table.rows.size(), 4u);
  const auto cells = [&](std::size_t row) {
    std::vector<std::string> out;
    for (const auto& [name, cell] : table.rows[row]) out.push_back(cell.text());
    return out;
  };
  // 4 kernels of 2 x 3 x 3 at 3 x 4 places; 48 numbers to 7
  EXPECT_THAT(cells(0), testing::ElementsAre("conv 3 4", "layer1", "4 x 3 x 4", "76", "864"));
  EXPECT_THAT(cells(3), testing::ElementsAre("dense 7", "layer2", "7", "343", "336"));
}

TEST(Outline, ANetworkOfSizesIsThatOfItsLayers) {
  const ModelSettings sizes = outlined("[3, 5, 2]");
  const auto layers = outlined_layers(sizes, {3});
  EXPECT_EQ(layers.size(), 3u);
  EXPECT_EQ(layer_text(layers[1].numbers), "relu");
  EXPECT_EQ(size_of(layers).parameters, parameter_count(network_blocks(sizes, {3})));
  EXPECT_EQ(size_of(layers).multiply_adds, 25);
}

TEST(Outline, TheTextOfALayerIsWhatARunFileSays) {
  for (const char* text :
       {"dense 16", "dense 16 bias 0", "conv 3x5 16", "conv 3 16 stride 2 padding same", "relu", "max_pool 2",
        "batch_norm", "batch_norm momentum 0.5", "resnet 18 10 width 16", "transformer_block 1 32", "lstm 8"})
    EXPECT_EQ(layer_text(layer_chosen(Value(text))),
              layer_text(layer_chosen(Value(layer_text(layer_chosen(Value(text)))))))
        << text;
  EXPECT_EQ(layer_text(layer_chosen(Value("conv 3 16 1 same"))), "conv 3 16 padding same");
}

TEST(Outline, BranchesAreIndentedAndNamed) {
  const auto layers = outlined_layers(
      outlined("[{ residual = ['dense 3', 'tanh'], shortcut = ['dense 3 bias 0'] }, { residual = ['dense 3'] }]"), {2});
  const std::string text = as_text(table_of_layers(layers));
  EXPECT_THAT(text, HasSubstr("\nresidual"));
  EXPECT_THAT(text, HasSubstr("\n  layers"));
  EXPECT_THAT(text, HasSubstr("\n    dense 3 "));
  EXPECT_THAT(text, HasSubstr("\n  shortcut"));
  EXPECT_THAT(text, HasSubstr("\n    dense 3 bias 0"));
  EXPECT_THAT(text, HasSubstr("\n  dense 3 ")) << "the only branch of the second needs no line of its own";
}

TEST(Outline, AnArchitectureShowsItsLayersInFewLines) {
  const Shape image{3, 32, 32};
  const std::string text = outline(outlined_layers(outlined("['resnet 56 10']"), image), image);
  EXPECT_THAT(text, HasSubstr("on rows of 3 x 32 x 32"));
  EXPECT_THAT(text, HasSubstr("conv 3 16 padding 1 bias 0"));
  EXPECT_THAT(text, HasSubstr("more lines"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 30);
  EXPECT_THAT(text, testing::Not(testing::EndsWith("\n")));
}

}  // namespace
}  // namespace kelvin
