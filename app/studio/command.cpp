#include "app/studio/command.h"

#include <sstream>

#include "app/scene/node.h"
#include "app/studio/application.h"

namespace palimpsest {

namespace {

/// The small letter of a Latin, Greek or Cyrillic capital; anything else stays.
char32_t small(char32_t letter) {
  const auto in = [&](char32_t first, char32_t last) { return letter >= first && letter <= last; };
  const bool capital =
      in(U'A', U'Z') || (in(U'À', U'Þ') && letter != U'×') || in(U'Α', U'Ω') || in(U'А', U'Я');
  return capital ? letter + 0x20 : letter;
}

/// `text` in small letters. Those beyond the first 2048 code points have none.
std::string lower(const std::string& text) {
  std::string folded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const bool is_pair = (byte(i) & 0xE0U) == 0xC0U && i + 1 < text.size();
    if (is_pair) {
      append_utf8(folded, small((byte(i) & 0x1FU) << 6U | (byte(i + 1) & 0x3FU)));
      ++i;
    } else if (byte(i) < 0x80) {
      append_utf8(folded, small(byte(i)));
    } else {
      folded += text[i];
    }
  }
  return folded;
}

bool is_letter(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= 0x80 || std::isalnum(value) != 0;
}

constexpr int nowhere = 3;

/// The rank of a match: 0 if `text` begins with `word`, 1 if a later word of it does, 2 if it is inside of
/// one, else `nowhere`.
int distance(const std::string& text, const std::string& word) {
  if (text.starts_with(word)) return 0;
  int best = nowhere;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    best = std::min(best, is_letter(text[at - 1]) ? 2 : 1);
  return best;
}

/// Whether a field of text uses the key itself.
bool edits_text(int chord) {
  constexpr ImGuiKey with_control[] = {ImGuiKey_C, ImGuiKey_L,         ImGuiKey_V,         ImGuiKey_Y,
                                       ImGuiKey_Z, ImGuiKey_LeftArrow, ImGuiKey_RightArrow};
  const auto key = static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_);
  return (chord & ImGuiMod_Ctrl) == 0 || is_among(key, with_control);
}

}  // namespace

const Command& find_command(const Application& application, std::string_view id) {
  if (const Command* const found = row_called(application.commands(), id, &Command::id)) return *found;
  throw std::logic_error(fmt::format("there is no command \"{}\"", id));
}

std::string why_not(const Command& command, const Application& application) {
  return command.why_not ? command.why_not(application) : std::string();
}

void perform(const Command& command, Application& application) {
  application.notice.clear();
  application.refusal.clear();
  if (const std::string reason = why_not(command, application); !reason.empty())
    application.refusal = fmt::format("{}: {}", command.words, reason);
  else
    command.perform(application);
}

std::string key_name(int chord) {
  const auto key = static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_);
  std::string name;
  if ((chord & ImGuiMod_Ctrl) != 0) name += "Ctrl+";
  if (key == ImGuiKey_Slash && (chord & ImGuiMod_Shift) != 0) return name + "?";
  if ((chord & ImGuiMod_Shift) != 0) name += "Shift+";
  using KeySign = std::pair<ImGuiKey, const char*>;
  static constexpr KeySign signs[] = {
      {ImGuiKey_None, ""},          {ImGuiKey_LeftArrow, "←"}, {ImGuiKey_RightArrow, "→"},
      {ImGuiKey_UpArrow, "↑"},      {ImGuiKey_DownArrow, "↓"}, {ImGuiKey_LeftBracket, "["},
      {ImGuiKey_RightBracket, "]"}, {ImGuiKey_Equal, "="},     {ImGuiKey_Minus, "-"},
      {ImGuiKey_Comma, ","},        {ImGuiKey_Period, "."},    {ImGuiKey_Escape, "Esc"}};
  const KeySign* const sign = row_called(signs, key, &KeySign::first);
  return name + (sign ? sign->second : ImGui::GetKeyName(key));
}

void handle_keys(Application& application) {
  const ImGuiIO& io = ImGui::GetIO();
  // A list or a card that is open has the keys to itself.
  if (ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup)) return;
  const std::span<const int> answering = application.lesson_keys();
  for (const Command& command : application.commands()) {
    // While a lesson asks, time stands still: the question is about this place.
    const bool is_taken =
        is_among(command.key, answering) || (application.lesson.hides() && command.group == "Time");
    if (command.key == 0 || is_taken || (io.WantTextInput && edits_text(command.key))) continue;
    const ImGuiInputFlags held = command.repeats ? ImGuiInputFlags_Repeat : ImGuiInputFlags_None;
    if (!ImGui::Shortcut(command.key, ImGuiInputFlags_RouteGlobal | held)) continue;
    perform(command, application);
    ImGui::SetNavCursorVisible(false);  // the key was no step from one part to the next
  }
  if (io.WantTextInput) return;
  for (const int key : answering) {
    if (ImGui::Shortcut(key, ImGuiInputFlags_RouteGlobal | ImGuiInputFlags_Repeat))
      application.answer_in_lesson(key);
  }
  // A question mark that the layout types without Shift+/ opens the help as well.
  for (const ImWchar character : io.InputQueueCharacters) {
    if (character == '?' && !ImGui::IsKeyChordPressed(ImGuiMod_Shift | ImGuiKey_Slash))
      application.show_keys = true;
  }
}

scene::Node with_command(Application& application, std::string_view id, scene::Node node) {
  const Command& command = find_command(application, id);
  const std::string reason = why_not(command, application);
  node.enabled = reason.empty();
  node.tip = !reason.empty() ? reason : command.explained.empty() ? command.words : command.explained;
  if (reason.empty()) node.key = key_name(command.key);
  node.act = node.refused = [&application, &command] { perform(command, application); };
  return node;
}

std::vector<std::string> typed_words(std::string_view typed) {
  std::istringstream stream(lower(valid_utf8(typed)));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool has_words(std::string_view text, std::span<const std::string> words) {
  const std::string small_text = lower(valid_utf8(text));
  return std::ranges::all_of(
      words, [&](const std::string& word) { return small_text.find(word) != std::string::npos; });
}

std::vector<const Command*> search(std::initializer_list<std::span<const Command>> tables,
                                   std::string_view typed, std::span<const std::string> recent) {
  const std::vector<std::string> words = typed_words(typed);
  struct Hit {
    int distance;
    std::ptrdiff_t age;
    const Command* command;
  };
  std::vector<Hit> hits;
  for (const std::span<const Command> table : tables) {
    for (const Command& command : table) {
      const std::string text = lower(command.words + ' ' + command.group + ' ' + command.id);
      std::string
          beside;  // made where it is needed: most commands are found by their own words, or not at all
      Hit hit{0, std::ranges::find(recent, command.id) - recent.begin(), &command};
      const bool met = std::ranges::all_of(words, [&](const std::string& word) {
        int how = distance(text, word);
        if (how == nowhere) {
          if (beside.empty()) beside = lower(command.explained + ' ' + command.more);
          how += distance(beside, word);
        }
        hit.distance += how;
        return how < 2 * nowhere;
      });
      if (met) hits.push_back(hit);
    }
  }
  std::ranges::stable_sort(hits, {}, [](const Hit& hit) { return std::tuple(hit.distance, hit.age); });
  return made_of(hits, &Hit::command);
}

}  // namespace palimpsest
