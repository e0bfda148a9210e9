// The sample types of SigMF (core:datatype): (c|r)(f32|f64|i32|i16|u32|u16|i8|u8)(_le|_be), the
// byte order being there exactly when a component has more than 8 bits.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::dataplane {

struct Datatype {
  enum class Kind { kFloat, kInt, kUint };

  bool complex = false;
  Kind kind = Kind::kFloat;
  int bits = 0;  // of one component
  bool big_endian = false;

  size_t bytes_per_sample() const { return (complex ? 2 : 1) * static_cast<size_t>(bits) / 8; }
  bool operator==(const Datatype&) const = default;
};

// INVALID_ARGUMENT says what is wrong with `name`.
absl::StatusOr<Datatype> ParseDatatype(absl::string_view name);

// The name of one that ParseDatatype gives, or could give.
std::string DatatypeName(const Datatype& type);

}  // namespace tapedeck::dataplane
