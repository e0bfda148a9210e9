#include "services/tapectl/program/program.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <ostream>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "dataplane/printable.h"
#include "services/base/command_line/columns.h"
#include "services/base/command_line/help.h"
#include "services/base/errors.h"
#include "services/model/recording/treatment.h"
#include "services/site/names.h"
#include "services/site/several_nodes.h"
#include "services/site/units.h"
#include "services/tapectl/terminal/screen.h"

namespace tapedeck::services::tapectl {
namespace {

// A call needs a deadline; no job lasts this long without being cancelled.
constexpr absl::Duration kJobTimeout = absl::Hours(24 * 30);

size_t WidthOf(const std::string& cell) {
  return static_cast<size_t>(command_line::ColumnsOf(cell));
}

// What is left of a line for its last cell, for that to be broken into several lines.
constexpr size_t kLeastRoom = 12;

// The last cell goes on below itself where the line would be longer than `columns`, if not 0.
std::string Line(const Row& row, const std::vector<size_t>& widths, size_t columns) {
  std::string line;
  size_t at = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const size_t width = WidthOf(row[i]);
    const bool breaks =
        i + 1 == row.size() && at + width > columns && columns >= at + std::min(kLeastRoom, width);
    if (breaks) {
      const int indent = static_cast<int>(at);
      return line + command_line::Wrapped(row[i], indent, indent, static_cast<int>(columns));
    }
    absl::StrAppend(&line, row[i], std::string(widths[i] - width + 2, ' '));
    at += widths[i] + 2;
  }
  return std::string(absl::StripTrailingAsciiWhitespace(line));
}

// Heads of the columns that hold names; what users write stands in others.
constexpr std::array<absl::string_view, 3> kNameHeads = {"NAME", "LUN", "RECORDING"};

// Whatever a cell says, it is one, and commands no terminal.
Row Shown(const Row& row, const Row& heads) {
  Row shown;
  for (size_t i = 0; i < row.size(); ++i) {
    const bool is_name =
        i < heads.size() && std::ranges::find(kNameHeads, heads[i]) != kNameHeads.end();
    shown.push_back(dataplane::Printable(is_name ? ShortName(row[i]) : row[i]));
  }
  return shown;
}

void Drop(size_t column, Table* table) {
  const auto erase = [column](Row& row) {
    if (column < row.size()) row.erase(row.begin() + static_cast<ptrdiff_t>(column));
  };
  erase(table->heads);
  std::ranges::for_each(table->rows, erase);
}

std::vector<size_t> WidthsOf(const Table& table) {
  std::vector<size_t> widths(table.heads.size());
  const auto widen = [&widths](const Row& row) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  };
  widen(table.heads);
  std::ranges::for_each(table.rows, widen);
  return widths;
}

// The rows are as they will be shown. 0 columns: as wide as it is.
void FitTo(size_t columns, Table* table) {
  for (const std::string& head : table->optional) {
    const std::vector<size_t> widths = WidthsOf(*table);
    const size_t wide = std::accumulate(widths.begin(), widths.end(), 2 * (widths.size() - 1));
    if (columns == 0 || wide <= columns) return;
    const auto at = std::ranges::find(table->heads, head);
    if (at != table->heads.end()) Drop(static_cast<size_t>(at - table->heads.begin()), table);
  }
}

std::string TextOf(Table table, size_t columns) {
  for (Row& row : table.rows) row = Shown(row, table.heads);
  FitTo(columns, &table);
  const std::vector<size_t> widths = WidthsOf(table);
  std::string text = absl::StrCat(Line(table.heads, widths, columns), "\n");
  for (const Row& row : table.rows) absl::StrAppend(&text, Line(row, widths, columns), "\n");
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
constexpr std::array<absl::string_view, 8> kAskNoStorage = {
    "jobs", "profiles", "completion", "kinds", "manual", "receive", "help", "version"};

}  // namespace

std::string TextOf(const std::vector<Table>& tables, size_t columns) {
  std::string text;
  for (const Table& table : tables) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", TextOf(table, columns));
  }
  return text;
}

// The option has been checked when it was read.
absl::Duration Program::job_timeout() const {
  return timeout.empty() ? kJobTimeout : absl::Nanoseconds(*ParseDurationNs(timeout));
}

void Program::Print(const Answer& answer, const Row& heads, const std::vector<Row>& rows,
                    const Row& optional) const {
  Print(answer, std::vector<Table>{{heads, rows, optional}});
}

void Program::Print(const Answer& answer, const std::vector<Table>& tables) const {
  Write(answer, TextOf(tables, wide ? 0 : static_cast<size_t>(SizeOfStdout().columns)));
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
  return ArgumentInvalid("storage",
                         absl::StrCat("--storage ", program.storage,
                                      ": this command takes one node; these take several: ",
                                      absl::StrJoin(several, ", ")));
}

}  // namespace tapedeck::services::tapectl
