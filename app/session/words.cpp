#include "app/session/words.h"

#include <fmt/format.h>
#include <exception>
#include <new>
#include <stdexcept>

namespace palimpsest {

std::string problem_in_words() try { throw; } catch (const std::bad_alloc&) {
  return "there is not enough memory for this";
} catch (const std::logic_error& error) {
  return fmt::format("a mistake in this program: {}", error.what());
} catch (const std::exception& error) {
  return error.what();
} catch (...) {
  return "something went wrong";
}

}  // namespace palimpsest
