// MicroTeX's \left and \right, replacing its lib/atom/atom_fence.cpp, which moves their content off the
// baseline to centre it: a letter with an index would be raised.

#include <atom/atom_fence.h>
#include <atom/atom_row.h>
#include <box/box_factory.h>
#include <box/box_group.h>
#include <box/box_single.h>
#include <core/glue.h>
#include <env/env.h>

#include <algorithm>

namespace microtex {

// The least part of their content that delimiters cover, as in plain TeX (\delimiterfactor).
constexpr float covered = 0.901F;

sptr<Box> MiddleAtom::createBox(Env& env) {
  if (_height == 0) return _placeholder;
  return createVDelim(_sym, env, _height, true);
}

sptr<Box> FencedAtom::createBox(Env& env) {
  if (_base == nullptr) return StrutBox::empty();
  if (auto* const row = dynamic_cast<RowAtom*>(_base.get())) row->setBreakable(false);
  const sptr<Box> base = _base->createBox(env);
  const float axis = env.axisHeight() * env.scale();
  // What is enclosed keeps its baseline, and delimiters reach as far below the axis as above it.
  const float height = 2 * covered * std::max(base->_height - axis, base->_depth + axis);
  const auto delimiter = [&](const sptr<Box>& box) {
    box->_shift = box->_height - box->vlen() / 2 - axis;
    return box;
  };
  for (const auto& middle : _m) {
    middle->_height = height;
    base->replaceFirst(middle->_placeholder, delimiter(middle->createBox(env)));
  }
  auto fenced = sptrOf<HBox>();
  const auto is_there = [](const std::string& symbol) { return !symbol.empty() && symbol != "."; };
  if (is_there(_l)) {
    fenced->add(delimiter(createVDelim(_l, env, height, true)));
    if (!base->isSpace()) fenced->add(Glue::get(AtomType::opening, _base->leftType(), env));
  }
  fenced->add(base);
  if (is_there(_r)) {
    if (!base->isSpace()) fenced->add(Glue::get(_base->rightType(), AtomType::closing, env));
    fenced->add(delimiter(createVDelim(_r, env, height, true)));
  }
  return fenced;
}

}  // namespace microtex
