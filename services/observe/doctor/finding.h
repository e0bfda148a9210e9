// What the doctor says: findings, and what it knows of the rails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/model/words/field.h"
#include "services/model/words/names.h"
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

namespace tapedeck::services::model {

template <>
struct EnumNames<doctor::Severity> {
  using enum doctor::Severity;
  static constexpr absl::string_view kWhat = "severity";
  static constexpr std::pair<doctor::Severity, absl::string_view> kTable[] = {
      {kNote, "note"}, {kWarning, "warning"}, {kError, "error"}};
};

template <>
struct Fields<doctor::Finding> {
  static constexpr auto kList = std::make_tuple(
      Describe(&doctor::Finding::code, {.name = "code", .role = Role::kReported}),
      Describe(&doctor::Finding::severity,
               {.name = "severity", .role = Role::kReported, .required = true}),
      Describe(&doctor::Finding::node, {.name = "node", .role = Role::kReported, .in_some = true}),
      Describe(&doctor::Finding::what, {.name = "what", .role = Role::kReported}),
      Describe(&doctor::Finding::why, {.name = "why", .role = Role::kReported}),
      Describe(&doctor::Finding::fix, {.name = "fix", .role = Role::kReported}));
};

template <>
struct Fields<doctor::RailFacts> {
  static constexpr auto kList = std::make_tuple(
      Describe(&doctor::RailFacts::name, {.name = "name", .role = Role::kReported}),
      Describe(&doctor::RailFacts::transport, {.name = "transport", .role = Role::kReported}),
      Describe(&doctor::RailFacts::address, {.name = "address", .role = Role::kReported}),
      Describe(&doctor::RailFacts::prefix_bits, {.name = "prefix_bits", .role = Role::kReported}),
      Describe(&doctor::RailFacts::interface, {.name = "interface", .role = Role::kReported}),
      Describe(&doctor::RailFacts::mtu_bytes, {.name = "mtu_bytes", .role = Role::kReported}),
      Describe(&doctor::RailFacts::path_mtu_bytes,
               {.name = "path_mtu_bytes", .role = Role::kReported}),
      Describe(&doctor::RailFacts::bits_per_s, {.name = "bits_per_s", .role = Role::kReported}),
      Describe(&doctor::RailFacts::limit_bytes_per_s,
               {.name = "limit_bytes_per_s", .role = Role::kReported}),
      Describe(&doctor::RailFacts::best_limit_bytes_per_s,
               {.name = "best_limit_bytes_per_s", .role = Role::kReported}),
      Describe(&doctor::RailFacts::temperature_celsius,
               {.name = "temperature_celsius", .role = Role::kReported}));
};

}  // namespace tapedeck::services::model
