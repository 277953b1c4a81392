#pragma once

#include <span>

#include "core/base/error.h"
#include "core/contract/sequence.h"
#include "core/contract/variant.h"

namespace palimpsest::cuda {

/// `error` with the run that it ended in front: rule, form, precision and sizes of `heads`, of which there is
/// one at least; and whether the device answers other calls still, with what to do if it does not.
Error failed_run(const Error& error, const Variant& variant, std::span<const Sequence> heads, Form form,
                 Precision precision, Index chunk_size);

/// Calls run() and returns what it gives; an Error that it throws comes out as failed_run() says, but for
/// those that a person asked for.
template <class Run>
auto naming_sizes(const Variant& variant, std::span<const Sequence> heads, Form form, Precision precision,
                  Index chunk_size, Run run) {
  try {
    return run();
  } catch (const Cancelled&) {
    throw;
  } catch (const Unsupported&) {
    throw;
  } catch (const InputError&) {
    throw;
  } catch (const Error& error) {
    throw failed_run(error, variant, heads, form, precision, chunk_size);
  }
}

}  // namespace palimpsest::cuda
