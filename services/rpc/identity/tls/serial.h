// Serial numbers of certificates, as a policy lists them: hexadecimal, upper case, without zeros in
// front, as many as the authority gave.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::identity {

// RFC 5280 gives them 20 bytes.
inline constexpr size_t kMaxSerialDigits = 40;

// As people write them, with colons or without. INVALID_ARGUMENT, whose text goes on after "is ".
absl::StatusOr<std::string> ParseSerial(absl::string_view text);

// Of a certificate in PEM. INVALID_ARGUMENT where it is none.
absl::StatusOr<std::string> SerialOf(const std::string& certificate);

}  // namespace tapedeck::services::identity
