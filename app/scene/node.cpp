#include "app/scene/node.h"

#include <fmt/ranges.h>

namespace palimpsest::scene {

Content::Content(const Content& other) = default;
Content::Content(Content&& other) noexcept = default;
Content& Content::operator=(const Content& other) = default;
Content& Content::operator=(Content&& other) noexcept = default;
Content::~Content() = default;

Node::Node() : content(Text()) {}
Node::Node(Content content) : content(std::move(content)) {}
Node::Node(const Node& other) = default;
Node::Node(Node&& other) noexcept = default;
Node& Node::operator=(const Node& other) = default;
Node& Node::operator=(Node&& other) noexcept = default;
Node::~Node() = default;

Nodes::Nodes(std::initializer_list<ListedNode> list) {
  reserve(list.size());
  for (const ListedNode& listed : list) push_back(std::move(listed.node));
}

Node text(std::string words, style::Text style, Ink ink, Fit fit) {
  return {Text{std::move(words), style, ink, fit}};
}

Node paragraph(std::string words) { return text(std::move(words), style::Text::body, dim_ink); }

Node caption(std::string words) { return text(std::move(words), style::Text::caption, dim_ink); }

Node line(std::string words, style::Text style, Ink ink) {
  return text(std::move(words), style, ink, Fit::shorten);
}

Node heading(std::string words) { return line(std::move(words), style::Text::strong); }

Node note(std::string words, Ink ink) { return line(std::move(words), style::Text::caption, ink); }

Node tag(std::string words, Ink ink) { return text(std::move(words), style::Text::caption, ink, Fit::whole); }

Node that_fits(const std::vector<std::string>& words, Ink ink) {
  Nodes wishes;
  for (const std::string& each : words)
    wishes.push_back(&each == &words.back() ? note(each, ink) : tag(each, ink));
  return first_that_fits(std::move(wishes));
}

Node number(std::string digits, Ink ink) {
  return text(std::move(digits), style::Text::number_small, ink, Fit::whole);
}

Node formula(std::string latex, float size, Ink ink) { return {Formula{std::move(latex), size, ink}}; }

Node pill(std::string words, bool chosen) { return {Button{.words = std::move(words), .chosen = chosen}}; }

Node word_button(std::string words) { return {Button{std::move(words), Button::Look::word}}; }

Node icon_button(std::string_view name, Icon icon, float size) {
  return Node{Button{.look = Button::Look::icon, .icon = icon, .icon_size = size}}.named(name);
}

Node link(std::string words) { return {Button{std::move(words), Button::Look::link}}; }

Node choice(std::string words, bool chosen) { return {Button{std::move(words), Button::Look::line, chosen}}; }

Node segments(const std::vector<std::string>& words, std::size_t chosen,
              const std::function<void(std::size_t)>& choose, const std::string& tip) {
  Nodes all;
  for (std::size_t i = 0; i < words.size(); ++i) {
    Node segment = {Button{.words = words[i],
                           .look = Button::Look::segment,
                           .chosen = i == chosen,
                           .first = i == 0,
                           .last = i + 1 == words.size()}};
    all.push_back(std::move(segment).told(tip).on([choose, i] { choose(i); }));
  }
  return row(std::move(all), Gap::none);
}

Node mark(Mark::Kind kind, Ink ink) { return {Mark{kind, ink}}; }

Node rule(Gap room) { return {Rule{room}}; }

Node space(Gap gap) { return {Space{gap}}; }

Node rest() { return space(Gap::none).filling(); }

Node row(Nodes nodes, Gap gap) { return {Row{.nodes = std::move(nodes), .gap = gap}}; }

Node top_row(Nodes nodes, Gap gap) { return {Row{.nodes = std::move(nodes), .gap = gap, .on_top = true}}; }

Node centred(Node node) { return row({rest(), std::move(node), rest()}, Gap::none); }

Node flow(Nodes nodes, Gap gap) { return {Row{.nodes = std::move(nodes), .gap = gap, .wraps = true}}; }

Node column(Nodes nodes, Gap gap) { return {Column{std::move(nodes), gap}}; }

Node grid(std::size_t columns, Nodes cells, Gap across, Gap down) {
  return {Grid{columns, std::move(cells), across, down}};
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

Node steady(Nodes nodes) { return {Steady{std::move(nodes)}}; }

Node framed(Node node, Gap across, Gap down, Ink outline, Ink ground) {
  return {Frame{{std::move(node)}, across, down, outline, ground}};
}

Node key(std::string name) {
  return framed(text(std::move(name), style::Text::caption, dim_ink, Fit::whole), Gap::small, Gap::tight,
                edge_ink);
}

Node scroll(std::string_view name, Node node) { return Node{Scroll{{std::move(node)}}}.named(name); }

Node as_many(const std::vector<std::string>& parts, Ink ink) {
  return first_that_fits(parts.size(), [parts, ink](std::size_t wish) {
    const std::size_t count = parts.size() - wish;
    return text(fmt::format("{}", fmt::join(std::span(parts).first(count), "; ")), style::Text::caption, ink,
                count > 1 ? Fit::whole : Fit::shorten);
  });
}

Node plotted(Plot plot, std::function<void(const PlotDone&)> done) {
  return {Plotted{std::make_shared<const Plot>(std::move(plot)), std::move(done)}};
}

style::ButtonShape shape_of(Button::Look look) { return static_cast<style::ButtonShape>(look); }

std::string_view piece_of(const Node& node) {
  if (!node.name.empty()) return node.name;
  if (const auto* button = std::get_if<Button>(&node.content)) return button->words;
  if (const auto* slider = std::get_if<Slider>(&node.content)) return slider->words;
  if (const auto* menu = std::get_if<Menu>(&node.content)) return menu->words;
  return {};
}

}  // namespace palimpsest::scene
