#include "dataplane/datatype.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tapedeck::dataplane {
namespace {

struct Component {
  absl::string_view name;
  Datatype::Kind kind;
  int bits;
};

constexpr Component kComponents[] = {
    {"f32", Datatype::Kind::kFloat, 32}, {"f64", Datatype::Kind::kFloat, 64},
    {"i32", Datatype::Kind::kInt, 32},   {"i16", Datatype::Kind::kInt, 16},
    {"u32", Datatype::Kind::kUint, 32},  {"u16", Datatype::Kind::kUint, 16},
    {"i8", Datatype::Kind::kInt, 8},     {"u8", Datatype::Kind::kUint, 8},
};

absl::Status Invalid(absl::string_view name, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("datatype '", name, "' is not a SigMF type: ", why));
}

}  // namespace

absl::StatusOr<Datatype> ParseDatatype(absl::string_view name) {
  absl::string_view rest = name;
  Datatype type;
  if (absl::ConsumePrefix(&rest, "c")) {
    type.complex = true;
  } else if (!absl::ConsumePrefix(&rest, "r")) {
    return Invalid(name, "it must start with c (complex) or r (real), e.g. cf32_le");
  }
  const bool little = absl::ConsumeSuffix(&rest, "_le");
  type.big_endian = !little && absl::ConsumeSuffix(&rest, "_be");
  for (const Component& component : kComponents) {
    if (rest != component.name) continue;
    type.kind = component.kind;
    type.bits = component.bits;
    const bool ordered = little || type.big_endian;
    if (component.bits > 8 && !ordered) return Invalid(name, "add the byte order, _le or _be");
    if (component.bits == 8 && ordered) return Invalid(name, "single bytes have no byte order");
    return type;
  }
  return Invalid(name, "components are f32, f64, i32, i16, u32, u16, i8 and u8");
}

std::string DatatypeName(const Datatype& type) {
  for (const Component& component : kComponents) {
    if (component.kind != type.kind || component.bits != type.bits) continue;
    const absl::string_view order = type.bits == 8 ? "" : type.big_endian ? "_be" : "_le";
    return absl::StrCat(type.complex ? "c" : "r", component.name, order);
  }
  return absl::StrCat("SigMF has no component of ", type.bits, " bits");
}

}  // namespace tapedeck::dataplane
