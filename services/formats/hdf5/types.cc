#include "services/formats/hdf5/types.h"

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

}  // namespace

Handle TypeOf(const Datatype& type) {
  const hid_t part = type.kind == Kind::kFloat ? FloatOf(type) : WholeOf(type);
  if (!type.complex) return {H5Tcopy(part), H5Tclose};
  Handle pair(H5Tcreate(H5T_COMPOUND, type.bytes_per_sample()), H5Tclose);
  H5Tinsert(pair.get(), "r", 0, part);
  H5Tinsert(pair.get(), "i", type.bytes_per_sample() / 2, part);
  return pair;
}

std::optional<Datatype> DatatypeOf(hid_t type) {
  for (const char* number : kNumbers) {
    for (const char* parts : {"r", "c"}) {
      const Datatype known = *dataplane::ParseDatatype(absl::StrCat(parts, number));
      if (H5Tequal(type, TypeOf(known).get()) > 0) return known;
    }
  }
  return std::nullopt;
}

}  // namespace tapedeck::services::formats
