#include "services/tapectl/nodes/doctor_answer.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/printable.h"
#include "services/site/field_json.h"

namespace tapedeck::services::tapectl {
namespace {

using doctor::Finding;
using doctor::RailFacts;
using doctor::Severity;

std::string MegabytesPerS(uint64_t bytes_per_s) {
  return bytes_per_s == 0 ? "-" : absl::StrCat(bytes_per_s / 1'000'000);
}

Table RailsOf(const Examined& node) {
  Table table{.heads = {absl::StrCat("RAILS OF ", node.address), "ADDRESS", "INTERFACE", "MTU",
                        "MB/S AT MOST", "WITH BEST MTU"}};
  for (const RailFacts& rail : node.report.rails) {
    table.rows.push_back({rail.name, absl::StrCat(rail.transport, ":", rail.address),
                          rail.interface.empty() ? "-" : rail.interface,
                          absl::StrCat(rail.mtu_bytes), MegabytesPerS(rail.limit_bytes_per_s),
                          MegabytesPerS(rail.best_limit_bytes_per_s)});
  }
  return table;
}

// Four lines for each: what one reads and types is longer than a column.
Table FindingsOf(const doctor::Findings& findings) {
  Table table{.heads = {findings.empty() ? "NOTHING IS WRONG" : "FINDINGS", ""}};
  for (const Finding& finding : findings) {
    table.rows.push_back({std::string(model::NameOf(finding.severity)),
                          absl::StrCat(finding.code, " (", finding.node, ")")});
    table.rows.push_back({"  what", dataplane::Printable(finding.what)});
    table.rows.push_back({"  why", dataplane::Printable(finding.why)});
    table.rows.push_back({"  fix", dataplane::Printable(finding.fix)});
  }
  return table;
}

double Milliseconds(int64_t ns) { return static_cast<double>(ns) / 1e6; }

}  // namespace

Answer AnswerOf(const DoctorAnswer& answer) {
  Json findings = Json::array(), nodes = Json::array();
  for (const Finding& finding : answer.findings) findings.push_back(FieldsAsJson(finding));
  for (const Examined& node : answer.nodes) {
    Json rails = Json::array();
    for (const RailFacts& rail : node.report.rails) rails.push_back(FieldsAsJson(rail));
    nodes.push_back({{"address", node.address}, {"role", node.report.role}, {"rails", rails}});
  }
  Json clock;
  if (answer.clock.has_value()) {
    clock = {{"worker_ahead_ms", Milliseconds(answer.clock->offset_ns)},
             {"uncertainty_ms", Milliseconds(answer.clock->uncertainty_ns)}};
  }
  const Json out = {{"findings", findings}, {"nodes", nodes}, {"clock", clock}};
  return {Dump(out)};
}

std::vector<Table> TablesOf(const DoctorAnswer& answer) {
  std::vector<Table> tables;
  for (const Examined& node : answer.nodes) {
    if (!node.report.rails.empty()) tables.push_back(RailsOf(node));
  }
  if (answer.clock.has_value()) {
    tables.push_back({.heads = {absl::StrFormat("CLOCK OF THE WORKER %+.3f ms ± %.3f",
                                                Milliseconds(answer.clock->offset_ns),
                                                Milliseconds(answer.clock->uncertainty_ns))}});
  }
  tables.push_back(FindingsOf(answer.findings));
  return tables;
}

int ExitStatusOf(const DoctorAnswer& answer) {
  const auto worst = doctor::WorstOf(answer.findings);
  if (worst == Severity::kError) return 11;
  return worst == Severity::kWarning ? 10 : 0;
}

}  // namespace tapedeck::services::tapectl
