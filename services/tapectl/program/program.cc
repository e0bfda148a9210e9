#include "services/tapectl/program/program.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "dataplane/printable.h"
#include "services/base/errors.h"
#include "services/model/recording/treatment.h"
#include "services/site/several_nodes.h"
#include "services/site/units.h"

namespace tapedeck::services::tapectl {
namespace {

// A call needs a deadline; no job lasts this long without being cancelled.
constexpr absl::Duration kJobTimeout = absl::Hours(24 * 30);

std::string Line(const Row& row, const std::vector<size_t>& widths) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    absl::StrAppend(&line, row[i], std::string(widths[i] - row[i].size() + 2, ' '));
  }
  return std::string(absl::StripTrailingAsciiWhitespace(line));
}

// Whatever a cell says, it is one, and commands no terminal.
Row Shown(const Row& row) {
  Row shown;
  for (const std::string& cell : row) shown.push_back(dataplane::Printable(cell));
  return shown;
}

std::string TextOf(const Table& table) {
  std::vector<Row> rows;
  for (const Row& row : table.rows) rows.push_back(Shown(row));
  std::vector<size_t> widths(table.heads.size());
  const auto widen = [&widths](const Row& row) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  };
  widen(table.heads);
  std::ranges::for_each(rows, widen);
  std::string text = absl::StrCat(Line(table.heads, widths), "\n");
  for (const Row& row : rows) absl::StrAppend(&text, Line(row, widths), "\n");
  return text;
}

// Commands about several nodes, and those about recordings in parts.
std::vector<absl::string_view> TakeSeveral() {
  std::vector<absl::string_view> commands = {"record", "nodes"};
  for (const auto& [use, command] : model::EnumNames<model::Use>::kTable) {
    if (model::TreatmentOf(use, model::Kind::kParts).several) commands.push_back(command);
  }
  return commands;
}

// The same as the first words.
constexpr std::array<absl::string_view, 6> kAskNoStorage = {"jobs",  "profiles", "completion",
                                                            "kinds", "manual",   "receive"};

}  // namespace

std::string TextOf(const std::vector<Table>& tables) {
  std::string text;
  for (const Table& table : tables) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", TextOf(table));
  }
  return text;
}

// The option has been checked when it was read.
absl::Duration Program::job_timeout() const {
  return timeout.empty() ? kJobTimeout : absl::Nanoseconds(*ParseDurationNs(timeout));
}

void Program::Print(const Answer& answer, const Row& heads, const std::vector<Row>& rows) const {
  Print(answer, std::vector<Table>{{heads, rows}});
}

void Program::Print(const Answer& answer, const std::vector<Table>& tables) const {
  Write(answer, TextOf(tables));
}

void Program::Print(const Answer& answer, const std::string& text) const {
  std::string shown;
  for (const absl::string_view part : absl::StrSplit(text, '\n')) {
    absl::StrAppend(&shown, dataplane::Printable(part), "\n");
  }
  Write(answer, shown);
}

void Program::PrintDrawn(const Answer& answer, const std::string& text) const {
  Write(answer, text + "\n");
}

void Program::Write(const Answer& answer, const std::string& text) const {
  if (!json()) {
    *out << text;
  } else if (output == "json" || !answer.items.has_value()) {
    *out << answer.json << "\n";
  } else {
    for (const std::string& item : *answer.items) *out << item << "\n";
  }
  *out << std::flush;
}

bool AsksStorage(const Program& program) {
  const auto begins = [&](absl::string_view word) { return absl::StartsWith(program.what, word); };
  return std::ranges::none_of(kAskNoStorage, begins);
}

absl::Status CheckSeveral(const Program& program) {
  if (!NamesSeveral(program) || !AsksStorage(program)) return absl::OkStatus();
  const std::vector<absl::string_view> several = TakeSeveral();
  if (std::ranges::find(several, program.what) != several.end()) return absl::OkStatus();
  return ArgumentInvalid("storage", absl::StrCat("--storage ", program.storage,
                                                 ": this command is about one node; several take ",
                                                 absl::StrJoin(several, ", ")));
}

}  // namespace tapedeck::services::tapectl
