#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/scene/window.h"
#include "app/studio/application.h"
#include "app/studio/workspaces.h"

namespace palimpsest {

namespace {

/// What there is to say, the most urgent first.
struct News {
  enum class Kind { message, notice, refusal, waiting };
  Kind kind = Kind::message;
  std::string words;
  scene::Ink ink = 0;
};

std::optional<News> news(const Application& application) {
  const style::Palette& c = style::colours();
  const Session& session = application.session;
  using Kind = News::Kind;
  if (!session.message().empty() && !application.show_open) {  // the dialog tells it itself
    std::string words = session.message();
    std::ranges::replace(words, '\n', ' ');
    return News{Kind::message, std::move(words), c.alarm};
  }
  if (!session.left_device().empty()) return News{Kind::message, session.left_device(), c.text};
  if (!application.notice.empty()) return News{Kind::notice, application.notice, c.good};
  if (!application.refusal.empty()) return News{Kind::refusal, application.refusal, c.text};
  if (const auto wait = session.waiting()) {
    const std::string far = wait->progress > 0 ? fmt::format(" · {:.0f} %", 100 * wait->progress) : "";
    return News{Kind::waiting, fmt::format("{} · {:.1f} s{}", wait->words, wait->seconds, far), c.text};
  }
  return std::nullopt;
}

void close_message(Session& session) {
  if (session.message().empty()) session.clear_left_device();
  session.clear_message();
}

/// The words, after a cross that closes a message or a turning arc while something is computed.
scene::Node line_of(Session& session, const News& said) {
  scene::Nodes all;
  if (said.kind == News::Kind::message)
    all.push_back(
        scene::icon_button("close message", Icon::close, 20).told("Close this message").on([&session] {
          close_message(session);
        }));
  if (said.kind == News::Kind::waiting)
    all.push_back(scene::mark(scene::Mark::Kind::spinner, style::colours().dim));
  all.push_back(scene::line(said.words, style::Text::caption, said.ink).named("words"));
  if (said.kind == News::Kind::waiting)
    all.push_back(scene::word_button("stop").told("Gives it up; what is seen stays.").on([&session] {
      session.stop();
    }));
  return scene::row(std::move(all));
}

}  // namespace

void draw_status(Application& application) {
  const std::optional<News> said = news(application);
  if (!said) return;
  const scene::Ink frame = said->kind == News::Kind::waiting ? style::colours().edge : said->ink;
  scene::show_note("Status", frame, line_of(application.session, *said));
}

}  // namespace palimpsest
