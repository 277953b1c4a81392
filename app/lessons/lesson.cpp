#include "app/lessons/lesson.h"

#include "app/commands/options.h"
#include "core/base/refuse.h"

namespace palimpsest {

namespace {

constexpr std::string_view spot_signs[] = {"①", "②"};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

double number_in(std::string_view text, TextPlace at) {
  return naming_place(at, [&] { return parse_number(text, "this"); });
}

WrittenExpression expression_in(std::string_view text, TextPlace at) {
  return {naming_place(at, [&] { return FactExpression(trimmed(text)); }), at};
}

/// Reads the spans of one paragraph or choice.
class SpanReader {
 public:
  SpanReader(std::string_view text, TextPlace at) : text_(text), at_(at) {}

  LessonText all() {
    while (!text_.empty()) {
      if (text_.starts_with("**")) {
        add({.kind = LessonSpan::Kind::strong, .text = between("**")});
        if (spans_.back().text.find('{') != std::string::npos)
          refuse_at(at_, "a number is bold already: leave ** out");
      } else if (text_.front() == '$') {
        add({.kind = LessonSpan::Kind::formula, .text = between("$")});
      } else if (text_.front() == '`') {
        add({.kind = LessonSpan::Kind::code, .text = between("`")});
      } else if (text_.front() == '{') {
        add_number();
      } else if (!add_spot()) {
        words_ += text_.front();
        skip(1);
      }
    }
    add_words();
    return std::move(spans_);
  }

 private:
  void skip(std::size_t bytes) {
    text_.remove_prefix(bytes);
    at_.column += static_cast<int>(bytes);
  }

  void add_words() {
    if (!words_.empty()) spans_.push_back({.text = std::exchange(words_, {})});
  }

  void add(LessonSpan span) {
    add_words();
    spans_.push_back(std::move(span));
  }

  /// What is between here and the next `sign`, and goes past both.
  std::string between(std::string_view sign) {
    const std::size_t end = text_.find(sign, sign.size());
    if (end == std::string_view::npos)
      refuse_at(at_, fmt::format("\"{}\" is not closed in this paragraph", sign));
    const std::string found(text_.substr(sign.size(), end - sign.size()));
    skip(end + sign.size());
    return found;
  }

  bool add_spot() {
    for (std::size_t i = 0; i < std::size(spot_signs); ++i) {
      if (!text_.starts_with(spot_signs[i])) continue;
      add({.kind = LessonSpan::Kind::spot, .spot = static_cast<int>(i) + 1});
      skip(spot_signs[i].size());
      return true;
    }
    return false;
  }

  /// {= EXPRESSION} or {NUMBER = EXPRESSION ± TOLERANCE}.
  void add_number() {
    const TextPlace at = at_;
    const std::size_t end = text_.find('}');
    if (end == std::string_view::npos) refuse_at(at, "\"{\" is not closed in this paragraph");
    const std::string_view inside = text_.substr(1, end - 1);
    const std::size_t equal = inside.find('=');
    if (equal == std::string_view::npos)
      refuse_at(at, "expected {= EXPRESSION} or {NUMBER = EXPRESSION ± TOLERANCE}");
    LessonSpan span{.kind = LessonSpan::Kind::number, .text = std::string(trimmed(inside.substr(0, equal)))};
    std::string_view written = inside.substr(equal + 1);
    constexpr std::string_view about = "±";
    const std::size_t tolerance = written.find(about);
    if ((tolerance == std::string_view::npos) != span.text.empty())
      refuse_at(
          at,
          "a written number needs a tolerance, as in {0.83 = EXPRESSION ± 0.005}; a computed one has none");
    if (!span.text.empty()) {
      number_in(span.text, at);
      span.tolerance = number_in(trimmed(written.substr(tolerance + about.size())), at);
      written = written.substr(0, tolerance);
    }
    span.expression = expression_in(written, {at.line, at.column + static_cast<int>(equal) + 2});
    add(std::move(span));
    skip(end + 1);
  }

  std::string_view text_;
  TextPlace at_;
  std::string words_;
  LessonText spans_;
};

/// Reads a lesson line by line.
class LessonReader {
 public:
  Lesson whole(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      read(take_until(text, '\n'));
    }
    if (!block_.empty()) refuse_at({block_line_, 1}, "this block is not closed: expected a line ```");
    end_paragraph();
    if (lesson_.title.empty()) refuse_at({1, 1}, "expected a title: a line \"# ...\"");
    if (lesson_.minutes <= 0) refuse_at({1, 1}, "expected a block ```lesson with minutes = ...");
    if (lesson_.steps.empty()) refuse_at({line_, 1}, "expected at least one step: a line \"## ...\"");
    return std::move(lesson_);
  }

 private:
  TextPlace here(std::size_t column = 0) const { return {line_, static_cast<int>(column) + 1}; }

  LessonStep& step() {
    if (lesson_.steps.empty()) refuse_at(here(), "expected a step first: a line \"## ...\"");
    return lesson_.steps.back();
  }

  void read(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!block_.empty()) {
      if (trimmed(line) == "```") return end_block();
      if (!trimmed(line).empty()) read_in_block(line);
      return;
    }
    if (line.starts_with("```")) return begin_block(line.substr(3));
    if (line.starts_with("## ")) {
      end_paragraph();
      lesson_.steps.push_back({.title = std::string(trimmed(line.substr(3))), .at = here()});
    } else if (line.starts_with("# ")) {
      if (!lesson_.title.empty()) refuse_at(here(), "a lesson has one title; its steps begin with \"## \"");
      lesson_.title = trimmed(line.substr(2));
    } else if (trimmed(line).empty()) {
      end_paragraph();
    } else {
      add_to_paragraph(line);
    }
  }

  void add_to_paragraph(std::string_view line) {
    const bool is_after = line.starts_with("> ");
    if (!paragraph_.empty() && is_after != is_after_) end_paragraph();
    if (paragraph_.empty()) paragraph_at_ = here(is_after ? 2 : 0);
    is_after_ = is_after;
    if (!paragraph_.empty()) paragraph_ += ' ';
    paragraph_ += trimmed(is_after ? line.substr(2) : line);
  }

  void end_paragraph() {
    if (paragraph_.empty()) return;
    LessonText text = SpanReader(paragraph_, paragraph_at_).all();
    paragraph_.clear();
    (is_after_ ? step().after : step().text).push_back(std::move(text));
  }

  void begin_block(std::string_view kind) {
    end_paragraph();
    block_ = trimmed(kind);
    block_line_ = line_;
    if (block_ == "lesson") return;
    constexpr std::string_view questions[] = {"choose", "number", "mark"};
    const auto question = std::ranges::find(questions, block_);
    if (question == std::end(questions)) {
      if (block_ != "set")
        refuse_at(here(),
                  fmt::format("there is no block \"{}\"; expected lesson, set, choose, number or mark",
                              shown(block_)));
      return;
    }
    if (step().question) refuse_at(here(), "a step asks one question");
    step().question = LessonQuestion{
        .kind = static_cast<LessonQuestion::Kind>(question - std::begin(questions)), .at = here()};
  }

  void end_block() {
    const std::string block = std::exchange(block_, {});
    if (block == "choose" && step().question->choices.size() < 2)
      refuse_at({block_line_, 1}, "expected at least two choices");
    const bool has_truth = block == "choose" || block == "set" || block == "lesson" || step().question->truth;
    if (!has_truth) refuse_at({block_line_, 1}, "expected a line truth = ...");
    if (block == "mark" && (!step().question->table || step().question->cells.empty()))
      refuse_at({block_line_, 1}, "expected lines cells = PATH and of = TABLE");
    if (block == "number" && !(step().question->least < step().question->most))
      refuse_at({block_line_, 1}, "expected from = ... below to = ...");
  }

  void read_in_block(std::string_view line) {
    const bool is_question = line.starts_with("question") && line.find(" | ") == std::string_view::npos;
    if (block_ == "choose" && !is_question) return read_choice(line);
    const std::size_t equal = line.find('=');
    if (equal == std::string_view::npos) refuse_at(here(), "expected NAME = VALUE");
    const std::string key(trimmed(line.substr(0, equal)));
    const std::string value(trimmed(line.substr(equal + 1)));
    const TextPlace at = here(std::min(line.find_first_not_of(' ', equal + 1), line.size()));
    if (value.empty() && block_ != "set") refuse_at(at, "expected a value");
    if (block_ == "lesson") return read_fact(key, value, at);
    if (block_ == "set") return read_setting({key, value, at});
    read_question(key, value, at);
  }

  void read_choice(std::string_view line) {
    const std::size_t bar = line.rfind(" | ");
    if (bar == std::string_view::npos) refuse_at(here(), "expected WORDS | EXPRESSION");
    step().question->choices.push_back({SpanReader(trimmed(line.substr(0, bar)), here()).all(),
                                        expression_in(line.substr(bar + 3), here(bar + 3))});
  }

  void read_fact(const std::string& key, const std::string& value, TextPlace at) {
    if (key == "minutes")
      lesson_.minutes = static_cast<int>(number_in(value, at));
    else if (key == "needs")
      lesson_.needs = value;
    else if (key == "after")
      lesson_.after = value;
    else if (key == "source")
      lesson_.sources.push_back(value);
    else
      refuse_at(at, fmt::format("there is no \"{}\"; expected minutes, needs, after or source", shown(key)));
  }

  void read_setting(LessonSetting setting) {
    if (setting.key == "hide") return step().hidden.push_back(std::move(setting));
    if (setting.key != "point") return step().settings.push_back(std::move(setting));
    if (step().spots.size() == std::size(spot_signs))
      refuse_at(setting.at, "a step points at two parts at most");
    step().spots.push_back(std::move(setting));
  }

  void read_question(const std::string& key, const std::string& value, TextPlace at) {
    LessonQuestion& question = *step().question;
    if (key == "question")
      question.words = value;
    else if (key == "truth")
      question.truth = expression_in(value, at);
    else if (key == "from")
      question.least = number_in(value, at);
    else if (key == "to")
      question.most = number_in(value, at);
    else if (key == "on")
      question.plot = value;
    else if (key == "x")
      question.x = expression_in(value, at);
    else if (key == "cells")
      question.cells = value;
    else if (key == "of")
      question.table = expression_in(value, at);
    else
      refuse_at(at,
                fmt::format("there is no \"{}\" in a question; expected question, truth, from, to, on, x, "
                            "cells or of",
                            shown(key)));
  }

  Lesson lesson_;
  int line_ = 0;
  std::string block_;  // the kind of the block that is open; empty: none
  int block_line_ = 0;
  std::string paragraph_;
  TextPlace paragraph_at_;
  bool is_after_ = false;
};

}  // namespace

void refuse_at(TextPlace at, const std::string& words) {
  refuse("line {}, column {}: {}", at.line, at.column, words);
}

Lesson parse_lesson(const std::string& text) { return LessonReader().whole(text); }

std::vector<const WrittenExpression*> expressions_of(const LessonStep& step) {
  std::vector<const WrittenExpression*> all;
  const auto add_text = [&](const LessonText& text) {
    for (const LessonSpan& span : text)
      if (span.expression) all.push_back(&*span.expression);
  };
  for (const LessonText& text : step.text) add_text(text);
  for (const LessonText& text : step.after) add_text(text);
  if (!step.question) return all;
  for (const LessonQuestion::Choice& choice : step.question->choices) {
    add_text(choice.words);
    all.push_back(&choice.truth);
  }
  for (const auto* const own : {&step.question->truth, &step.question->table, &step.question->x})
    if (*own) all.push_back(&**own);
  return all;
}

std::vector<std::string> views_of(const LessonStep& step) {
  std::set<std::string> all;
  for (const WrittenExpression* each : expressions_of(step))
    all.insert(each->expression.views().begin(), each->expression.views().end());
  return {all.begin(), all.end()};
}

std::string written_number(const LessonSpan& span, const Facts* facts) {
  if (!span.text.empty()) return span.text;
  if (!facts) return "…";
  try {
    const Json value = span.expression->expression.value(facts->views);
    if (value.is_number()) return plain_number(value.get<double>());
    return value.is_string() ? value.get<std::string>() : dumped(value, -1);
  } catch (const InputError& error) {
    return error.what();
  }
}

std::pair<Index, Index> table_size(const LessonQuestion& question, const Json& views) {
  const Json table = question.table->expression.value(views);
  if (!table.is_array() || table.empty() || !table.front().is_array())
    refuse_at(question.table->at, "expected a table");
  return {std::ssize(table), std::ssize(table.front())};
}

std::set<std::pair<Index, Index>> true_cells(const LessonQuestion& question, const Json& views) {
  const auto [rows, columns] = table_size(question, views);
  std::set<std::pair<Index, Index>> cells;
  naming_place(question.truth->at, [&, rows = rows, columns = columns] {
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        if (question.truth->expression.is_true(views, {i, j})) cells.insert({i, j});
      }
    }
  });
  return cells;
}

std::size_t true_choice(const LessonQuestion& question, const Json& views) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < question.choices.size(); ++i) {
    const WrittenExpression& truth = question.choices[i].truth;
    const bool is_true = naming_place(truth.at, [&] { return truth.expression.is_true(views, {}); });
    if (is_true && found)
      refuse_at(truth.at, fmt::format("this choice is true here, and so is choice {}", *found + 1));
    if (is_true) found = i;
  }
  if (!found) refuse_at(question.at, "none of these choices is true here");
  return *found;
}

}  // namespace palimpsest
