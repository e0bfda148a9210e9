// What the doctor says: findings, and what it knows of the rails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/observe/doctor/codes.h"

namespace tapedeck::services::doctor {

// Meanings are those of tapedeck/v1/doctor.proto.
struct Finding {
  std::string code;
  Severity severity = Severity::kError;
  std::string node;  // "storage", "worker" or "pair"; set by who asked several
  std::string what;
  std::string why;
  std::string fix;
};
using Findings = std::vector<Finding>;

// As bad as the list has it, and with its texts.
Finding Found(CodeId code, std::string what);
// The same, but as bad as that.
Finding Found(CodeId code, Severity severity, std::string what);
// What an error says: under its reason where the list has that, else under `otherwise`.
Finding FoundError(const absl::Status& error, CodeId otherwise, absl::string_view what);

// The worst first; what is equally bad stays in its order.
void SortByWorst(Findings& findings);
// None: healthy.
std::optional<Severity> WorstOf(const Findings& findings);
// "note", "warning" or "error".
absl::string_view SeverityName(Severity severity);

struct RailFacts {
  std::string name;
  std::string transport;
  std::string address;
  uint32_t prefix_bits = 0;
  std::string interface;
  uint32_t mtu_bytes = 0;
  uint32_t path_mtu_bytes = 0;
  uint64_t bits_per_s = 0;
  uint64_t limit_bytes_per_s = 0;
  uint64_t best_limit_bytes_per_s = 0;
  std::optional<double> temperature_celsius;
};

struct Diagnosis {
  Findings findings;
  std::vector<RailFacts> rails;
};

}  // namespace tapedeck::services::doctor
