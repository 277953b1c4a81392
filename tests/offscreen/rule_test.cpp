// The workspace Write: what the user sees of a text and of the rule that it makes.

#include "app/session/own_rule.h"
#include "app/window/opening.h"
#include "app/words/forms.h"
#include "core/io/file.h"
#include "tests/offscreen/drawn.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

void write(ShownProgram& shown, const std::string& text) {
  shown.session.change([&](SessionState& state) { write_rule(state, text); });
  shown.draw();
}

}  // namespace

TEST_CASE("Write shows what a text does, which forms it has and that they agree with it", "[write]") {
  ShownProgram shown("write");
  for (const Size& size : usual_sizes) {
    CAPTURE(size.width);
    shown.draw(size);
    write(shown,
          "inputs alpha: gate per token; beta: strength per token\nS' = alpha * S\nr = S'^T k\n"
          "S = S' + beta * k (v - r)^T\no = S^T q\n");
    CHECK_THAT(words_at("write/found/facts"), says("decay"));
    CHECK_THAT(words_at("write/found/nearest"), says("Gated DeltaNet"));
    for (const Form form : all_forms)
      CHECK_THAT(words_at(fmt::format("write/found/{}", name(form))), says("10⁻¹"));
    CHECK_FALSE(parts().find("write/rule/flaw"));
    CHECK(parts().find("write/rule/typeset/lines"));
    write(shown, "S = gelu(S) + k v^T\no = S^T q");
    CHECK_THAT(words_at("write/found/facts"), says("line 1"));
    CHECK_THAT(words_at("write/found/chunkwise"), says("gelu"));
    CHECK_FALSE(parts().find("write/found/nearest"));
    write(shown, "inputs beta: strength per token\nS = S + beta * k (v - S^T k)^T\no = S^T k");
    CHECK_THAT(words_at("write/found/nearest"), says("Nearest: DeltaNet. Its read: with q"));
    write(shown, "S = 1e200 * S + k v^T\no = S^T q");
    CHECK(agreement_words(*shown.session.computed()) == "the text overflows");
    CHECK(shown.session.computed()->agree);
  }
}

TEST_CASE("a rule in a file opens on the first text", "[write]") {
  const auto file = std::filesystem::temp_directory_path() / "palimpsest first.rule";
  write_text(file, "S = S + k v^T\no = S^T q\n");
  Application application;
  prepare(application, {{{"FILE", file.string()}}});
  std::filesystem::remove(file);
  CHECK(std::string_view(application.workspace().id) == "write");
  CHECK(application.session.data().read);
  CHECK(application.session.computed()->variant->id == written_id("S = S + k v^T\no = S^T q\n"));
}

TEST_CASE("what is wrong with a text stands below it, and the last rule stays", "[write]") {
  ShownProgram shown("write");
  shown.draw();
  write(shown, "S = S + k v^T\no = S^T q");
  const std::string right = shown.session.choice().variant;
  write(shown, "S = S + k v^T\no = S^T k2");
  CHECK_THAT(words_at("write/rule/flaw"), says("line 2"));
  CHECK(shown.session.choice().variant == right);
  CHECK_THAT(words_at("write/found/nearest"), says("Linear"));
  // Another rule is computed: the text offers itself.
  write(shown, "S = S + k v^T\no = S^T q");
  CHECK_FALSE(parts().find("write/rule/use"));
  shown.choose("gla");
  shown.draw();
  CHECK_THAT(words_at("write/found"), says("GLA"));
  shown.draw_clicked("write/rule/use");
  CHECK(shown.session.choice().variant == right);
}
