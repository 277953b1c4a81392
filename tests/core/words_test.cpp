// What a person reads is in the field's terms and in short sentences, and every term can be looked up.

#include <regex>
#include <sstream>

#include "tests/core/io/files.h"
#include "tests/core/rooms.h"

using namespace palimpsest::testing;

namespace {

using Lines = std::vector<std::string>;

const std::filesystem::path sources_folder = std::filesystem::path(assets_folder()).parent_path();

/// The string literals of a C++ source, those beside each other as one; without names of headers.
Lines literals_of(std::string_view source) {
  Lines all;
  bool is_joined = false;  // nothing but blanks since the last one
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto rest = source.substr(i);
    if (rest.starts_with("//") || rest.starts_with("#include")) {
      i = std::min(source.find('\n', i), source.size());
    } else if (rest.starts_with("R\"(")) {
      i = std::min(source.find(")\"", i), source.size()) + 1;
      is_joined = false;
    } else if (source[i] == '\'' &&
               (i == 0 || std::isalnum(static_cast<unsigned char>(source[i - 1])) == 0)) {
      i += source[i + 1] == '\\' ? 3 : 2;
      is_joined = false;
    } else if (source[i] == '"') {
      std::string words;
      for (++i; i < source.size() && source[i] != '"'; ++i) {
        if (source[i] == '\\') ++i;
        words += source[i] == 'n' && source[i - 1] == '\\' ? ' ' : source[i];
      }
      if (is_joined)
        all.back() += words;
      else
        all.push_back(words);
      is_joined = true;
    } else if (std::isspace(static_cast<unsigned char>(source[i])) == 0) {
      is_joined = false;
    }
  }
  return all;
}

/// A word that is not ours, as a pattern, and what to write in its place.
struct Forbidden {
  const char* pattern;
  const char* better;
};

constexpr Forbidden forbidden[] = {
    {"words?", "token"},
    {"anew", "again"},
    {"upwards", "up"},
    {"hence|thereby", "so"},
    {"stands?|stood", "is"},
    {"lies", "is"},
    {"(now |memory )answers?", "returns"},
    {"asks?|asked", "queries, queried"},
    {"fades?|faded", "decays"},
    {"lengths? of (the|this) (memory|key|error|step)", "norm"},
    {"half is left", "half-life"},
    {"taken? out|takes out", "erases, removes"},
    {"(they|forms) part|parts at", "differ"},
    {"apart", "differ by"},
    {"beyond", "clipped, above"},
    {"wrong on purpose|make it wrong|mistakes?", "fault"},
    {"noticed", "detected"},
    {"harms?|harmed", "interference"},
    {"the miss|misses", "error"},
    {"uphill", "gradient"},
    {"no floor", "unbounded below"},
    {"how far", "how large, how much"},
    {"(is|was) there", "prediction"},
    {"knob", "slider"},
    {"whom?", "which token"},
};

/// Files that may say such words, and why.
const std::map<std::string, std::string> exceptions = {
    {"app/words/stories.cpp", "the level story says “asked”, for newcomers"},
    {"app/views/workspaces.cpp", "what a person may type to find a panel"},
    {"app/session/presets.cpp", "the texts of made-up data"},
    {"app/session/typed_text.cpp", "the texts that the small model can read"},
    {"app/commands/show.cpp", "an option is called --words"},
    {"app/window/window_commands.cpp", "an option is called --in-words"},
    {"app/commands/run.cpp", "an option is called --ask"},
};

/// "NAME: “word” → better, in …" for every one of them in prose: in what has a space.
Lines forbidden_in(const std::string& path, const Lines& prose) {
  Lines found;
  for (const std::string& words : prose) {
    if (words.find(' ') == std::string::npos) continue;
    for (const Forbidden& each : forbidden) {
      const std::regex pattern(
          fmt::format("(^|[^a-zA-Z_/]){}($|[^a-zA-Z_/])", fmt::format("({})", each.pattern)),
          std::regex::icase);
      if (std::regex_search(words, pattern))
        found.push_back(fmt::format("{}: {} → {}, in “{}”", path, each.pattern, each.better, words));
    }
  }
  return found;
}

Lines forbidden_in(const SourceFile& source) { return forbidden_in(source.path, literals_of(source.text)); }

/// What is said in a lesson, line by line: no settings, no expressions, no formulas.
Lines prose_of(const std::string& lesson) {
  static const std::regex computed(R"(\$[^$]*\$|\{[^}]*\})");
  static const std::regex setting(R"((minutes|source|truth|from|to|on|x|cells) = .*)");
  Lines all;
  std::istringstream lines(lesson);
  bool is_set = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) is_set = line == "```set";
    if (is_set || line.starts_with("```") || std::regex_match(line, setting)) continue;
    all.push_back(std::regex_replace(line.substr(0, line.find(" | ")), computed, "{}"));
  }
  return all;
}

/// The sentences of a text that have more than twenty words.
Lines long_sentences(const std::string& words) {
  static const std::regex end(R"([.?!:](\s+|$))");
  Lines found;
  for (std::sregex_token_iterator at(words.begin(), words.end(), end, -1), none; at != none; ++at) {
    std::istringstream stream(at->str());
    const std::vector<std::string> all{std::istream_iterator<std::string>(stream), {}};
    const auto count = std::ranges::count_if(all, [](const std::string& word) {
      return std::ranges::any_of(word, [](unsigned char c) { return std::isalpha(c) != 0 || c == '{'; });
    });
    if (count > 20) found.push_back(at->str());
  }
  return found;
}

std::vector<SourceFile> read_by_people() {
  return sources_below(sources_folder, {"app/words", "app/views", "app/stage", "app/studio", "app/session",
                                        "app/commands", "app/window", "core/steps", "core/variants",
                                        "core/insight", "core/proof", "core/race"});
}

}  // namespace

TEST_CASE("the literals of a source are found, joined and without comments", "[words]") {
  CHECK(literals_of("#include \"a.h\"\n// \"b\"\nf(\"one \"\n  \"two\\nthree\", '\"', \"\");") ==
        Lines{"one two three", ""});
  CHECK(forbidden_in({"x.cpp", "\"It stands.\" \"word\""}).size() == 2);
  CHECK(forbidden_in({"x.cpp", "\"word\", \"a keyword, understands\""}).empty());
  CHECK(long_sentences("One two three. Four?").empty());
  CHECK(long_sentences("a b c d e f g h i j k l m n o p q r s t {}.").size() == 1);
}

TEST_CASE("what people read is in the terms of the field", "[words]") {
  std::set<std::string> paths;
  for (const SourceFile& source : read_by_people()) {
    paths.insert(source.path);
    const Lines found = forbidden_in(source);
    if (!exceptions.contains(source.path))
      CHECK(found == Lines{});
    else if (found.empty())
      WARN(source.path << " needs no exception any more");
  }
  for (const auto& [path, reason] : exceptions) {
    CAPTURE(path, reason);
    CHECK(paths.contains(path));
  }
}

TEST_CASE("no sentence has more than twenty words", "[words]") {
  for (const SourceFile& source : sources_below(sources_folder, {"app/words"})) {
    CAPTURE(source.path);
    for (const std::string& words : literals_of(source.text)) CHECK(long_sentences(words) == Lines{});
  }
}

TEST_CASE("lessons are in the terms of the field", "[words]") {
  CHECK(
      prose_of("# Who\n```set\nrule = asked\n```\nIt is $asked$ {= asked}.\n```choose\nwho | asked\n```\n") ==
      Lines{"# Who", "It is {} {}.", "who"});
  int lessons = 0;
  for (const auto& entry : std::filesystem::directory_iterator(sources_folder / "assets/lessons")) {
    const Lines prose = prose_of(read_file(entry.path()));
    CHECK(forbidden_in(entry.path().filename().string(), prose) == Lines{});
    lessons += prose.empty() ? 0 : 1;
  }
  CHECK(lessons == 20);
}

TEST_CASE("every term of the glossary can be reached: in a text, or as a symbol", "[words]") {
  std::vector<SourceFile> sources = read_by_people();
  const auto glossary = std::ranges::find(sources, "app/words/glossary.cpp", &SourceFile::path);
  REQUIRE(glossary != sources.end());
  static const std::regex entry(R"re(\{"([^"]+)",\s*"[^"]+"(,\s*"[^"]+")?)re");
  std::string texts;
  for (const SourceFile& source : sources) {
    if (source.path == glossary->path) continue;
    for (const std::string& words : literals_of(source.text)) texts += words + '\n';
  }
  std::set<std::string> terms;
  for (std::sregex_iterator at(glossary->text.begin(), glossary->text.end(), entry), none; at != none; ++at) {
    const std::string term = (*at)[1];
    CAPTURE(term);
    CHECK(terms.insert(term).second);
    CHECK(((*at)[2].matched || texts.find(term) != std::string::npos));
  }
  CHECK(terms.size() >= 30);
  CHECK(terms.size() <= 40);
  CHECK(std::ranges::count(literals_of(glossary->text), std::string("token")) == 1);
}
