#include "services/signal/vita49/signal_text.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "services/signal/vita49/layout.h"

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

using dataplane::Datatype;

struct Form {
  uint32_t parts = 0;
  uint32_t number = 0;  // kind of
  uint32_t bits = 0;    // of its place
  uint32_t used = 0;    // of these
  uint32_t tags = 0;
  uint32_t times = 0;   // that each stands there
  uint32_t vector = 0;  // samples of one instant

  bool is_whole() const { return number == kSignedNumber || number == kUnsignedNumber; }
  bool is_float() const { return number == kSingleNumber || number == kDoubleNumber; }
};

Form FormOf(uint64_t format) {
  const auto first = static_cast<uint32_t>(format >> 32);
  const auto second = static_cast<uint32_t>(format);
  return {.parts = first >> kRealOrComplexAt & 3,
          .number = first >> kNumberAt & 0x1f,
          .bits = (first >> kPackedBitsAt & kBitsMask) + 1,
          .used = (first & kBitsMask) + 1,
          .tags = first >> kTagsAt & kTagsMask,
          .times = (second >> 16) + 1,
          .vector = (second & 0xffff) + 1};
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

std::optional<Datatype> DatatypeOf(uint64_t format) {
  const Form form = FormOf(format);
  if (form.times > 1 || form.vector > 1 || form.parts > kCartesian) return std::nullopt;
  if (!form.is_whole() && !form.is_float()) return std::nullopt;
  const uint32_t bits = form.bits;
  const bool fits = form.is_whole() ? bits == 8 || bits == 16 || bits == 32
                                    : bits == (form.number == kDoubleNumber ? 64 : 32);
  // Fewer bits lie at the upper end of theirs, and a whole number has zeros behind them; tags there
  // are no samples.
  const bool filled = form.used == bits || (form.is_whole() && form.used < bits && form.tags == 0);
  if (!fits || !filled) return std::nullopt;
  Datatype type{
      .complex = form.parts == kCartesian, .bits = static_cast<int>(bits), .big_endian = bits > 8};
  if (form.is_whole()) {
    type.kind = form.number == kSignedNumber ? Datatype::Kind::kInt : Datatype::Kind::kUint;
  }
  return type;
}

std::string FormatText(uint64_t format) {
  const Form form = FormOf(format);
  std::string text = form.parts == kReal        ? "real "
                     : form.parts == kCartesian ? "complex "
                                                : "polar ";
  absl::StrAppend(&text, form.number == kSignedNumber     ? "signed numbers"
                         : form.number == kUnsignedNumber ? "unsigned numbers"
                         : form.is_float()                ? "floats"
                                                          : "numbers of another kind");
  absl::StrAppend(&text, " of ", form.used, " bits in ", form.bits);
  if (form.tags > 0) absl::StrAppend(&text, " with tags");
  if (form.vector > 1) absl::StrAppend(&text, ", in vectors of ", form.vector);
  if (form.times > 1) absl::StrAppend(&text, ", each ", form.times, " times");
  return text;
}

}  // namespace tapedeck::services::vita49
