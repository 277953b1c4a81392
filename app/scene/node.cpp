#include "app/scene/node.h"

#include <fmt/ranges.h>

namespace palimpsest::scene {

Content::Content(const Content& other) = default;
Content::Content(Content&& other) noexcept = default;
Content& Content::operator=(const Content& other) = default;
Content& Content::operator=(Content&& other) noexcept = default;
Content::~Content() = default;

Node that_fits(const std::vector<std::string>& words, Ink ink) {
  Nodes wishes;
  for (const std::string& each : words) wishes += &each == &words.back() ? note(each, ink) : tag(each, ink);
  return first_that_fits(std::move(wishes));
}

void FlowingWords::add(std::string_view words, style::Text letters, Ink ink) {
  while (!words.empty()) {
    std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(end).starts_with(" %")) end = std::min(words.find(' ', end + 1), words.size());
    if (end > 0) add(text(std::string(words.substr(0, end)), letters, ink, Fit::whole));
    if (end < words.size()) goes_on_ = false;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

void FlowingWords::add(Node node) {
  if (std::exchange(goes_on_, true))
    words_.back() = row({std::move(words_.back()), std::move(node)}, Gap::none);
  else
    words_.push_back(std::move(node));
}

Nodes segments_of(Nodes buttons) {
  for (Node& node : buttons) {
    Button& button = std::get<Button>(node.content);
    button.look = Button::Look::segment;
    button.first = &node == &buttons.front();
    button.last = &node == &buttons.back();
  }
  return buttons;
}

Node segments(const std::vector<std::string>& words, std::size_t chosen,
              const std::function<void(std::size_t)>& choose, const std::string& tip) {
  Nodes all;
  for (std::size_t i = 0; i < words.size(); ++i)
    all += pill(words[i], i == chosen).told(tip).on([choose, i] { choose(i); });
  return row(segments_of(std::move(all)), Gap::none);
}

Node colour_ramp(float height) {
  static const Matrix<double> ramp = Vector<double>::LinSpaced(64, -1, 1).transpose();
  return {Picture{.values = &ramp, .version = 1, .look = {.grid = false}, .height = height}};
}

Node first_that_fits(Nodes nodes) {
  const auto all = std::make_shared<const Nodes>(std::move(nodes));
  return {FirstThatFits{all->size(),
                        [all](std::size_t i) { return std::shared_ptr<const Node>(all, &(*all)[i]); }}};
}

Node first_that_fits(std::size_t count, std::function<Node(std::size_t)> make) {
  return {FirstThatFits{
      count, [make = std::move(make)](std::size_t i) { return std::make_shared<const Node>(make(i)); }}};
}

Node as_many(const std::vector<std::string>& parts, Ink ink) {
  return first_that_fits(parts.size(), [parts, ink](std::size_t wish) {
    const std::size_t count = parts.size() - wish;
    return text(fmt::format("{}", fmt::join(std::span(parts).first(count), "; ")), style::Text::caption, ink,
                count > 1 ? Fit::whole : Fit::shorten);
  });
}

std::string_view piece_of(const Node& node) {
  if (!node.name.empty()) return node.name;
  if (const auto* button = std::get_if<Button>(&node.content)) return button->words;
  if (const auto* slider = std::get_if<Slider>(&node.content)) return slider->words;
  if (const auto* menu = std::get_if<Menu>(&node.content)) return menu->words;
  return {};
}

}  // namespace palimpsest::scene
