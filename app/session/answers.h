#pragma once

#include "app/session/questions.h"

namespace palimpsest {

template <class Value>
using Answer = Known<Value>;
using Answers = Questions;

}  // namespace palimpsest
