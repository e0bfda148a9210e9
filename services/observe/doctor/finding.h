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
  static constexpr auto kList =
      std::make_tuple(Report(&doctor::Finding::code, "code"),
                      Report(&doctor::Finding::severity, "severity", {.required = true}),
                      Report(&doctor::Finding::node, "node", {.in_some = true}),
                      Report(&doctor::Finding::what, "what"), Report(&doctor::Finding::why, "why"),
                      Report(&doctor::Finding::fix, "fix"));
};

template <>
struct Fields<doctor::RailFacts> {
  static constexpr auto kList = std::make_tuple(
      Report(&doctor::RailFacts::name, "name"), Report(&doctor::RailFacts::transport, "transport"),
      Report(&doctor::RailFacts::address, "address"),
      Report(&doctor::RailFacts::prefix_bits, "prefix_bits"),
      Report(&doctor::RailFacts::interface, "interface"),
      Report(&doctor::RailFacts::mtu_bytes, "mtu_bytes"),
      Report(&doctor::RailFacts::path_mtu_bytes, "path_mtu_bytes"),
      Report(&doctor::RailFacts::bits_per_s, "bits_per_s"),
      Report(&doctor::RailFacts::limit_bytes_per_s, "limit_bytes_per_s"),
      Report(&doctor::RailFacts::best_limit_bytes_per_s, "best_limit_bytes_per_s"),
      Report(&doctor::RailFacts::temperature_celsius, "temperature_celsius"));
};

}  // namespace tapedeck::services::model
