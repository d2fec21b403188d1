// SPDX-License-Identifier: Apache-2.0
#include "kelvin/dynamics/scheme.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "kelvin/core/choice.h"
#include "kelvin/core/tati.h"

namespace kelvin {
namespace {

using enum Kinetic;
constexpr NamedScheme all_schemes[] = {
    // clang-format off
    {"baoab",  "BAOAB",      exact,  after_bath, "vrorv",      "Leimkuhler and Matthews 2013"},
    {"baoa",   "BAOA",       exact,  on_step,    "vror",       "Leimkuhler and Matthews 2013, BAOAB read after its second drift"},
    {"aboba",  "ABOBA",      exact,  after_bath, "rvovr",      "Leimkuhler and Matthews 2013"},
    {"obabo",  "OBABO",      2,      on_step,    "ovrvo vvvr", "Bussi and Parrinello 2007"},
    {"oabao",  "OABAO",      2,      after_bath, "orvro",      "Leimkuhler and Matthews 2013"},
    {"babo",   "BABO",       2,      on_step,    "gla2",       "Bou-Rabee and Owhadi 2010, second order"},
    {"bao",    "BAO",        1,      nowhere,    "gla1",       "Bou-Rabee and Owhadi 2010, first order"},
    {"oba",    "OBA",        1,      nowhere,    "momentum",   "Vlaar 2022; SGD with momentum at temperature 0"},
    {"limit",  "BARAB",      exact,  after_bath, "",           "Leimkuhler and Matthews 2013, high-friction limit"},
    {"ubu",    "UBU",        2,      nowhere,    "",           "Sanz-Serna and Zygalakis 2021; Chada, Leimkuhler, Paulin and Whalley 2023"},
    {"adl",     "BACDEDCAB", 2,      at_thermostat, "bacdedcab", "Vlaar 2022; adaptive Langevin of Jones and Leimkuhler 2011"},
    {"bafefab", "BAFEFAB",   2,      at_thermostat, "",        "Vlaar 2022, C and D in one"},
    {"badodab", "BAEFEAB",   2,      nowhere,    "baefeab",    "Leimkuhler and Shang 2016, whose D and O are E and F here"},
    {"ccadl",   "BAVFEFVAB", 2,      at_thermostat, "",        "Shang, Zhu, Leimkuhler and Storkey 2015, as a palindrome"},
    {"sgld",   "S",          1,      nowhere,    "sgd",        "Welling and Teh 2011"},
    {"heavy_ball", "h",      no_law, nowhere,    "sgd_momentum", "Polyak 1964"},
    {"nesterov", "n",        no_law, nowhere,    "",           "Nesterov 1983; Sutskever, Martens, Dahl and Hinton 2013"},
    {"adam",   "m",          no_law, nowhere,    "",           "Kingma and Ba 2015"},
    {"adamw",  "w",          no_law, nowhere,    "",           "Loshchilov and Hutter 2019"},
    {"rmsprop", "v",         no_law, nowhere,    "",           "Tieleman and Hinton 2012"},
    {"adagrad", "g",         no_law, nowhere,    "",           "Duchi, Hazan and Singer 2011"},
    {"lars",   "l",          no_law, nowhere,    "",           "You, Gitman and Ginsburg 2017"},
    {"lamb",   "k",          no_law, nowhere,    "",           "You et al. 2020"},
    {"barzilai_borwein", "t", no_law, nowhere,   "bbgd",       "Barzilai and Borwein 1988"},
    {"respa",  "B1(B2AB2)10B1", no_law, nowhere, "",           "Tuckerman, Berne and Martyna 1992, no bath"},
    {"respa_langevin", "B1(B2AOAB2)10B1", 2, nowhere, "",      "Vlaar 2022, BAOAB inside"},
    {"verlet", "BAB",        no_law, nowhere,    "leapfrog",   "Verlet 1967, no bath"},
    {"hmc",    "R{(BAB)10}", exact,  nowhere,    "",           "Duane, Kennedy, Pendleton and Roweth 1987"},
    {"mala",   "R{BAB}",     exact,  nowhere,    "",           "Besag 1994"},
    {"nuts",   "RN",         exact,  nowhere,    "",           "Hoffman and Gelman 2014; Betancourt 2017"},
    {"mclmc",  "PTATP",      no_law, nowhere,    "",           "Robnik, De Luca, Silverstein and Seljak 2023, one gradient a step"},
    {"mclmc_2", "PT[0.1931833275037836]AT[0.6136333449924328]AT[0.1931833275037836]P", no_law, nowhere, "", "the same with the splitting of least error, two gradients a step"},
    {"mams",   "P{(TAT)10}", exact,  nowhere,    "",           "Robnik, Cohn-Gordon and Seljak 2025: mclmc with Metropolis"},
    {"samadams", "ZBAOABZ",  no_law, nowhere,    "",           "Leimkuhler, Lohmann and Whalley 2025"},
    {"santa",  "s",          no_law, nowhere,    "",           "Chen, Carlson, Gan, Li and Carin 2016"},
    {"ghmc",   "O{BAB}O",    exact,  on_step,    "",           "Horowitz 1991"},
    // clang-format on
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = char(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool has_word(std::string_view words, std::string_view word) {
  const std::string padded = " " + std::string(words) + " ";
  return !word.empty() && padded.find(" " + std::string(word) + " ") != std::string::npos;
}

const NamedScheme* known(std::string_view text) {
  const std::string name = lower(text);
  for (const NamedScheme& s : all_schemes)
    if (s.name == name || s.text == text || has_word(s.aliases, name)) return &s;
  return nullptr;
}

struct Spelled {
  const Letter* letter;
  double weight = 1;
};

// Reads letters, their weights in [ ], '(' ... ')n' and white space; `at` ends behind what was read.
struct Parser {
  std::string_view text;
  std::span<const Letter> extra;
  std::size_t at = 0;
  std::vector<Repeats> groups = {};  // not inside others

  const Letter& letter(char c) const {
    for (const auto rows : {extra, letters()})
      for (const Letter& l : rows)
        if (l.symbol == c) return l;
    std::string symbols;
    for (const Letter& l : letters()) symbols += (symbols.empty() ? "" : " ") + std::string(1, l.symbol);
    std::vector<std::string> names;
    for (const NamedScheme& s : all_schemes) names.emplace_back(s.name);
    throw Error("no letter '{}' in scheme \"{}\"; known letters: {}; `kelvin list schemes` shows the named ones{}", c,
                text, symbols, suggestion(tati_name(text) ? std::string(text) : lower(text), names));
  }

  int repeats() {
    const std::size_t start = at;
    long n = 0;
    while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) && n < 100000)
      n = 10 * n + text[at++] - '0';
    if (at == start || n < 1 || n >= 100000)
      throw Error("scheme \"{}\": ')' must be followed by how often to repeat, from 1 to 99999, as in (BAB)10", text);
    return int(n);
  }

  double weight() {
    const auto end = text.find(']', at);
    double x = 0;
    const char* last = text.data() + std::min(end, text.size());
    const auto [read, error] = std::from_chars(text.data() + at, last, x);
    if (end == std::string_view::npos || error != std::errc() || read != last || !std::isfinite(x) || x == 0)
      throw Error("scheme \"{}\": behind '[' must stand a letter's weight, a number other than 0, and ']'", text);
    at = end + 1;
    return x;
  }

  std::vector<Spelled> sequence(int depth) {
    std::vector<Spelled> out;
    while (at < text.size()) {
      const char c = text[at++];
      if (c == ' ') continue;
      if (c == ')') {
        if (depth == 0) throw Error("scheme \"{}\": ')' without '('", text);
        return out;
      }
      if (c == '(') {
        if (depth == deepest) throw Error("scheme \"{}\" has more than {} '(' inside each other", text, deepest);
        const auto inner = sequence(depth + 1);
        if (inner.empty()) throw Error("scheme \"{}\": there is nothing to repeat inside ( )", text);
        const int times = repeats();
        if (depth == 0) groups.push_back({out.size(), inner.size(), std::size_t(times)});
        for (int n = times; n > 0 && out.size() <= longest; --n) out.insert(out.end(), inner.begin(), inner.end());
      } else {
        if (std::isdigit(static_cast<unsigned char>(c)))
          throw Error("scheme \"{}\": '{}' stands alone; a number stands behind ')', or 1 or 2 behind B", text, c);
        const bool piece = c == 'B' && at < text.size() && (text[at] == '1' || text[at] == '2');
        out.push_back({&letter(piece ? text[at++] : c)});
        if (at < text.size() && text[at] == '[') ++at, out.back().weight = weight();
      }
      if (out.size() > longest) throw Error("scheme \"{}\" has more than {} letters; repeat less", text, longest);
    }
    if (depth > 0) throw Error("scheme \"{}\": '(' without ')'", text);
    return out;
  }

  static constexpr int deepest = 100;
  static constexpr std::size_t longest = 65535;  // a place in a scheme is a 16-bit part of its noise stream
};

// Inside braces the path must be one that the way back retraces: no noise, and the same letters read backwards.
void check_braces(const Scheme& scheme) {
  const Move* open = nullptr;
  for (const Move& move : scheme.moves) {
    const int brace = move.letter->brace;
    if (brace > 0 && open)
      throw Error("scheme \"{}\": '{{' inside '{{ }}'; close the first before the next", scheme.text);
    if (brace < 0 && !open) throw Error("scheme \"{}\": '}}' without '{{'", scheme.text);
    if (brace > 0) open = &move;
    if (brace < 0) {
      for (const Move *a = open + 1, *b = &move - 1; a <= b; ++a, --b) {
        if (a->letter->normals || b->letter->normals)
          throw Error("scheme \"{}\": '{}' draws noise inside {{ }}, so Metropolis would be wrong; move it outside",
                      scheme.text, (a->letter->normals ? a : b)->letter->symbol);
        if (a->letter->travels || b->letter->travels)
          throw Error("scheme \"{}\": N chooses its own point and needs no {{ }}; write RN", scheme.text);
        if (a->letter->moves_xi || a->letter->memory)
          throw Error("scheme \"{}\": '{}' remembers something inside {{ }} that a return would not undo; move it out",
                      scheme.text, a->letter->symbol);
        if (a->letter != b->letter || a->share != b->share)
          throw Error("scheme \"{}\": the letters inside {{ }} must read the same backwards, as BAB does", scheme.text);
      }
      open = nullptr;
    }
  }
  if (open) throw Error("scheme \"{}\": '{{' without '}}'", scheme.text);
}

// Momenta of unit length are for letters that keep them so, and q follows them.
void check_unit_speed(const Scheme& scheme) {
  if (!scheme.unit_speed) return;
  for (const Move& m : scheme.moves)
    if ((m.letter->moves_p && !m.letter->unit_speed) || (m.letter->moves_q && !m.letter->drifts))
      throw Error("scheme \"{}\": '{}' does not go with T and P, whose p has unit length; use them with A, as in PTATP",
                  scheme.text, m.letter->symbol);
}

// For each letter the number of the look ahead it stands in, 0 outside: its share of the step is counted there.
std::vector<int> looks_of(const std::vector<Spelled>& sequence, std::string_view text) {
  std::vector<int> out;
  int looks = 0;
  bool inside = false;
  for (const auto& [l, weight] : sequence) {
    if (l->look && (l->look > 0) == inside)
      throw Error("scheme \"{}\": {}", text,
                  inside ? "'<' inside '< >'; close the first before the next" : "'>' without '<'");
    if (l->look > 0) inside = true, ++looks;
    out.push_back(inside && !l->look ? looks : 0);
    if (l->look < 0) inside = false;
  }
  if (inside) throw Error("scheme \"{}\": '<' without '>'", text);
  return out;
}

}  // namespace

std::span<const NamedScheme> schemes() { return all_schemes; }

Scheme parse_scheme(std::string_view text, std::span<const Letter> extra_letters) {
  const NamedScheme* row = known(text);
  Scheme scheme;
  scheme.text = row ? row->text : text;
  Parser parser{scheme.text, extra_letters};
  const auto sequence = parser.sequence(0);
  if (sequence.empty())
    throw Error("the scheme is empty; give letters such as \"BAOAB\" or a name from `kelvin list schemes`");
  const std::vector<int> looks = looks_of(sequence, scheme.text);
  std::map<std::pair<const Letter*, int>, std::size_t> occurrences, so_far;
  std::map<std::pair<const Letter*, int>, double> weights;
  for (std::size_t k = 0; k < sequence.size(); ++k) {
    ++occurrences[{sequence[k].letter, looks[k]}];
    weights[{sequence[k].letter, looks[k]}] += sequence[k].weight;
  }
  const Letter* remembers = nullptr;
  for (std::size_t k = 0; k < sequence.size(); ++k) {
    const Letter* l = sequence[k].letter;
    const std::pair key{l, looks[k]};
    if (!(weights[key] > 0))
      throw Error("scheme \"{}\": the weights of '{}' must have a sum above 0, not {}", scheme.text, l->symbol,
                  weights[key]);
    scheme.moves.push_back({l, sequence[k].weight / weights[key], so_far[key]++, occurrences[key]});
    if (l->memory && remembers && remembers != l && !(l->look && remembers->look))
      throw Error("scheme \"{}\": '{}' and '{}' both keep a memory; use one of them in a part", scheme.text,
                  remembers->symbol, l->symbol);
    if (l->memory) remembers = l;
    scheme.memory = std::max(scheme.memory, l->memory);
    scheme.has_momentum |= l->moves_p;
    scheme.adaptive |= l->adaptive;
    scheme.takes_sums |= l->whole;
    scheme.proposes |= l->proposes;
    scheme.travels |= l->travels;
    scheme.unit_speed |= l->unit_speed;
    scheme.own_time |= l->own_time;
  }
  check_braces(scheme);
  check_unit_speed(scheme);
  if (scheme.own_time && scheme.proposes)
    throw Error("scheme \"{}\": Z changes the step on the way, which Metropolis does not undo; leave one out",
                scheme.text);
  for (const Repeats& r : parser.groups)
    if (const std::size_t end = r.first + r.letters * r.times; r.first > 0 && sequence[r.first - 1].letter->brace > 0 &&
                                                               end < sequence.size() && sequence[end].letter->brace < 0)
      scheme.repeats = r;

  const auto last_bath =
      std::find_if(scheme.moves.rbegin(), scheme.moves.rend(), [](const Move& m) { return m.letter->bath(); });
  const Kinetic where = row && row->kinetic != nowhere     ? row->kinetic
                        : last_bath == scheme.moves.rend() ? on_step
                                                           : after_bath;
  const auto thermostat =
      std::find_if(scheme.moves.begin(), scheme.moves.end(), [](const Move& m) { return m.letter->moves_xi; });
  scheme.kinetic_after = where == after_bath      ? std::size_t(scheme.moves.rend() - last_bath)
                         : where == at_thermostat ? std::size_t(thermostat - scheme.moves.begin())
                                                  : scheme.moves.size();
  scheme.kinetic_exact = row && row->kinetic != nowhere;
  return scheme;
}

}  // namespace kelvin
