#include "app/scene/window.h"

#include <TextEditor.h>

#include "app/gl/context_local.h"
#include "app/widgets/style.h"
#include "core/base/text.h"

namespace palimpsest::scene {

namespace {

using Colour = TextEditor::Color;

constexpr int pause = 250;            // milliseconds from the first change until the text is reported
constexpr float line_spacing = 1.3F;  // of the height of a line

// The editor colours letters by kinds of its own, which stand for roles here: one for each, in their order.
constexpr Colour colours_of_roles[] = {Colour::text,
                                       Colour::identifier,
                                       Colour::string,
                                       Colour::preprocessor,
                                       Colour::declaration,
                                       Colour::knownIdentifier,
                                       Colour::matchingBracketError,
                                       Colour::punctuation,
                                       Colour::number};
static_assert(std::size(colours_of_roles) == static_cast<std::size_t>(Role::output) + 1);

TextEditor::Palette palette() {
  const style::Palette& c = style::colours();
  TextEditor::Palette all;
  all.fill(c.text);
  const auto set = [&](Colour what, ImU32 colour) { all[static_cast<std::size_t>(what)] = colour; };
  for (std::size_t i = 0; i < std::size(colours_of_roles); ++i)
    set(colours_of_roles[i], c.role(static_cast<Role>(i)));
  for (const Colour dim : {Colour::keyword, Colour::comment, Colour::lineNumber}) set(dim, c.dim);
  set(Colour::background, c.panel);
  set(Colour::selection, style::with_alpha(c.accent, style::selection_strength));
  set(Colour::whitespace, c.faint);
  for (const Colour bracket : {Colour::matchingBracketBackground, Colour::matchingBracketActive})
    set(bracket, style::with_alpha(c.accent, style::selection_strength));
  return all;
}

bool is_letter(ImWchar letter) { return TextEditor::CodePoint::isWord(letter) || letter == '_'; }

/// What is kept of an editor between frames: its own history, and the text that it was last given or has
/// reported.
struct Kept {
  TextEditor editor = {};
  TextEditor::Language languages[2] = {};  // the same twice: all is coloured again where the other one is set
  TextEditor::AutoCompleteConfig completion = {};
  std::string text = {};
  std::map<std::string, Role, std::less<>> roles = {};
  std::vector<std::string> completions = {};
  std::optional<Theme> theme = {};
  std::optional<TextFlaw> flaw = {};
  bool is_second = false;  // of the languages
  float height = 0;
  bool is_new = true;
  bool has_changed = false;

  Kept() {
    editor.SetShowWhitespacesEnabled(false);
    editor.SetShowScrollbarMiniMapEnabled(false);
    editor.SetCompletePairedGlyphs(false);
    editor.SetAutoIndentEnabled(false);
    editor.SetWordWrapEnabled(true);
    editor.SetLineSpacing(line_spacing);
    editor.SetChangeCallback([this] { has_changed = true; }, pause);
    for (TextEditor::Language& language : languages) {
      language.name = "rule";
      language.singleLineComment = "#";
      language.customTokenizer = [this](TextEditor::Iterator start, TextEditor::Iterator end,
                                        Colour& colour) { return word(start, end, colour); };
    }
    completion.callback = [this](TextEditor::AutoCompleteState& state) {
      state.suggestions.clear();
      for (const std::string& name : completions)
        if (name.starts_with(state.searchTerm) && name != state.searchTerm) state.suggestions.push_back(name);
    };
    editor.SetAutoCompleteConfig(&completion);
  }

  /// Colours the word that begins at `start`, if one does.
  TextEditor::Iterator word(TextEditor::Iterator start, TextEditor::Iterator end, Colour& colour) const {
    std::string name;
    TextEditor::Iterator i = start;
    for (; i < end && is_letter(*i); ++i) {
      char bytes[4];
      name.append(bytes, TextEditor::CodePoint::write(bytes, *i));
    }
    colour = Colour::text;
    if (const auto role = roles.find(name); role != roles.end())
      colour = colours_of_roles[static_cast<std::size_t>(role->second)];
    return i;
  }

  /// Shows `text` instead of what is there; Ctrl+Z in the editor brings that back.
  void replace_text() {
    if (is_new)
      editor.SetText(text);
    else
      editor.ReplaceSectionText({0, 0}, {editor.GetLineCount(), 0}, text);
    has_changed = false;
  }

  void mark(const std::optional<TextFlaw>& wrong) {
    editor.ClearSquiggles();
    flaw = wrong;
    if (!wrong) return;
    const auto line = static_cast<std::size_t>(std::max<std::ptrdiff_t>(wrong->line - 1, 0));
    const std::size_t length = letter_count(editor.GetLineText(line));
    const auto begin = std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(wrong->column - 1, 0)),
                                length > 0 ? length - 1 : 0);
    const std::string rest = editor.GetSectionText({line, begin}, {line, length});
    const std::size_t word = letter_count(rest.substr(0, rest.find_first_of(" \t*+-()", 1)));
    editor.AddSquiggle({line, begin}, {line, begin + word}, 0, style::colours().alarm, wrong->words);
  }
};

}  // namespace

std::optional<std::string> edit(const Editor& editor, const std::string& label, const Rectangle& where) {
  auto& kept = context_local<std::map<std::string, std::unique_ptr<Kept>>, Kept>()[label];
  if (!kept) kept = std::make_unique<Kept>();
  TextEditor& shown = kept->editor;
  if (kept->is_new || kept->text != editor.text) {
    kept->text = editor.text;
    kept->replace_text();
  }
  if (kept->is_new || kept->roles != editor.roles) {
    kept->roles = editor.roles;
    kept->is_second = !kept->is_second;
    shown.SetLanguage(&kept->languages[kept->is_second ? 1 : 0]);
  }
  kept->completions = editor.completions;
  if (kept->theme != style::theme()) {
    kept->theme = style::theme();
    shown.SetPalette(palette());
  }
  if (kept->is_new || kept->flaw != editor.flaw) kept->mark(editor.flaw);
  kept->is_new = false;
  if (std::exchange(kept->height, where.size().y) != where.size().y && !shown.AnyCursorHasSelection())
    shown.SetCursor(shown.GetMainCursorPosition());  // scrolls there
  ImGui::SetCursorScreenPos(where.minimum);
  {
    const style::TextStyle letters(style::Text::number);
    shown.Render(label.c_str(), where.size());
  }
  if (!std::exchange(kept->has_changed, false)) return std::nullopt;
  std::string text = shown.GetText();
  if (text == kept->text) return std::nullopt;
  kept->text = text;
  kept->mark({});  // until the new text is judged
  return text;
}

}  // namespace palimpsest::scene
