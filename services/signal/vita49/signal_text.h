// What packets tell as comments of annotations. Of a context, "signal", and back:
// "frequency=1500000000 bandwidth=20000000 gain=3 sample_rate=1000000", those that it has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "dataplane/datatype.h"
#include "services/signal/vita49/packet.h"

namespace tapedeck::services::vita49 {

inline constexpr char kSignalLabel[] = "signal";

// Numbers have 15 digits.
std::string TextOf(const Context& context);

// The device's clock was set by so many seconds just before a packet: an annotation at the packet's
// first sample, and its comment.
inline constexpr char kClockStepLabel[] = "clock_step";
std::string StepTextOf(double seconds);

// None: it is none of these texts, which people may write as well, or no packet has room for its
// numbers.
std::optional<Context> ContextOf(absl::string_view text);

// What a context says of the samples' form: two words (ANSI/VITA 49.2-2017, 9.13.3), big-endian.
// None: no datatype of SigMF has such samples, as they have bits beside their numbers,
// lie in vectors, or are repeated.
std::optional<dataplane::Datatype> DatatypeOf(uint64_t format);

// For people: "complex signed numbers of 12 bits in 16, in vectors of 2".
std::string FormatText(uint64_t format);

}  // namespace tapedeck::services::vita49
