#pragma once

#include <deque>

#include "app/session/edits.h"
#include "app/session/fields.h"
#include "core/race/lines.h"

namespace palimpsest {

enum class Theme { dark, light };
constexpr auto names_of(Theme) { return std::array{"dark", "light"}; }

/// How much the program shows: one story, the panels to work with, or everything.
enum class Level { story, work, all };
constexpr auto names_of(Level) { return std::array{"story", "work", "all"}; }

/// How the program looks, apart from what it computes.
struct ViewOptions {
  Theme theme = Theme::dark;
  Level level = Level::all;
  bool shared_scale = true;         // one colour scale per kind of tensor; otherwise one per picture
  bool state_value_by_key = false;  // draw S as value x key, as some papers write it
  bool numbers = true;              // values as text in cells that are large enough
  bool growth = true;               // animate a step's result
  bool costs = false;               // show the costs of the forms, if outputs and costs do not both fit

  static constexpr std::tuple fields = {Field{"theme", &ViewOptions::theme},
                                        Field{"level", &ViewOptions::level},
                                        Field{"shared_scale", &ViewOptions::shared_scale},
                                        Field{"state_value_by_key", &ViewOptions::state_value_by_key},
                                        Field{"numbers", &ViewOptions::numbers},
                                        Field{"growth", &ViewOptions::growth},
                                        Field{"costs", &ViewOptions::costs}};
  bool operator==(const ViewOptions&) const = default;
};

constexpr auto fields_of(std::type_identity<Settings>) {
  return std::tuple{Field{"options", &Settings::options}, Field{"parameters", &Settings::parameters}};
}

constexpr auto fields_of(std::type_identity<RaceShape>) {
  return std::tuple{Field{"batches", &RaceShape::batches, {.least = 1, .most = most_raced_heads}},
                    Field{"heads", &RaceShape::heads, {.least = 1, .most = most_raced_heads}},
                    Field{"dk", &RaceShape::dk, {.least = 1, .most = most_raced_channels}},
                    Field{"dv", &RaceShape::dv, {.least = 1, .most = most_raced_channels}}};
}

/// One way to compute the data; Compare shows several.
struct Side {
  std::string variant = "gated_deltanet";
  Form form = Form::recurrent;
  std::string device = "cpu";
  Precision precision = Precision::f64;
  Index chunk_size = 8;
  Settings settings = {};
  bool with_beta = true;  // a rule without a strength takes that of the first side (compared_sides.h)
  // Sliders that replace the data's (edits.h), by kind; the first side has none.
  std::map<std::string, double, std::less<>> sliders = {};

  static constexpr std::tuple fields = {
      Field{"variant", &Side::variant},       Field{"form", &Side::form},
      Field{"device", &Side::device},         Field{"precision", &Side::precision},
      Field{"chunk_size", &Side::chunk_size}, Field{"", &Side::settings},
      Field{"with_beta", &Side::with_beta},   Field{"sliders", &Side::sliders}};
  auto operator<=>(const Side&) const = default;
};

inline constexpr std::size_t most_sides = 4;

/// A fault that is injected into the equations of one form.
struct InjectedFault {
  std::string id = {};  // core/proof/faults.h; empty: no fault
  Form form = Form::chunkwise;

  static constexpr std::tuple fields = {Field{"fault", &InjectedFault::id},
                                        Field{"form", &InjectedFault::form}};
  auto operator<=>(const InjectedFault&) const = default;
};

/// Everything that determines what is computed for one side; nothing about the view.
struct Choice : Side {
  Index head = 0;  // over batches and heads: batch * heads + head
  Edits edits = {};
  InjectedFault fault = {};

  /// Whether inputs or settings differ from those of the data.
  bool is_changed() const { return !edits.empty() || settings != Settings(); }

  auto operator<=>(const Choice&) const = default;
};

/// The place of the cursor, in terms that remain valid if variant, form or chunk size change.
struct Place {
  Index token = 0;
  std::string operation = {};  // empty: the first
  Index phase = 0;
  Index tile = 0;  // softmax, chunkwise: which tile of keys

  static constexpr std::tuple fields = {Field{"token", &Place::token}, Field{"operation", &Place::operation},
                                        Field{"phase", &Place::phase}, Field{"tile", &Place::tile}};
  bool operator==(const Place&) const = default;
};

/// The largest sharpness of softmax beside a rule: its exp() is still finite.
inline constexpr double most_sharpness = 256;

struct AttentionView {
  bool shares = true;     // shares of each row; else the weights themselves
  bool diagonal = false;  // include the current token
  bool mask = true;       // no token reads later ones
  bool gates = true;      // else every gate is 1
  bool chunks = true;     // outline the chunks of the form
  double sharpness = 0;   // of softmax; 0: the default
  Index channel = 0;      // value channel, if each has its own weights
  Index first_row = 0;    // the visible part, a square
  Index first_column = 0;
  Index rows = 0;  // of the visible part; 0: all

  static constexpr std::tuple fields = {
      Field{"shares", &AttentionView::shares},
      Field{"diagonal", &AttentionView::diagonal},
      Field{"mask", &AttentionView::mask},
      Field{"gates", &AttentionView::gates},
      Field{"chunks", &AttentionView::chunks},
      Field{"sharpness", &AttentionView::sharpness, {.most = most_sharpness}},
      Field{"channel", &AttentionView::channel},
      Field{"first_row", &AttentionView::first_row, {.of_text = true}},
      Field{"first_column", &AttentionView::first_column, {.of_text = true}},
      Field{"rows", &AttentionView::rows, {.of_text = true}}};
  bool operator==(const AttentionView&) const = default;
};

/// The page in the centre of Learn.
enum class LearnPage { step, keys, capacity };
constexpr auto names_of(LearnPage) { return std::array{"step", "keys", "capacity"}; }

/// What a network shows: the token's forward pass, the gradient's backward pass, or the step.
enum class NetworkSide { forward, backward, step };
constexpr auto names_of(NetworkSide) { return std::array{"forward", "backward", "step"}; }

/// What a change of a small language model applies to: the shown head, its layer, or all layers.
enum class TextTarget { head, layer, all };
constexpr auto names_of(TextTarget) { return std::array{"head", "layer", "all"}; }

/// How a typed text is changed.
struct TextView {
  TextTarget target = TextTarget::layer;
  bool tries = false;  // twenty texts at once

  static constexpr std::tuple fields = {Field{"target", &TextView::target}, Field{"tries", &TextView::tries}};
  bool operator==(const TextView&) const = default;
};

struct LearnView {
  LearnPage page = LearnPage::step;
  NetworkSide network = NetworkSide::forward;
  bool solve = true;    // show the solve instead of the step, for a rule that solves for its query
  Index iterate = -1;   // of Newton–Schulz; -1: the last one
  Index channel = -1;   // of the gate; -1: all
  double around = 0.4;  // rotation of the sphere of keys
  double tilt = 0.35;

  static constexpr std::tuple fields = {Field{"page", &LearnView::page},
                                        Field{"network", &LearnView::network},
                                        Field{"solve", &LearnView::solve},
                                        Field{"iterate", &LearnView::iterate, {.least = -1}},
                                        Field{"channel", &LearnView::channel, {.least = -1}},
                                        Field{"around", &LearnView::around, any_number},
                                        Field{"tilt", &LearnView::tilt, any_number}};
  bool operator==(const LearnView&) const = default;
};

/// The baseline of Compare, and how its sides are shown. An index after the last side means the last.
struct CompareView {
  std::size_t reference = 0;  // the baseline
  std::size_t handle = 0;     // the side that the rail's handle moves
  bool before = false;        // the memory before the token's write
  // The sides from left to right, by number: "120" (compared_sides.h). Empty: in the order of the rail.
  std::string columns = {};

  static constexpr std::tuple fields = {
      Field{"reference", &CompareView::reference, {.most = most_sides - 1}},
      Field{"handle", &CompareView::handle, {.held = Held::looks, .most = most_sides - 1}},
      Field{"before", &CompareView::before, {.held = Held::looks}}, Field{"columns", &CompareView::columns}};
  bool operator==(const CompareView&) const = default;
};

/// Which lines Verify draws over the tokens.
enum class ProofLens { forms, precisions, both };
constexpr auto names_of(ProofLens) { return std::array{"forms", "precisions", "both"}; }

/// The fault or fragile form of Verify, and how its effect is shown.
struct VerifyState {
  InjectedFault fault = {};
  ProofLens lens = ProofLens::both;
  std::string fragile = {};  // the shown fragile form (core/proof/faults.h); empty: none
  bool breaks = true;        // on data that break it; else on data that do not
  bool tries_all = false;    // try all faults on long texts too

  static constexpr std::tuple fields = {
      Field{"", &VerifyState::fault}, Field{"lens", &VerifyState::lens, {.held = Held::looks}},
      Field{"fragile", &VerifyState::fragile, {.held = Held::looks}},
      Field{"breaks", &VerifyState::breaks, {.held = Held::looks}},
      Field{"tries_all", &VerifyState::tries_all, {.held = Held::looks, .of_text = true}}};
  bool operator==(const VerifyState&) const = default;
};

/// What Measure races, and which curves it shows, for its own race and for reports.
struct RaceWish {
  std::vector<std::string> variants = {};  // ids; empty: the rule that is open
  bool peer = true;                        // softmax beside them
  std::vector<Form> forms = {};            // empty: all
  std::vector<std::string> devices = {};   // empty: all that there are
  std::vector<Precision> precisions = {Precision::f32};
  std::vector<Index> lengths = {64, 128, 256, 512, 1024, 2048};  // ascending
  RaceShape shape = {};
  Index chunk_size = 64;  // of the race here; reports have their own

  static constexpr std::tuple fields = {
      Field{"variants", &RaceWish::variants},
      Field{"peer", &RaceWish::peer},
      Field{"forms", &RaceWish::forms},
      Field{"devices", &RaceWish::devices},
      Field{"precisions", &RaceWish::precisions},
      Field{"lengths", &RaceWish::lengths},
      Field{"", &RaceWish::shape},
      Field{"chunk", &RaceWish::chunk_size, {.least = 1, .most = most_raced_tokens}}};
  bool operator==(const RaceWish&) const = default;
};

struct MeasureState {
  RaceWish wish = {};
  std::vector<std::string> reports = {};  // opened files, in this order
  std::vector<std::string> away = {};     // names of the shipped reports that are closed
  std::string leading = {};               // the primary report; empty: the default
  bool per_token = false;                 // the time of one token, else of all
  bool whole = false;                     // with transfers and allocations, else computing alone

  static constexpr std::tuple fields = {Field{"", &MeasureState::wish},
                                        Field{"reports", &MeasureState::reports},
                                        Field{"away", &MeasureState::away},
                                        Field{"leading", &MeasureState::leading, {.held = Held::looks}},
                                        Field{"per_token", &MeasureState::per_token, {.held = Held::looks}},
                                        Field{"whole", &MeasureState::whole, {.held = Held::looks}}};
  bool operator==(const MeasureState&) const = default;
};

/// Everything that a person can change, as one value.
struct SessionState {
  std::string data = {};  // "capture:NAME", "preset:NAME?…" or the path of a file; empty: nothing is open
  Edits edits = {};
  Index head = 0;
  std::vector<Side> sides = {Side()};  // one to four; the first is the one that is stepped through
  Place place = {};
  std::vector<Index> words = {};  // tokens that the memory is queried for, ascending; empty: the strongest
  std::vector<Index> repeated =
      {};  // the first and the last token that playing repeats, or one alone; empty: none
  std::string workspace = "step";
  std::string rule = {};  // the text that Write shows (own_rule.h); empty: that of the first side's rule
  ViewOptions view = {};
  TextView text = {};
  LearnView learn = {};
  AttentionView attention = {};
  CompareView compare = {};
  VerifyState verify = {};
  MeasureState measure = {};

  static constexpr std::tuple fields = {
      Field{"data", &SessionState::data, {.of_text = true}},
      Field{"edits", &SessionState::edits},
      Field{"head", &SessionState::head},
      Field{"sides", &SessionState::sides},
      Field{"place", &SessionState::place, {.held = Held::place, .of_text = true}},
      Field{"words", &SessionState::words, {.of_text = true}},
      Field{"repeated", &SessionState::repeated, {.held = Held::place, .of_text = true}},
      Field{"workspace", &SessionState::workspace, {.held = Held::looks}},
      Field{"rule", &SessionState::rule},
      Field{"view", &SessionState::view, {.held = Held::looks}},
      Field{"text", &SessionState::text, {.held = Held::looks}},
      Field{"learn", &SessionState::learn, {.held = Held::looks}},
      Field{"attention", &SessionState::attention, {.held = Held::looks}},
      Field{"compare", &SessionState::compare},
      Field{"verify", &SessionState::verify},
      Field{"measure", &SessionState::measure}};
  bool operator==(const SessionState&) const = default;

  /// The first side, with what all sides share.
  Choice choice() const;
  void set_choice(Choice choice);
};

/// Whether two states are equal except for place, workspace and views.
bool same_but_place(const SessionState& x, const SessionState& y);

/// An entry of the history with the view of the present state.
SessionState with_looks_of(SessionState entry, const SessionState& present);

/// A state without the fields that refer to tokens of its data.
SessionState without_words(SessionState state);

/// `state` with the differences between `from` and `to` applied, except those of the fields that refer to
/// tokens.
SessionState with_changes(SessionState state, const SessionState& from, const SessionState& to);

/// The states so far, for undo and redo. A change of only place, workspace or view is no entry: each entry
/// keeps the last place of the cursor in it.
class History {
 public:
  /// If there are more entries, the oldest are dropped.
  static constexpr std::size_t most_entries = 500;
  /// The same if all entries together hold more edits than this: each entry holds all of its edits.
  static constexpr std::size_t most_edits_held = 20000;

  explicit History(SessionState first = {}) : entries_{std::move(first)} {}

  const SessionState& present() const { return entries_[at_]; }

  /// Stores the present place of the cursor.
  void look_at(const Place& place) { entries_[at_].place = place; }

  /// Adds an entry after the present one and drops the undone ones. Does nothing if only the view differs.
  /// Until end_merge(), an entry with the same merge key as the entry before replaces that one; one without a
  /// key never does.
  void change(SessionState next, std::string_view merge_key = {});

  /// A drag is over: the next change is a separate entry.
  void end_merge() { merge_key_.clear(); }

  bool can_undo() const { return at_ > 0; }
  bool can_redo() const { return at_ + 1 < entries_.size(); }

  /// Moves back or forward by one entry if there is one; returns the present state.
  const SessionState& undo();
  const SessionState& redo();

  /// The present entry failed and `shown` is still open: returns to the nearest entry equal to it and drops
  /// the entries between.
  void fall_back(const SessionState& shown);

 private:
  void erase(std::size_t first, std::size_t end);
  void forget_oldest();

  std::deque<SessionState> entries_;
  std::size_t at_ = 0;
  std::string merge_key_;
};

inline constexpr std::uintmax_t most_session_bytes = std::uintmax_t{1} << 20;

/// A state as the JSON of a session file.
std::string write_state(const SessionState& state);

/// Reads a state from JSON; missing fields have their defaults. Reads files of earlier versions too. A
/// relative path of data starts at `folder`. Throws InputError naming the field and what was expected.
SessionState parse_state(const std::string& text, const std::filesystem::path& folder = {});

/// What a file written by this program contains.
enum class SavedKind { place, pinned_places, race, other };

/// The kind of a JSON text, found by a field that only this kind has.
SavedKind saved_kind(const std::string& text);

/// A state as one short string of letters, digits, - and _, for a command line, a link or the clipboard: the
/// differences from the default as JSON in base64url (RFC 4648).
std::string state_string(const SessionState& state);

/// Reads a state from such a string. Throws InputError.
SessionState parse_state_string(const std::string& text);

}  // namespace palimpsest
