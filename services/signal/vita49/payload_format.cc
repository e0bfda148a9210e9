#include "services/signal/vita49/payload_format.h"

#include "absl/strings/str_cat.h"
#include "services/signal/vita49/layout.h"

namespace tapedeck::services::vita49 {
namespace {

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
