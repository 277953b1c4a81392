#include "app/views/data_parts.h"

namespace palimpsest {

namespace {

constexpr Index most_heads = 16;
constexpr Index most_run = 32768;     // tokens of all heads together; half of them are run
constexpr float smallest_table = 38;  // design pixels
constexpr float largest_table = 44;
constexpr float smallest_picture = 104;
constexpr float largest_picture = 196;
constexpr double highest_strength = 2;  // of beta |k|^2: the stability limit

Node square(scene::Picture picture, bool is_present) {
  picture.height = 0;
  picture.outline = is_present ? 0 : scene::edge_ink;
  return {scene::Over{.nodes = {{std::move(picture)}}, .ratio = 1}};
}

std::string words_of(Index index, const HeadAnswers& head) {
  if (!head.reason.empty()) return fmt::format("Head {}: {}", index, head.reason);
  std::string asked;
  for (const AskedWord& word : head.table.words)
    asked += (asked.empty() ? "" : ", ") + quoted_label(word.text, word.token);
  if (asked.empty()) return fmt::format("Head {}: nothing is written yet.", index);
  return fmt::format(
      "Head {}: what its memory returns after half of the tokens. Row: the key of {}; column: the "
      "coefficient of its value. Legibility {:.2f} of 1: the diagonal against the rest.",
      index, asked, head.legibility);
}

/// One head; its table may not be computed yet.
Node table(Index index, const Known<TablesOfHeads>& answer, std::uint64_t version, bool is_present) {
  static const Matrix<double> nothing =
      Matrix<double>::Constant(1, 1, -std::numeric_limits<double>::infinity());
  const auto place = static_cast<std::size_t>(index);
  const HeadAnswers* head =
      answer.value && place < answer.value->heads.size() ? &answer.value->heads[place] : nullptr;
  const bool is_known = head && head->reason.empty();
  scene::Picture picture = {.values = !head      ? nullptr
                                      : is_known ? &head->table.after
                                                 : &nothing,
                            .version = 2 * version + (answer.stale ? 0 : 1),
                            .look = {.dim = answer.stale, .masked = !is_known, .grid = false}};
  const scene::Ink ink = is_present ? 0 : scene::dim_ink;
  Nodes below = {scene::text(std::to_string(index), style::Text::caption, ink)};
  if (is_known) {
    const std::string legible = fmt::format("{:.2f}", head->legibility);
    std::string brief = legible;  // ".56" where "0.56" would run into the number of the head
    if (const std::size_t zero = legible.find("0."); zero < 2) brief.erase(zero, 1);
    below +=
        scene::first_that_fits({scene::number(legible, scene::dim_ink), scene::number(brief, scene::dim_ink)})
            .right()
            .filling();
  }
  return scene::column({square(std::move(picture), is_present), scene::row(std::move(below), Gap::near)},
                       Gap::tight)
      .named(std::to_string(index))
      .told(head ? words_of(index, *head) : std::string())
      .filling_between(smallest_table, largest_table);
}

std::string word(const PreviewedData& preview, Index token) {
  return numbered_label(entry(preview.data->labels, token), token);
}

/// "token 42 “drum”: β‖k‖² = 0.731, α = 0.993", as far as it is known.
std::string bar_words(const PreviewedData& preview, const HeadPreview& head, std::size_t token) {
  std::string words = "token " + word(preview, static_cast<Index>(token));
  if (!head.strength.empty()) words += fmt::format(": β‖k‖² = {:.3f}", head.strength[token]);
  if (!head.kept.empty())
    words += fmt::format("{} α = {:.3f}", head.strength.empty() ? ":" : ",", head.kept[token]);
  return words;
}

Node picture(const PreviewedData& preview, std::size_t index, bool is_present) {
  const HeadPreview& head = preview.heads[index];
  const style::Palette& c = style::colours();
  Nodes all = {
      scene::line(fmt::format("head {}", index), is_present ? style::Text::strong : style::Text::caption,
                  is_present ? 0 : scene::dim_ink),
      square({.values = &head.similarity,
              .version = preview.version,
              .look = {.grid = false},
              .told =
                  [&](Cell cell) {
                    return fmt::format("Keys of token {} and token {}: cosine {:.2f}",
                                       word(preview, cell.row), word(preview, cell.column),
                                       head.similarity(cell.row, cell.column));
                  }},
             is_present)};
  const auto bars = [&](std::vector<double> values, double most, scene::Ink ink) {
    if (values.empty()) return;
    all.push_back(
        {scene::Sparkline{.values = std::move(values),
                          .most = most,
                          .has_bars = true,
                          .ink = ink,
                          .told = [&](std::size_t token) { return bar_words(preview, head, token); }}});
  };
  bars(head.strength, highest_strength, c.strength);
  bars(made_of(head.kept, [](double kept) { return 1 - kept; }), 1, c.gate);
  return scene::column(std::move(all))
      .named(fmt::format("head {}", index))
      .filling_between(smallest_picture, largest_picture);
}

Nodes legends(const PreviewedData& preview) {
  const style::Palette& c = style::colours();
  const bool is_cut = preview.tokens < preview.data->tokens;
  Nodes all = {scene::caption(
      fmt::format("Cosine of the keys of all pairs of tokens{}, −1 to 1. Keys with a large cosine interfere: "
                  "each also returns a part of the other value.",
                  is_cut ? fmt::format(", the first {} of {}", preview.tokens, preview.data->tokens) : ""))};
  const auto add = [&](std::vector<double> HeadPreview::*values, scene::Ink ink, const char* words) {
    const auto has = [&](const HeadPreview& head) { return !(head.*values).empty(); };
    if (std::ranges::any_of(preview.heads, has))
      all += scene::row({scene::mark(Mark::Kind::square, ink), scene::caption(words)}, Gap::small);
  };
  add(&HeadPreview::strength, c.strength, "step size β‖k‖² of each token: full height is 2");
  add(&HeadPreview::kept, c.gate, "decay 1 − α at each token: full height is 1");
  return all;
}

}  // namespace

bool has_head_tables(const Session& session) {
  const DataSet& data = session.data();
  return session.computed() && data.batches == 1 && data.heads > 1 && data.heads <= most_heads &&
         data.heads * data.tokens <= most_run;
}

Node head_tables(Application& application, const std::function<void(Index)>& open) {
  Session& session = application.session;
  const Known<TablesOfHeads> answer = ask(session, HeadTables{.of = session.computed()}, Urgency::later);
  Nodes all;
  for (Index index = 0; index < session.data().heads; ++index) {
    const bool is_present = index == session.choice().head;
    // The callback keeps the tables alive until they are drawn.
    all +=
        table(index, answer, session.computed()->version, is_present).on([open, index, kept = answer.value] {
          open(index);
        });
  }
  return scene::flow(std::move(all), Gap::small);
}

Node head_pictures(const PreviewedData& preview, Index present, const std::function<void(Index)>& open) {
  Nodes heads;
  for (std::size_t i = 0; i < preview.heads.size(); ++i) {
    const auto head = static_cast<Index>(i);
    heads += picture(preview, i, head == present).on([open, head] { open(head); });
  }
  Nodes all = {scene::flow(std::move(heads), Gap::wide)};
  if (const Index count = preview.data->heads * preview.data->batches;
      count > static_cast<Index>(preview.heads.size()))
    all += scene::caption(fmt::format("The first {} of {} heads.", preview.heads.size(), count));
  all += legends(preview);
  return scene::column(std::move(all), Gap::near);
}

}  // namespace palimpsest
