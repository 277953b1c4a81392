#include "app/studio/application.h"

#include <utility>

#include "app/window/offscreen.h"
#include "tests/catch.h"

using namespace palimpsest;

TEST_CASE("the program is drawn at every size, however small or narrow", "[application]") {
  struct Size {
    int width;
    int height;
    float scale;
  };
  const Size sizes[] = {{16, 16, 1},   {16, 600, 1},  {1200, 16, 1}, {100, 100, 1},
                        {200, 200, 1}, {320, 240, 1}, {500, 400, 1}, {560, 400, 1},
                        {640, 480, 1}, {800, 600, 2}, {480, 320, 4}};
  for (const Form form : all_forms) {
    Application application;
    application.open_first_capture();
    application.session.wait();
    Choice choice = application.session.choice();
    choice.form = form;
    application.session.choose(std::move(choice));
    application.session.wait();
    for (const Size& size : sizes) {
      CAPTURE(name(form), size.width, size.height, size.scale);
      Offscreen offscreen(size.width, size.height, size.scale);
      Image image;
      CHECK_NOTHROW(image = offscreen.render([&] { application.draw(size.scale); }));
      CHECK(image.width == size.width);
    }
  }
}
