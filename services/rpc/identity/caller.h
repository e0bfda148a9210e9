// Whose call it is.
#pragma once

#include <cstddef>
#include <string>

namespace tapedeck::services::identity {

// An identity is at most so long: longer names are no names, and would fill the log.
inline constexpr size_t kMaxIdentityBytes = 256;

// In the metadata of a call: whom a worker calls for. Bytes, as gRPC takes them from the suffix on.
inline constexpr char kActingForKey[] = "tapedeck-acting-for-bin";

struct Caller {
  std::string peer;              // whom the certificate of the connection names
  std::string acting_for;        // whom that one says it calls for; empty: for itself
  std::string certificate = {};  // that of the connection, in PEM

  // Whom the call is of, if all of this is believed.
  const std::string& who() const { return acting_for.empty() ? peer : acting_for; }
  bool operator==(const Caller&) const = default;
};

}  // namespace tapedeck::services::identity
