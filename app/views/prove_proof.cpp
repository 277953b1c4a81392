#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "app/session/counted.h"
#include "app/views/awaited.h"
#include "app/views/form_words.h"
#include "app/views/prove.h"
#include "app/widgets/controls.h"
#include "app/widgets/formula.h"
#include "app/widgets/text.h"

// The centre while nothing is wrong: what is measured, how far every form and precision is, and why.

namespace palimpsest {

namespace {

using style::px;

constexpr float table_width = 460;
constexpr float row_height = 21;
constexpr float high_row = 29;  // where there is room
constexpr float high_table = 360;
constexpr std::size_t least_lost = 2;  // of an arithmetic, where there is little room
constexpr std::size_t most_lost = 6;
constexpr float lost_height = 26;

struct TableRow {
  std::string words;
  Known<Seen> seen;
  double allowed = 0;  // 0: nothing is promised
};

std::vector<TableRow> rows_of(Application& application) {
  const Computation& computed = *application.session.computed();
  std::vector<TableRow> rows;
  auto key = about_proof<ProofLine>(application);
  for (const Form form : forms_of(computed)) {
    key.form = form;
    key.arithmetic = Arithmetic::f64;
    const double allowed =
        tolerance(*computed.variant, computed.sequence.settings, form, Precision::f64).error;
    rows.push_back({fmt::format("{}, f64{}", form_label(form), on_device(computed.choice)),
                    application.session.questions().ask(key, Urgency::later), allowed});
  }
  key.form = proof_form(application);
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::tf32, Arithmetic::bf16, Arithmetic::f16}) {
    key.arithmetic = arithmetic;
    rows.push_back({fmt::format("{}, {}", form_label(key.form), name(arithmetic)),
                    application.session.questions().ask(key, Urgency::later)});
  }
  return rows;
}

Index worst_token(const Seen& seen) {
  if (seen.errors.empty()) return -1;
  return std::ranges::max_element(seen.errors) - seen.errors.begin();
}

void draw_table(const Computation& computed, const std::vector<TableRow>& rows, float width) {
  const style::Palette& c = style::colours();
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float number_at = from.x + width * 0.36F;
  const float place_at = from.x + width * 0.58F;
  const float row_step = px(ImGui::GetWindowHeight() >= px(high_table) ? high_row : row_height);
  const style::Text words_style = row_step > px(row_height) ? style::Text::body : style::Text::caption;
  float y = from.y;
  {
    const style::TextStyle text(style::Text::caption);
    draw_text({number_at, y}, c.dim, shortened("off by", place_at - number_at - px(6)));
    draw_text({place_at, y}, c.dim, shortened("most", from.x + width - place_at));
    y += px(20);
  }
  for (const TableRow& row : rows) {
    const Seen* const seen = row.seen.value.get();
    const style::TextStyle text(words_style);
    draw_text({from.x, y}, c.text, shortened(row.words, number_at - from.x - px(6)));
    std::string number = row.seen.under_way || !seen ? "…" : scientific(seen->worst.error);
    std::string place;
    ImU32 ink = c.text;
    if (seen && !seen->message.empty()) {
      number = "none";
      place = seen->message;
    } else if (seen && !seen->errors.empty()) {
      const bool fits = row.allowed > 0 && seen->worst.error <= row.allowed;
      if (fits) ink = c.good;
      const bool parts = row.allowed > 0 && !fits;
      if (parts) ink = c.alarm;
      place = seen->worst.error == 0     ? (is_cpu(*computed.device) ? "the reference" : "no difference")
              : seen->worst.array == "o" ? "at " + numbered_word(computed, worst_token(*seen))
                                         : fmt::format("in {} at the end", array_words(seen->worst.array));
    }
    {
      const style::TextStyle digits(words_style == style::Text::body ? style::Text::number
                                                                     : style::Text::number_small);
      draw_text({number_at, y}, ink, number);
    }
    draw_text({place_at, y}, c.dim, shortened(place, from.x + width - place_at));
    y += row_step;
  }
  ImGui::Dummy({width, y - from.y});
}

/// "That is the proof", from the numbers.
std::string verdict(const std::vector<TableRow>& rows, const Computation& computed) {
  double worst = 0;
  double allowed = 0;
  int forms = 0;
  for (const TableRow& row : rows) {
    if (row.allowed == 0) continue;
    if (!row.seen.value || row.seen.under_way) return "The forms are being computed and compared …";
    if (!row.seen.value->message.empty()) continue;
    ++forms;
    worst = std::max(worst, row.seen.value->worst.error);
    allowed = std::max(allowed, row.allowed);
  }
  const Matrix<double>& o = computed.reference->expected().o;
  if (!(worst <= allowed) && !is_cpu(*computed.device))
    return fmt::format("{} and the CPU part by {} of the largest number, where {} is allowed.",
                       computed.choice.device, scientific(worst), scientific(allowed));
  if (!(worst <= allowed))
    return fmt::format(
        "They part by {} of the largest number, where {} is usual: these data multiply rounding on the way. "
        "Nothing is wrong in the equations.",
        scientific(worst), scientific(allowed));
  return fmt::format(
      "Nowhere. {} give the same {} outputs{} from {}: the largest difference is {} of the "
      "largest number, {} is allowed. That is the proof.",
      counted(forms, "form", "forms"), o.size(),
      computed.variant->memory.none.empty() ? " and the same memory" : "",
      counted(computed.sequence.tokens, "word", "words"), scientific(worst), scientific(allowed));
}

void say(const std::string& words) {
  prove_map().said.push_back(words);
  style::paragraph(words);
}

/// A caption of what follows.
void head(const char* words) {
  ImGui::Dummy({0, px(6)});
  const style::TextStyle text(style::Text::strong, style::colours().text);
  ImGui::TextUnformatted(words);
}

void draw_lost(const Application& application, const std::vector<TableRow>& rows) {
  std::size_t said = 0;
  std::size_t all = 0;
  const auto has_lost = [](const TableRow& row) {
    return row.seen.value && !row.seen.stale && !row.seen.value->lost.empty();
  };
  const auto arithmetics = static_cast<std::size_t>(std::ranges::count_if(rows, has_lost));
  const auto lines =
      static_cast<std::size_t>(std::max(ImGui::GetContentRegionAvail().y / px(lost_height), 2.0F));
  const std::size_t most =
      std::clamp((lines - 2) / std::max<std::size_t>(arithmetics, 1), least_lost, most_lost);
  for (const TableRow& row : rows) {
    if (!row.seen.value || row.seen.stale) continue;
    const std::vector<LostNumber>& lost = row.seen.value->lost;
    all += lost.size();
    for (std::size_t i = 0; i < std::min(lost.size(), most); ++i) {
      if (said++ == 0) head("Numbers that are lost on the way");
      say(lost_words(application, *row.seen.value, lost[i]));
    }
  }
  if (all > said) style::caption(fmt::format("and {} more", all - said));
}

/// What a number was lost of, as a person calls it: "the memory after", "the gate alpha as it comes in".
std::string lost_tensor_words(const Computation& computed, const Seen& seen, const LostNumber& lost) {
  if (!lost.title.empty()) {
    const std::string title = with_small_letter(lost.title);
    return lost.is_gate ? fmt::format("the gate ({})", title) : title;
  }
  std::string words = lost.tensor;
  const auto& trace = computed.trace(seen.lens.form);
  if (trace) {
    const auto symbol = trace->symbols.find(lost.tensor);
    if (symbol != trace->symbols.end() && !symbol->second.words.empty())
      words = with_small_letter(symbol->second.words);
  }
  return fmt::format("{}{} as it comes in", lost.is_gate ? "the gate " : "",
                     lost.is_gate ? lost.tensor : words);
}

}  // namespace

std::string array_words(const std::string& array) {
  if (array == "o") return "the outputs";
  if (array == "final_state" || array == "final_S") return "the memory";
  constexpr std::string_view final = "final_";
  return array.starts_with(final) ? "the memory's " + array.substr(final.size()) : array;
}

std::string with_small_letter(std::string words) {
  const bool is_word = words.size() > 1 && std::islower(static_cast<unsigned char>(words[1])) != 0;
  if (is_word) words.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(words.front())));
  return words;
}

std::string lost_words(const Application& application, const Seen& seen, const LostNumber& lost) {
  const Computation& computed = *application.session.computed();
  return fmt::format("{}: {} {} at {}; in f64 it is {:.2g}", name(seen.lens.arithmetic),
                     lost_tensor_words(computed, seen, lost), in_words(lost.as),
                     numbered_word(computed, lost.token), lost.expected);
}

void draw_proof(Application& application) {
  const Computation& computed = *application.session.computed();
  const std::vector<TableRow> rows = rows_of(application);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const bool is_wide = room.x > px(900);
  const float left = is_wide ? room.x * 0.5F - px(16) : std::min(room.x * 0.52F, px(table_width));
  ImGui::BeginChild("what is measured", {left, room.y});
  {
    const style::TextStyle text(is_wide ? style::Text::title : style::Text::body);
    say(verdict(rows, computed));
  }
  ImGui::Dummy({0, px(is_wide ? 14 : 4)});
  draw_table(computed, rows, ImGui::GetContentRegionAvail().x);
  ImGui::EndChild();
  ImGui::SetCursorScreenPos({from.x + left + px(24), from.y});
  ImGui::BeginChild("why digits are lost", {room.x - left - px(24), room.y});
  {
    const style::TextStyle text(style::Text::strong, style::colours().text);
    ImGui::TextUnformatted("What is measured");
  }
  formula(R"(\max_v |o_{t,v} - o'_{t,v}|\ /\ \max |o'|)", px(is_wide ? 20 : 16), style::colours().text);
  style::paragraph(
      "at every word t, o' from the f64 recurrence: the badge and verify say the largest of them. A memory "
      "is "
      "measured the same way after the last word.");
  const Known<std::vector<DigitsLost>> digits =
      application.session.questions().ask(about_proof<DigitsHere>(application), Urgency::later);
  head("Why a sum over many words loses digits");
  const bool is_known = digits.value && !digits.stale;
  if (is_known && !digits.value->empty())
    say(in_words(*digits.value));
  else if (is_known)
    say(fmt::format("It is measured up to {} words.", most_tokens_measured));
  else if (digits.reason.empty())
    style::paragraph("being measured: the recurrence is run with rounding errors of known size …");
  else
    style::paragraph(digits.reason);
  draw_lost(application, rows);
  ImGui::EndChild();
}

}  // namespace palimpsest
