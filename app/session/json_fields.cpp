#include "app/session/json_fields.h"

namespace palimpsest {

nlohmann::json parse_json(const std::string& text) try {
  return nlohmann::json::parse(text);
} catch (const nlohmann::json::parse_error& error) {
  throw InputError(fmt::format("it is not valid JSON (near byte {})", error.byte));
} catch (const nlohmann::json::exception&) {
  throw InputError("it is not valid JSON: a number in it is beyond any double");
}

}  // namespace palimpsest
