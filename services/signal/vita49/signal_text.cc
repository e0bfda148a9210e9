#include "services/signal/vita49/signal_text.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace tapedeck::services::vita49 {
namespace {

struct Field {
  absl::string_view name;
  std::optional<double> Context::*value;
};
constexpr Field kFields[] = {{"frequency", &Context::frequency_hz},
                             {"bandwidth", &Context::bandwidth_hz},
                             {"gain", &Context::gain_db},
                             {"sample_rate", &Context::sample_rate}};

const Field* Find(absl::string_view name) {
  for (const Field& field : kFields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

}  // namespace

std::string TextOf(const Context& context) {
  std::vector<std::string> fields;
  for (const auto& [name, value] : kFields) {
    const std::optional<double>& number = context.*value;
    if (number.has_value()) fields.push_back(absl::StrFormat("%s=%.15g", name, *number));
  }
  return absl::StrJoin(fields, " ");
}

std::string StepTextOf(double seconds) {
  return absl::StrFormat("the device's clock was set by %+.6f s", seconds);
}

std::optional<Context> ContextOf(absl::string_view text) {
  Context context;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(word, absl::MaxSplits('=', 1));
    const Field* field = Find(parts.first);
    double number = 0;
    if (field == nullptr || (context.*field->value).has_value() ||
        !absl::SimpleAtod(parts.second, &number) || !std::isfinite(number)) {
      return std::nullopt;
    }
    context.*field->value = number;
  }
  return Writable(context) ? std::optional(context) : std::nullopt;
}

}  // namespace tapedeck::services::vita49
