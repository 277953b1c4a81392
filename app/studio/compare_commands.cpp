#include "app/studio/compare_commands.h"

#include <imgui.h>

#include "app/session/compared_sides.h"
#include "app/studio/application.h"

namespace palimpsest {

namespace {

std::string not_here(const Application& application) {
  if (!application.session.computed()) return "nothing is open yet";
  return application.workspace().id == std::string_view("compare") ? "" : "the sides are in Compare";
}

Side side_with_handle(const Application& application) {
  const SessionState& state = application.session.state();
  return compared_sides(state)[handle_side(state)];
}

void move_handle(Application& application, int direction) {
  const SessionState& state = application.session.state();
  Side moved = further_on_rail(side_with_handle(application), direction);
  application.session.change(with_side_as(state, handle_side(state), std::move(moved)), "rail keys");
}

std::string no_way(const Application& application, int direction) {
  if (std::string reason = not_here(application); !reason.empty()) return reason;
  const Side side = side_with_handle(application);
  if (!place_on_rail(side)) return "the side with the handle does not stand on the rail";
  return further_on_rail(side, direction) == side ? "this is the end of the rail" : "";
}

}  // namespace

void add_compare(std::vector<Command>& table) {
  table.push_back({.id = "compare.add",
                   .group = "Compare",
                   .words = "add a side",
                   .key = ImGuiKey_A,
                   .perform =
                       [](Application& a) {
                         const SessionState& state = a.session.state();
                         a.session.change(with_side(state, next_side(state)));
                       },
                   .why_not =
                       [](const Application& a) {
                         if (std::string reason = not_here(a); !reason.empty()) return reason;
                         const bool is_full = compared_sides(a.session.state()).size() == most_sides;
                         return std::string(is_full ? "four sides are compared at most" : "");
                       },
                   .explained = "The nearest rule on the rail that is not shown yet"});
  table.push_back({.id = "compare.remove",
                   .group = "Compare",
                   .words = "take this side out",
                   .key = ImGuiKey_X,
                   .perform =
                       [](Application& a) {
                         const SessionState& state = a.session.state();
                         a.session.change(without_side(state, handle_side(state)));
                       },
                   .why_not =
                       [](const Application& a) {
                         if (std::string reason = not_here(a); !reason.empty()) return reason;
                         return why_it_stays(a.session.state(), handle_side(a.session.state()));
                       },
                   .explained = "The side with the rail's handle"});
  table.push_back({.id = "compare.reference",
                   .group = "Compare",
                   .words = "take differences to this side",
                   .key = ImGuiKey_R,
                   .perform =
                       [](Application& a) {
                         const SessionState& state = a.session.state();
                         a.session.change(with_reference(state, handle_side(state)));
                       },
                   .why_not = not_here,
                   .explained = "The side with the rail's handle becomes the reference"});
  table.push_back({.id = "compare.handle",
                   .group = "Compare",
                   .words = "give the handle to the next side",
                   .perform =
                       [](Application& a) {
                         SessionState next = a.session.state();
                         next.compare.handle = (handle_side(next) + 1) % compared_sides(next).size();
                         a.session.change(std::move(next));
                       },
                   .why_not = not_here});
  for (const int direction : {1, -1}) {
    const bool on = direction > 0;
    table.push_back({.id = on ? "compare.further" : "compare.back",
                     .group = "Compare",
                     .words = on ? "move the handle along the rail" : "move the handle back",
                     .key = on ? ImGuiKey_Period : ImGuiKey_Comma,
                     .perform = [=](Application& a) { move_handle(a, direction); },
                     .why_not = [=](const Application& a) { return no_way(a, direction); },
                     .repeats = true});
  }
}

}  // namespace palimpsest
