// `palimpsest lesson print`: a lesson on paper, a page a step with picture, text and question.

#include <imgui.h>

#include "app/commands/options.h"
#include "app/scene/parts.h"
#include "app/scene/window.h"
#include "app/studio/application.h"
#include "app/widgets/style.h"
#include "app/window/offscreen.h"
#include "app/window/window_commands.h"
#include "core/base/text.h"

namespace palimpsest {

namespace {

constexpr int picture_width = 1280;
constexpr int picture_height = 800;
constexpr int picture_frames = 40;
constexpr float formula_scale = 3;  // pixels of a formula for each on paper

std::string escaped_html(std::string_view text) {
  std::string html;
  for (const char c : text)
    html += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
  return html;
}

std::string as_source(const Image& image) {
  const std::vector<std::byte> png = png_of(image);
  return "data:image/png;base64," + base64({reinterpret_cast<const char*>(png.data()), png.size()});
}

/// Formulas as pictures, each drawn once.
class FormulaPictures {
 public:
  std::string html(const std::string& latex) {
    std::string& known = known_[latex];
    if (known.empty()) known = drawn(latex);
    return known;
  }

 private:
  std::string drawn(const std::string& latex) {
    const Image image = letters_.render([&] {
      style::apply(Theme::light, formula_scale);
      parts().clear();
      ImGui::GetBackgroundDrawList()->AddRectFilled({0, 0}, ImGui::GetIO().DisplaySize, IM_COL32_WHITE);
      ImGui::SetNextWindowPos({0, 0});
      ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
      ImGui::Begin("formula", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground);
      scene::show(scene::row({scene::formula(latex, style::formula_label, IM_COL32_BLACK).named("formula")}));
      ImGui::End();
    });
    const Part* const part = parts().find("formula");
    if (!part) throw Error(fmt::format("the formula {} could not be drawn", latex));
    const auto& [from, to] = part->where;
    const auto pixel = [](float at) { return static_cast<int>(at); };
    const Image cut = cropped(image, pixel(from.x), pixel(from.y), pixel(to.x) + 1, pixel(to.y) + 1);
    return fmt::format(R"(<img class="formula" alt="{}" style="height:{:.1f}px" src="{}">)",
                       escaped_html(latex), static_cast<float>(cut.height) / formula_scale, as_source(cut));
  }

  Offscreen letters_{3000, 400};
  std::map<std::string, std::string> known_;
};

/// A step as it is printed; what needs letters is put in later.
struct PrintedStep {
  std::string picture;
  std::shared_ptr<const Facts> facts;
};

struct Handout {
  Lesson lesson;
  bool has_answers;
  std::vector<PrintedStep> steps = {};
  FormulaPictures formulas = {};

  std::string html(const std::string& file) {
    draw_steps(file);
    std::string pages;
    std::string answers;
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
      pages += page(i);
      if (lesson.steps[i].question) answers += answer(i);
    }
    if (has_answers && !answers.empty())
      pages += fmt::format("<section><h2>Answers</h2>{}</section>\n", answers);
    return fmt::format(R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{0}</title><style>
body {{ font: 15px/1.5 sans-serif; max-width: 960px; margin: 0 auto; color: #222; background: #fff; }}
section {{ break-after: page; padding: 24px 0; }} section:last-child {{ break-after: auto; }}
img.picture {{ width: 100%; border: 1px solid #ccc; }} img.formula {{ vertical-align: middle; }}
li {{ margin: 6px 0; }} .line {{ border-bottom: 1px solid #888; display: inline-block; width: 160px; }}
footer {{ color: #666; font-size: 13px; }}
</style></head><body>
{1}<footer>{2}</footer></body></html>
)",
                       escaped_html(lesson.title), pages, facts_of_lesson());
  }

  void draw_steps(const std::string& file) {
    Offscreen offscreen(picture_width, picture_height);
    Application application;
    application.change_view([](ViewOptions& view) { view.theme = Theme::light; });
    application.show_welcome = false;
    application.on_paper = true;
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
      application.open_lesson(file, i);
      application.session.wait();
      settle(offscreen, application, picture_frames / 2);
      const std::string picture =
          as_source(offscreen.render([&] { application.draw(1); }, picture_frames / 2));
      application.lesson_facts();
      application.session.questions().wait();
      const Known<Facts> facts = application.lesson_facts();
      if (!facts.value)
        refuse("step {} cannot be printed: {}", i + 1, application.session.message() + facts.reason);
      steps.push_back({picture, facts.value});
    }
  }

  std::string text(const LessonSpan& span, const Facts* facts) {
    const std::string words = escaped_html(span.text);
    switch (span.kind) {
      case LessonSpan::Kind::words:
        return words;
      case LessonSpan::Kind::strong:
        return "<b>" + words + "</b>";
      case LessonSpan::Kind::code:
        return "<code>" + words + "</code>";
      case LessonSpan::Kind::formula:
        return formulas.html(span.text);
      case LessonSpan::Kind::spot:
        return fmt::format("({})", span.spot);
      case LessonSpan::Kind::number:
        return "<b>" + escaped_html(written_number(span, facts)) + "</b>";
    }
    return {};
  }

  std::string text(const LessonText& spans, const Facts* facts) {
    std::string html;
    for (const LessonSpan& span : spans) html += text(span, facts);
    return html;
  }

  std::string paragraphs(const std::vector<LessonText>& texts, const Facts* facts) {
    std::string html;
    for (const LessonText& each : texts) html += "<p>" + text(each, facts) + "</p>\n";
    return html;
  }

  std::string page(std::size_t index) {
    const LessonStep& step = lesson.steps[index];
    const Facts* const facts = steps[index].facts.get();
    std::string html =
        fmt::format("<section>{}<h2>{}. {}</h2><img class=\"picture\" alt=\"{}\" src=\"{}\">\n",
                    index == 0 ? "<h1>" + escaped_html(lesson.title) + "</h1>" : "", index + 1,
                    escaped_html(step.title), escaped_html(step.title), steps[index].picture);
    html += paragraphs(step.text, facts);
    if (step.question)
      html += question(*step.question, facts);
    else
      html += paragraphs(step.after, facts);
    return html + "</section>\n";
  }

  std::string question(const LessonQuestion& asked, const Facts* facts) {
    if (asked.kind != LessonQuestion::Kind::choose)
      return fmt::format("<p>{} <span class=\"line\">&nbsp;</span></p>\n", escaped_html(asked.words));
    std::string html = "<ol type=\"A\">";
    for (const LessonQuestion::Choice& choice : asked.choices)
      html += "<li>" + text(choice.words, facts) + "</li>";
    return html + "</ol>\n";
  }

  std::string answer(std::size_t index) {
    const LessonStep& step = lesson.steps[index];
    const Facts* const facts = steps[index].facts.get();
    std::string truth;
    if (facts && step.question->kind == LessonQuestion::Kind::choose)
      truth = std::string(1, static_cast<char>('A' + true_choice(*step.question, facts->views)));
    if (facts && step.question->kind == LessonQuestion::Kind::number)
      truth = plain_number(step.question->truth->expression.number(facts->views));
    if (facts && step.question->kind == LessonQuestion::Kind::mark)
      truth = fmt::format("{} cells", true_cells(*step.question, facts->views).size());
    return fmt::format("<h3>{}. {}: {}</h3>{}", index + 1, escaped_html(step.title), truth,
                       paragraphs(step.after, facts));
  }

  std::string facts_of_lesson() const {
    std::string html = fmt::format("{} minutes.", lesson.minutes);
    if (!lesson.needs.empty()) html += " It needs: " + escaped_html(lesson.needs) + ".";
    for (const std::string& source : lesson.sources) html += "<br>" + escaped_html(source);
    return html;
  }
};

}  // namespace

int print_lesson(const CommandOptions& options) {
  const std::string& file = options["FILE"];
  if (options["--output"].empty()) refuse("lesson print needs --output FILE.html");
  writable_target(options["--output"]);
  Handout handout{read_lesson(file), !options.is_set("--no-answers")};
  write_text(options["--output"], handout.html(file));
  return exit_done;
}

}  // namespace palimpsest
