// What the doctor's command says, as JSON and as tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/observe/doctor/doctor.h"
#include "services/observe/doctor/pair/report.h"
#include "services/tapectl/program/answer.h"
#include "services/tapectl/program/program.h"

namespace tapedeck::services::tapectl {

// One node.
struct Examined {
  std::string address;
  std::vector<doctor::PeerRail> rails;  // as the other reaches them
  doctor::pair::NodeReport report;
  doctor::Findings findings;
};

struct DoctorAnswer {
  std::vector<Examined> nodes;
  doctor::Findings findings;                       // of all, the worst first
  std::optional<doctor::pair::ClockOffset> clock;  // of the worker against the storage node
};

// {findings: [{code, severity, node, what, why, fix}], nodes: [{address, role, rails}], clock}
Answer AnswerOf(const DoctorAnswer& answer);
std::vector<Table> TablesOf(const DoctorAnswer& answer);

// 0: nothing, or notes; 10: warnings; 11: errors.
int ExitStatusOf(const DoctorAnswer& answer);

}  // namespace tapedeck::services::tapectl
