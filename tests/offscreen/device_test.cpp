// What is drawn where another device computes, is wrong, or is not there.

#include "app/session/computation.h"
#include "app/views/verify.h"
#include "app/words/forms.h"
#include "tests/offscreen/drawn.h"
#include "tests/offscreen/glyphs.h"
#include "tests/other_device.h"

using namespace palimpsest;
using namespace palimpsest::testing;

namespace {

/// The program beside a small text, on a machine that has another device too.
struct OnTwoDevices : ShownProgram {
  explicit OnTwoDevices(OtherDevice& device, const Size& size = usual_sizes[0])
      : ShownProgram("step", "preset:overwrite?T=24&K=6&V=6", size, device.beside_cpu()) {}

  void compute_on(const std::string& device, Form form) {
    choose([&](Choice& choice) {
      choice.device = device;
      choice.form = form;
    });
  }
};

}  // namespace

TEST_CASE("every workspace is drawn on another device, right and wrong, at every size and in both themes") {
  for (const Size& size : usual_sizes) {
    OtherDevice device;
    OnTwoDevices shown(device, size);
    for (const Theme theme : all_of<Theme>) {
      shown.set_theme(theme);
      for (const bool is_wrong : {false, true}) {
        shown.compute_on("cpu", Form::chunkwise);
        device.trouble.is_wrong = is_wrong;
        shown.compute_on("cuda", Form::chunkwise);
        for (const Workspace& workspace : shown.application.workspaces()) {
          CAPTURE(size.width, is_wrong, workspace.id);
          shown.draw_in(workspace.id);
          const bool has_flag =
              is_wrong && std::string_view(workspace.id) == "verify";  // over labels, by design
          if (has_flag) continue;
          for (const std::string& fault : letter_faults()) FAIL_CHECK(fault);
        }
        const Computation& computed = *shown.session.computed();
        CHECK(computed.agree == !is_wrong);
        CHECK_THAT(agreement_words(computed),
                   says(is_wrong ? "forms differ on cuda from token 4 on" : "4 forms agree on cuda"));
        CHECK_THAT(form_title(Form::chunkwise, computed.choice), says("Chunkwise, C = 8, cuda"));
        shown.draw_in("verify");
        CHECK(flagged_token() == (is_wrong ? wrong_row : -1));
        CHECK(wrong_pictures("solve").size() == (is_wrong ? 3U : 0U));
        if (!is_wrong) continue;
        const auto departure = ask_device_departure(shown.application, Form::chunkwise);
        REQUIRE(departure.value);
        CHECK_THAT(departure_words(computed, (*departure.value)->tensor.departure),
                   says("cuda differs from token 4 on, in U"));
        CHECK_FALSE(ask_device_departure(shown.application, Form::parallel).value);
      }
    }
  }
}

TEST_CASE("the search for the step in which a device parts can be stopped") {
  OtherDevice device;
  OnTwoDevices shown(device);
  device.trouble.is_wrong = true;
  shown.session.choose([](Choice& choice) { choice.precision = Precision::f32; });
  shown.session.go_to_token(23);  // so that no record of the first chunk, where the device parts, is kept
  shown.compute_on("cuda", Form::chunkwise);
  shown.session.wait_for_place();
  shown.application.enter("verify");
  device.trouble.hangs = true;
  shown.pass();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));  // it is noticed then
  shown.pass(2);
  CHECK(parts().find("verify/where/stop"));
  shown.click(place_of("verify/where/stop"));
  shown.pass();
  CHECK_FALSE(parts().find("verify/where/stop"));
  CHECK(ask_device_departure(shown.application, Form::chunkwise).reason == was_stopped);
  device.trouble.hangs = false;
}

TEST_CASE("a device that is not there is grey with its reason, and one that fails is said at the foot") {
  OtherDevice device;
  OnTwoDevices shown(device);
  const Command& command = find_command(shown.application, "device.cuda");
  CHECK(why_not(command, shown.application).empty());
  device.trouble.is_absent = true;
  CHECK(why_not(command, shown.application) == "there is no driver");
  perform(command, shown.application);
  CHECK(shown.session.choice().device == "cpu");
  CHECK_THAT(shown.application.refusal, says("there is no driver"));
  CHECK_FALSE(shown.session.can_undo());
  device.trouble.is_absent = false;
  perform(command, shown.application);
  shown.session.wait();
  shown.draw();
  device.trouble.is_lost = true;
  shown.session.go_to_token(23);  // so that no record of the first chunk, where the device parts, is kept
  shown.application.step(Session::Grain::chunk, -1);
  shown.compute_on("cuda", Form::two_pass);
  shown.draw();
  CHECK(shown.session.choice().device == "cpu");
  CHECK(shown.session.sight().record);
  CHECK_THAT(shown.session.left_device(), says("the device was lost"));
}

TEST_CASE("where a run takes another kernel than the steps come from, the form and the badge say so") {
  OtherDevice device;
  OnTwoDevices shown(device);
  shown.session.choose([](Choice& choice) { choice.precision = Precision::f32; });
  const auto drawn_letters = [&](const char* where, Form form) {
    shown.compute_on(where, form);
    shown.draw();
    const std::vector<Glyph> glyphs = drawn_glyphs();
    for (const std::string& fault : letter_faults()) FAIL_CHECK(fault);
    return std::ranges::count_if(glyphs,
                                 [](const Glyph& glyph) { return glyph.window.starts_with("Forms"); });
  };
  const auto says_so = [&](Form form) { return !fused_words(*shown.session.computed(), form).empty(); };
  const auto without = drawn_letters("cuda", Form::chunkwise);
  const std::string plain = agreement_explained(*shown.session.computed());
  CHECK_FALSE(says_so(Form::chunkwise));
  device.trouble.has_fused = true;
  const auto with = drawn_letters("cuda", Form::chunkwise);
  const Computation& computed = *shown.session.computed();
  CHECK(says_so(Form::chunkwise));
  CHECK(agreement_explained(computed) == plain + "\nChunkwise: " + fused_words(computed, Form::chunkwise));
  CHECK(with > without + 20);  // a line of its own
  CHECK_FALSE(says_so(Form::recurrent));
  CHECK_FALSE(says_so(Form::parallel));
  shown.compute_on("cpu", Form::chunkwise);
  CHECK_FALSE(says_so(Form::chunkwise));
}
