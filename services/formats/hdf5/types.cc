#include "services/formats/hdf5/types.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tapedeck::services::formats {
namespace {

using dataplane::Datatype;
using Kind = dataplane::Datatype::Kind;

hid_t FloatOf(const Datatype& type) {
  if (type.bits == 64) return type.big_endian ? H5T_IEEE_F64BE : H5T_IEEE_F64LE;
  return type.big_endian ? H5T_IEEE_F32BE : H5T_IEEE_F32LE;
}

hid_t WholeOf(const Datatype& type) {
  const bool big = type.big_endian;
  const bool is_signed = type.kind == Kind::kInt;
  switch (type.bits) {
    case 8:
      return is_signed ? H5T_STD_I8LE : H5T_STD_U8LE;
    case 16:
      return is_signed ? (big ? H5T_STD_I16BE : H5T_STD_I16LE)
                       : (big ? H5T_STD_U16BE : H5T_STD_U16LE);
    default:
      return is_signed ? (big ? H5T_STD_I32BE : H5T_STD_I32LE)
                       : (big ? H5T_STD_U32BE : H5T_STD_U32LE);
  }
}

// Of one number each; complex ones are two.
constexpr const char* kNumbers[] = {"f32_le", "f32_be", "f64_le", "f64_be", "i32_le",
                                    "i32_be", "i16_le", "i16_be", "u32_le", "u32_be",
                                    "u16_le", "u16_be", "i8",     "u8"};

std::optional<Datatype> NumberOf(hid_t type) {
  for (const char* number : kNumbers) {
    const Datatype known = *dataplane::ParseDatatype(absl::StrCat("r", number));
    if (H5Tequal(type, TypeOf({known}).get()) > 0) return known;
  }
  return std::nullopt;
}

// One of the two numbers of a compound.
struct Part {
  size_t at = 0;
  std::string name;
  std::optional<Datatype> number;
};

Part PartOf(hid_t compound, unsigned member) {
  const Handle type(H5Tget_member_type(compound, member), H5Tclose);
  char* const name = H5Tget_member_name(compound, member);
  Part part{H5Tget_member_offset(compound, member), name == nullptr ? "" : name,
            NumberOf(type.get())};
  H5free_memory(name);
  return part;
}

bool IsOneOf(const std::string& name, std::initializer_list<const char*> words) {
  return std::ranges::any_of(words,
                             [&](const char* word) { return absl::EqualsIgnoreCase(name, word); });
}

// Imaginary parts are named i beside r, and q beside i.
bool IsSwapped(const Part& first, const Part& second) {
  return IsOneOf(second.name, {"r", "re", "real"}) || IsOneOf(first.name, {"q"});
}

bool IsNamed(const Part& real, const Part& imaginary) {
  return (IsOneOf(real.name, {"r", "re", "real"}) &&
          IsOneOf(imaginary.name, {"i", "im", "imag", "imaginary"})) ||
         (IsOneOf(real.name, {"i"}) && IsOneOf(imaginary.name, {"q"}));
}

}  // namespace

Handle TypeOf(const SampleType& type) {
  const Datatype& datatype = type.datatype;
  const hid_t part = datatype.kind == Kind::kFloat ? FloatOf(datatype) : WholeOf(datatype);
  if (!datatype.complex) return {H5Tcopy(part), H5Tclose};
  Handle pair(H5Tcreate(H5T_COMPOUND, datatype.bytes_per_sample()), H5Tclose);
  H5Tinsert(pair.get(), type.real.c_str(), 0, part);
  H5Tinsert(pair.get(), type.imaginary.c_str(), datatype.bytes_per_sample() / 2, part);
  return pair;
}

std::optional<SampleType> SampleTypeOf(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND) {
    const auto number = NumberOf(type);
    return number.has_value() ? std::optional(SampleType{*number}) : std::nullopt;
  }
  if (H5Tget_nmembers(type) != 2) return std::nullopt;
  Part real = PartOf(type, 0);
  Part imaginary = PartOf(type, 1);
  if (imaginary.at < real.at) std::swap(real, imaginary);
  if (IsSwapped(real, imaginary)) std::swap(real, imaginary);
  if (!real.number.has_value() || real.number != imaginary.number) return std::nullopt;
  // The library reads beyond an element that is shorter than its parts.
  const size_t bytes = real.number->bytes_per_sample();
  const auto [first, second] = std::minmax(real.at, imaginary.at);
  if (second - first < bytes || H5Tget_size(type) < bytes || second > H5Tget_size(type) - bytes) {
    return std::nullopt;
  }
  SampleType found{*real.number, real.name, imaginary.name, IsNamed(real, imaginary)};
  found.datatype.complex = true;
  return found;
}

std::string TypeText(hid_t type) {
  if (const auto samples = SampleTypeOf(type); samples.has_value()) {
    return dataplane::DatatypeName(samples->datatype);
  }
  const auto name = [&] {
    switch (H5Tget_class(type)) {
      case H5T_INTEGER:
        return "integer";
      case H5T_FLOAT:
        return "float";
      case H5T_STRING:
        return "string";
      case H5T_BITFIELD:
        return "bit field";
      case H5T_OPAQUE:
        return "opaque";
      case H5T_COMPOUND:
        return "compound";
      case H5T_REFERENCE:
        return "reference";
      case H5T_ENUM:
        return "enumeration";
      case H5T_VLEN:
        return "variable length";
      case H5T_ARRAY:
        return "array";
      default:
        return "other";
    }
  };
  return absl::StrCat(name(), " of ", H5Tget_size(type), " bytes");
}

}  // namespace tapedeck::services::formats
