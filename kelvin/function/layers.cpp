// SPDX-License-Identifier: Apache-2.0
#include "kelvin/function/layers.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>
#include <variant>

#include "kelvin/function/activation.h"

namespace kelvin {

// To add a kind of layer, write layers/NAME.cpp and add its name.
// clang-format off
#define KELVIN_LAYERS(row) \
  row(dense) \
  row(embedding) \
  row(positional) \
  row(sinusoidal) \
  row(class_token) \
  row(patches) \
  row(rnn) \
  row(gru) \
  row(lstm) \
  row(attention) \
  row(feed_forward) \
  row(transformer_block) \
  row(first_step) \
  row(last_step) \
  row(mean_over_steps) \
  row(tied) \
  row(char_lstm) \
  row(transformer) \
  row(vit) \
  row(bert) \
  row(layer_norm) \
  row(conv) \
  row(transposed_conv) \
  row(max_pool) \
  row(average_pool) \
  row(global_pool) \
  row(flatten) \
  row(reshape) \
  row(upsample) \
  row(batch_norm) \
  row(group_norm) \
  row(filter_response_norm) \
  row(dropout) \
  row(residual) \
  row(concatenate) \
  row(lenet) \
  row(resnet) \
  row(wide_resnet) \
  row(vgg) \
  row(autoencoder) \
  row(dcgan_generator) \
  row(dcgan_discriminator) \
  row(activation)
// clang-format on
#define KELVIN_DECLARE_LAYER(name) extern const LayerRow name##_layer_row;
#define KELVIN_LIST_LAYER(name) &name##_layer_row,
KELVIN_LAYERS(KELVIN_DECLARE_LAYER)

std::span<const LayerRow* const> layer_rows() {
  static constexpr const LayerRow* rows[] = {KELVIN_LAYERS(KELVIN_LIST_LAYER)};
  return rows;
}

const LayerRow& layer_named(const std::string& name, const std::string& where) {
  std::vector<std::string> known;
  for (const LayerRow* row : layer_rows()) {
    if (row->name == name) return *row;
    known.emplace_back(row->name);
  }
  for (const Activation& activation : activations()) known.emplace_back(activation.name);
  refuse_row(name, known, "layer", where);
}

namespace {

bool is_activation(const std::string& name) {
  return std::ranges::any_of(activations(), [&](const Activation& a) { return a.name == name; });
}

// A word of a layer's text: a number, or what it says, such as 3x3.
Value word_of(const std::string& word, const std::string& where) {
  double x = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), x);
  if (error == std::errc() && end == word.data() + word.size()) return placed(x, where);
  return placed(word, where);
}

// { dense = 16, bias = 0 }: the first of its numbers stands at its name.
Choice named_by_key(const Value& given) {
  for (const LayerRow* row : layer_rows())
    if (const Value* first = given.find(std::string(row->name)); first && !row->parameters.empty()) {
      Choice out(std::string(row->name), given.entries());
      out.where = given.where;
      out.values.erase(std::string(row->name));
      out.values.emplace(row->parameters.front().name, *first);
      return out;
    }
  std::string key = given.entries().empty() ? "" : given.entries().begin()->first;
  layer_named(key, given.where);
  throw Error("{}: \"{}\" takes no numbers; write \"{}\"", given.where, key, key);
}

void count_blocks(const LayerPlan& plan, std::size_t& count) {
  count += plan.blocks.size();
  for (const auto& branch : plan.branches)
    for (const LayerPlan& inner : branch) count_blocks(inner, count);
}

// The label of a layer, null if it has none, and the layer without it.
std::pair<Value, Value> label_and_layer(const Value& given) {
  if (given.group()) {
    Value::Group rest = given.entries();
    const auto label = rest.extract("label");
    return {label ? label.mapped() : Value(), placed(std::move(rest), given.where)};
  }
  if (!given.text()) return {Value(), given};
  const auto& text = std::get<std::string>(given.is);
  const std::size_t end = std::min(text.find(' '), text.size());
  if (end < 1 || text[end - 1] != ':') return {Value(), given};
  return {placed(text.substr(0, end - 1), given.where), placed(text.substr(end), given.where)};
}

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() || name.empty() ? path + name : path + "." + name;
}

// The entry of a table of labels for a block, which then counts as used.
TorchNames labelled(const LayerPlan& plan, const Block& block, const std::string& path, std::set<std::string>& used) {
  const std::size_t dot = std::min(block.name.rfind('.'), block.name.size());
  const std::string leaf = block.name.substr(dot);
  for (const std::string& key : {block.name, block.name.substr(0, dot)}) {
    const Value* entry = plan.label.find(key);
    if (!entry) continue;
    used.insert(key);
    TorchNames names;
    assign(names, *entry, "label." + key);
    for (std::string& name : names) name = joined(path, name) + (key == block.name ? "" : leaf);
    if (names.empty() || block.shape[0] % names.size() != 0)
      throw Error("layer \"{}\": label.{} lists {} names for a block of {}; give one, or as many as divide {}",
                  plan.numbers.name, key, names.size(), block.shape.text(), block.shape[0]);
    return names;
  }
  return {joined(path, block.torch.empty() ? block.name : block.torch[0][0])};
}

void name_in_torch(LayerPlan& plan, const std::string& path) {
  if (plan.label.text()) {
    const std::string mine = joined(path, plan.label.as<std::string>());
    for (Block& block : plan.blocks)
      block.torch = {{joined(mine, block.torch.empty() ? block.name : block.torch[0][0])}};
    return;
  }
  std::set<std::string> used;
  for (Block& block : plan.blocks) block.torch = {labelled(plan, block, path, used)};
  for (const auto& [key, entry] : plan.label.entries())
    if (!used.contains(key)) {
      std::string known;
      for (const Block& block : plan.blocks) known += (known.empty() ? "" : ", ") + block.name;
      throw Error("{}{}layer \"{}\": its label names \"{}\", but its blocks are {}", entry.where,
                  entry.where.empty() ? "" : ": ", plan.numbers.name, key, known.empty() ? "none" : known);
    }
}

struct Numbering {
  std::uint32_t depth = 0;
  std::uint16_t place = 0;
};

void number(std::vector<LayerPlan>& plans, Numbering& count, const std::string& path) {
  for (LayerPlan& plan : plans) {
    plan.place = count.place++;
    if (!plan.blocks.empty()) ++count.depth;
    name_in_torch(plan, path);
    for (Block& block : plan.blocks) {
      block.name = fmt::format("layer{}.{}", count.depth, block.name);
      block.layer = count.depth;
    }
    if (plan.shares) {
      auto names = std::move(plan.blocks.front().torch);
      plan.blocks.front() = plans[*plan.shares].blocks.front();
      plan.blocks.front().torch = std::move(names);
    }
    const std::string within = plan.label.text() ? joined(path, plan.label.as<std::string>()) : path;
    for (auto& branch : plan.branches) number(branch, count, within);
  }
}

// The last layer of the kind whose block a layer shares.
std::optional<std::size_t> owner_for(const LayerRow& row, const std::vector<LayerPlan>& before) {
  if (row.plan_sharing)
    for (std::size_t k = before.size(); k-- > 0;)
      if (before[k].numbers.name == row.shares) return k;
  return {};
}

}  // namespace

Choice layer_chosen(const Value& labelled_or_not) {
  const Value given = label_and_layer(labelled_or_not).second;
  Choice out;
  if (given.group()) {
    if (given.contains("name")) assign(out, given, "model.layers");
    else out = named_by_key(given);
  } else if (!given.text()) {
    throw Error("{}: a layer is a text such as \"dense 16\", or {{ dense = 16, bias = 0 }}, not {}", given.where,
                given.kind());
  } else {
    const auto& text = std::get<std::string>(given.is);
    std::istringstream words(text);
    words >> out.name;
    out.where = given.where;
    if (!is_activation(out.name)) {
      const auto parameters = layer_named(out.name, out.where).parameters;
      std::size_t place = 0;
      for (std::string word; words >> word;) {
        const bool named = std::ranges::any_of(parameters, [&](const Parameter& p) { return p.name == word; });
        std::string value = word;
        if (named && !(words >> value)) throw Error("layer \"{}\": behind \"{}\" stands no number", text, word);
        if (!named && place == parameters.size())
          throw Error("layer \"{}\" has more numbers than \"{}\" takes ({})", text, out.name, parameters.size());
        out.values[named ? word : std::string(parameters[place++].name)] = word_of(value, given.where);
      }
    } else if (std::string more; words >> more) {
      throw Error("layer \"{}\": the activation \"{}\" takes no numbers", text, out.name);
    }
  }
  if (is_activation(out.name)) out = Choice("activation", {{"of", out.name}});
  return out.completed(layer_named(out.name, out.where).parameters, "layer");
}

std::vector<LayerPlan> plan_layers(const Value& list, const Shape& input, const std::string& prefix) {
  std::vector<Value> items;
  assign(items, list, "layers");
  std::vector<LayerPlan> plans;
  for (const Value& item : items) {
    const Choice choice = layer_chosen(item);
    const LayerRow& row = layer_named(choice.name, choice.where);
    const auto owner = owner_for(row, plans);
    plans.push_back(owner ? row.plan_sharing(choice, output_of(plans, input), plans[*owner])
                          : row.plan(choice, output_of(plans, input)));
    const Value label = label_and_layer(item).first;
    if (!label.null() && !label.text() && !label.group())
      throw Error("{}{}layer \"{}\": its label is a text or a table, not {}", label.where,
                  label.where.empty() ? "" : ": ", choice.name, label.kind());
    plans.back().label = label.null() ? Value(fmt::format("{}{}", prefix, plans.size() - 1)) : label;
    if (owner) {
      if (plans[*owner].shared)
        throw Error("{}{}layer \"{}\" comes twice; one layer can share the weight of \"{}\"", choice.where,
                    choice.where.empty() ? "" : ": ", choice.name, row.shares);
      plans[*owner].shared = true;
      plans.back().shares = owner;
    }
  }
  return plans;
}

std::uint32_t number_layers(std::vector<LayerPlan>& plans) {
  Numbering count;
  number(plans, count, "");
  return count.depth;
}

// Layers inside others stand in lists, wherever those stand.
std::size_t weighted_in(const Value& list) {
  std::vector<Value> items;
  assign(items, list, "layers");
  std::size_t count = 0;
  for (const Value& item : items) {
    const Choice choice = layer_chosen(item);
    const LayerRow& row = layer_named(choice.name, choice.where);
    count += row.weighted;
    if (row.layers) count += weighted_in(row.layers(choice, row.sample.input));
    for (const auto& [key, value] : choice.values)
      if (const auto* inner = std::get_if<Value::List>(&value.is)) {
        if (inner->empty() || !std::holds_alternative<Value::List>(inner->front().is)) count += weighted_in(value);
        else
          for (const Value& branch : *inner) count += weighted_in(branch);
      }
  }
  return count;
}

std::size_t block_count(const LayerPlan& plan) {
  std::size_t count = 0;
  count_blocks(plan, count);
  return count;
}

void add_blocks(const LayerPlan& plan, std::vector<Block>& to) {
  to.insert(to.end(), plan.blocks.begin(), plan.blocks.end());
  for (const auto& branch : plan.branches)
    for (const LayerPlan& inner : branch) add_blocks(inner, to);
}

bool any_layer(const std::vector<LayerPlan>& plans, bool LayerRow::*is) {
  return std::ranges::any_of(plans, [&](const LayerPlan& plan) {
    return layer_named(plan.numbers.name, "").*is ||
           std::ranges::any_of(plan.branches, [&](const auto& branch) { return any_layer(branch, is); });
  });
}

std::size_t whole_number(const Choice& choice, std::string_view parameter, std::size_t least) {
  constexpr double most = 2147483648.0;
  const double x = choice.number(parameter);
  if (!(x >= double(least) && x <= most && x == double(std::size_t(x))))
    throw Error("{}{}layer \"{}\": {} is {}; give a whole number from {} to 2^31", choice.where,
                choice.where.empty() ? "" : ": ", choice.name, parameter, x, least);
  return std::size_t(x);
}

std::array<std::size_t, 2> height_and_width(const Choice& choice, std::string_view parameter, std::size_t least) {
  const auto given = choice.values.find(std::string(parameter));
  if (given == choice.values.end() || !given->second.text()) {
    const std::size_t both = whole_number(choice, parameter, least);
    return {both, both};
  }
  const auto& text = std::get<std::string>(given->second.is);
  std::array<std::size_t, 2> out{};
  const char *at = text.data(), *last = text.data() + text.size();
  for (std::size_t k = 0; k < 2; ++k) {
    const auto [end, error] = std::from_chars(at, last, out[k]);
    const bool right = k == 0 ? end != last && *end == 'x' : end == last;
    constexpr std::size_t most = 65536;
    if (error != std::errc() || !right || out[k] < least || out[k] > most)
      throw Error("{}{}layer \"{}\": {} is \"{}\"; give one whole number from {} on, or two such as \"3x5\"",
                  choice.where, choice.where.empty() ? "" : ": ", choice.name, parameter, text, least);
    at = end + 1;
  }
  return out;
}

}  // namespace kelvin
