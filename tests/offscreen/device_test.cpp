// What is drawn where another device computes, is wrong, or is not there.

#include "app/session/computation.h"
#include "app/views/device_departure.h"
#include "app/views/form_words.h"
#include "app/views/prove.h"
#include "tests/catch.h"
#include "tests/offscreen/drawn.h"
#include "tests/offscreen/glyphs.h"
#include "tests/offscreen/plots.h"
#include "tests/other_device.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

void choose(Application& application, const std::string& device, Form form) {
  Choice choice = application.session.choice();
  choice.device = device;
  choice.form = form;
  application.session.choose(std::move(choice));
  application.session.wait();
}

}  // namespace

TEST_CASE("every workspace is drawn on another device, right and wrong, at every size and in both themes") {
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(1920, 1080)}) {
    OtherDevice device;
    Application application(workspaces(), commands(), device.beside_cpu());
    REQUIRE(application.session.open_named("preset:overwrite?T=24&K=6&V=6"));
    application.session.wait();
    Offscreen offscreen(width, height);
    for (const Theme theme : all_themes) {
      application.change_view([&](ViewOptions& view) { view.theme = theme; });
      for (const bool is_wrong : {false, true}) {
        choose(application, "cpu", Form::chunkwise);
        device.trouble.is_wrong = is_wrong;
        choose(application, "cuda", Form::chunkwise);
        for (const Workspace& workspace : application.workspaces()) {
          CAPTURE(width, is_wrong, workspace.id);
          application.enter(workspace.id);
          draw_fully(application, offscreen);
          const bool has_flag =
              is_wrong && std::string_view(workspace.id) == "prove";  // over labels, by design
          if (has_flag) continue;
          for (const std::string& fault : letter_faults()) FAIL_CHECK(fault);
        }
        const Computation& computed = *application.session.computed();
        CHECK(computed.agree == !is_wrong);
        CHECK_THAT(agreement_words(computed),
                   says(is_wrong ? "forms differ from token 3 on cuda" : "4 forms agree on cuda"));
        CHECK_THAT(form_title(Form::chunkwise, computed.choice), says("Chunkwise, C = 8, cuda"));
        application.enter("prove");
        draw_fully(application, offscreen);
        CHECK(flagged_token() == (is_wrong ? wrong_row : -1));
        CHECK(wrong_pictures("solve").empty() == !is_wrong);
        if (!is_wrong) continue;
        const auto departure = ask_device_departure(application, Form::chunkwise);
        REQUIRE(departure.value);
        CHECK_THAT(departure_words(computed, (*departure.value)->tensor.departure),
                   says("cuda parts at token 3, in U"));
        CHECK_FALSE(ask_device_departure(application, Form::parallel).value);
      }
    }
  }
}

TEST_CASE("a device that is not there is grey with its reason, and one that fails is said at the foot") {
  OtherDevice device;
  Application application(workspaces(), commands(), device.beside_cpu());
  REQUIRE(application.session.open_named("preset:overwrite?T=24&K=6&V=6"));
  application.session.wait();
  Offscreen offscreen(1280, 800);
  const Command& command = find_command(application, "device.cuda");
  CHECK(why_not(command, application).empty());
  device.trouble.is_absent = true;
  CHECK(why_not(command, application) == "there is no driver");
  perform(command, application);
  CHECK(application.session.choice().device == "cpu");
  CHECK_THAT(application.refusal, says("there is no driver"));
  device.trouble.is_absent = false;
  perform(command, application);
  application.session.wait();
  draw_fully(application, offscreen);
  device.trouble.is_lost = true;
  application.session.go_to_token(23);
  application.step(Session::Grain::chunk, -1);
  choose(application, "cuda", Form::two_pass);
  draw_fully(application, offscreen);
  CHECK(application.session.choice().device == "cpu");
  CHECK(application.session.sight().record);
  CHECK_THAT(application.session.left_device(), says("the device was lost"));
}

TEST_CASE("where a run takes another kernel than the steps come from, the form and the badge say so") {
  OtherDevice device;
  Application application(workspaces(), commands(), device.beside_cpu());
  REQUIRE(application.session.open_named("preset:overwrite?T=24&K=6&V=6"));
  application.session.wait();
  Offscreen offscreen(1280, 800);
  Choice choice = application.session.choice();
  choice.precision = Precision::f32;
  application.session.choose(choice);
  const auto drawn_letters = [&](const char* where, Form form) {
    choose(application, where, form);
    draw_fully(application, offscreen);
    const std::vector<Glyph> glyphs = drawn_glyphs();
    for (const std::string& fault : letter_faults()) FAIL_CHECK(fault);
    return std::ranges::count_if(glyphs,
                                 [](const Glyph& glyph) { return glyph.window.starts_with("Forms"); });
  };
  const auto says_so = [&](Form form) { return !fused_words(*application.session.computed(), form).empty(); };
  const auto without = drawn_letters("cuda", Form::chunkwise);
  const std::string plain = agreement_explained(*application.session.computed());
  CHECK_FALSE(says_so(Form::chunkwise));
  device.trouble.has_fused = true;
  const auto with = drawn_letters("cuda", Form::chunkwise);
  const Computation& computed = *application.session.computed();
  CHECK(says_so(Form::chunkwise));
  CHECK(agreement_explained(computed) == plain + "\nChunkwise: " + fused_words(computed, Form::chunkwise));
  CHECK(with > without + 20);  // a line of its own
  CHECK_FALSE(says_so(Form::recurrent));
  CHECK_FALSE(says_so(Form::parallel));
  choose(application, "cpu", Form::chunkwise);
  CHECK_FALSE(says_so(Form::chunkwise));
}
