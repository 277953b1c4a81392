#pragma once

#include "core/rules/rule.h"

namespace palimpsest::cuda {

/// What names a run: rule, form, precision and sizes of `heads`, of which there is one at least. "gla,
/// chunkwise in bf16 on cuda, 2 heads of 8192 tokens, K 128, V 64 in chunks of 32".
std::string run_words(const Variant& variant, std::span<const Sequence> heads, Form form, Precision precision,
                      Index chunk_size);

/// `error` with run_words() in front; and whether the device still accepts other calls, with what to do if it
/// does not.
Error failed_run(const Error& error, std::string_view run);

/// Returns compute(); an Error that it throws is rethrown as failed_run(), except those that the user caused.
template <class Compute>
auto naming(std::string_view run, Compute compute) {
  try {
    return compute();
  } catch (const Cancelled&) {
    throw;
  } catch (const Unsupported&) {
    throw;
  } catch (const InputError&) {
    throw;
  } catch (const Error& error) {
    throw failed_run(error, run);
  }
}

/// The steps of `trace`; an error in computing them is named `words` (failed_run.h).
std::unique_ptr<Trace> named_trace(std::string words, std::unique_ptr<Trace> trace);

}  // namespace palimpsest::cuda
