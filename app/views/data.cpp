#include <cstdlib>

#include "app/views/data_parts.h"

namespace palimpsest {

namespace {

constexpr Index most_segments = 64;  // more heads than this are typed

void choose_head(Session& session, Index head) {
  session.choose([head](Choice& choice) { choice.head = head; });
}

/// A choice of one out of `count`: segments that wrap, or a number to type if there are very many.
Node pick(const std::string& what, Index present, Index count, std::function<void(Index)> choose) {
  if (count > most_segments) {
    Node line = {scene::Input{.text = std::to_string(present),
                              .set =
                                  [choose, count](const std::string& typed) {
                                    const Index wanted = std::strtol(typed.c_str(), nullptr, 10);
                                    choose(std::clamp<Index>(wanted, 0, count - 1));
                                  },
                              .on_enter = true}};
    return scene::row({scene::caption(what), std::move(line).named("number").filling()}).named(what);
  }
  Nodes all;
  for (Index i = 0; i < count; ++i) {
    Node segment = {scene::Button{.words = std::to_string(i),
                                  .look = scene::Button::Look::segment,
                                  .chosen = i == present,
                                  .first = i == 0,
                                  .last = i + 1 == count}};
    all.push_back(std::move(segment).told(fmt::format("{} {} of 0–{}", what, i, count - 1)).on([choose, i] {
      choose(i);
    }));
  }
  return scene::flow(std::move(all), Gap::none).named(what);
}

/// The title of the panel, with the heads beside it if they fit.
Node title_and_heads(Application& application) {
  const Node title = scene::tag("Inputs");
  if (has_head_tables(application.session))
    return scene::column({title, head_tables(application, [&session = application.session](Index head) {
                                   choose_head(session, head);
                                 }).named("heads")});
  const DataSet& data = application.session.data();
  const Index present = application.session.choice().head;
  const Index batch = present / data.heads;
  const Index head = present % data.heads;
  Session& session = application.session;
  const Node heads = pick("head", head, data.heads, [&session, batch, count = data.heads](Index chosen) {
    choose_head(session, batch * count + chosen);
  });
  if (data.batches == 1)
    return data.heads == 1 ? title
                           : scene::first_that_fits(
                                 {scene::row({title, scene::rest(), heads}), scene::column({title, heads})});
  Nodes all = {title, pick("batch", batch, data.batches, [&session, head, count = data.heads](Index chosen) {
                 choose_head(session, chosen * count + head);
               })};
  if (data.heads > 1) all.push_back(heads);
  return scene::column(std::move(all));
}

}  // namespace

void draw_data(Application& application) {
  const Session& session = application.session;
  const Form form = session.choice().form;
  if (session.computed() && has_chunks(form) && session.computed()->form(form).missing.empty())
    return scene::show_panel("##knob", true, [&] { return knob(application); });
  scene::show_panel("##goes in", true, [&] {
    if (!session.computed()) return scene::column({});
    return scene::column({title_and_heads(application),
                          scene::column({adjusting_numbers(application), application.level() == Level::all
                                                                             ? adjusting_options(application)
                                                                             : scene::column({})})
                              .named("data")});
  });
}

}  // namespace palimpsest
