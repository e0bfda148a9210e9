// What a context says of the samples' form: two words (ANSI/VITA 49.2-2017, 9.13.3). Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dataplane/datatype.h"

namespace tapedeck::services::vita49 {

// Big-endian. None: no datatype of SigMF has such samples, as they have bits beside their numbers,
// lie in vectors, or are repeated.
std::optional<dataplane::Datatype> DatatypeOf(uint64_t format);

// For people: "complex signed numbers of 12 bits in 16, in vectors of 2".
std::string FormatText(uint64_t format);

}  // namespace tapedeck::services::vita49
