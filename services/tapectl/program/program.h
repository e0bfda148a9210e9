// What the commands of one run of tapectl share: where the nodes are, and how to answer.
#pragma once

#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "services/rpc/identity/tls/tls_files.h"
#include "services/site/nodes.h"
#include "services/tapectl/program/answer.h"

namespace tapedeck::services::tapectl {

using Row = std::vector<std::string>;

struct Table {
  Row heads;
  std::vector<Row> rows;
  // Heads of the columns that a narrow terminal can do without, the first to go first.
  Row optional = {};
};

// The tables with an empty line between them. Names are short where their columns hold names alone,
// as l0/c0/ID. Where `columns` is not 0, optional columns are left out until each line fits; then
// the last column is broken into lines.
std::string TextOf(const std::vector<Table>& tables, size_t columns = 0);

// Filled by the command line, then used by the one command that was given. One thread.
struct Program : Nodes {
  std::string output = "table";
  bool wide = false;     // tables may be wider than the terminal
  std::string profiles;  // the file of them; empty: none is known
  std::string state;     // the folder of what is to go on later; empty: none is known

  identity::TlsFiles tls_files;  // none: plain text

  // Set by the command; `what` leads its error line.
  std::string what;
  std::function<absl::Status(Program&)> run;
  // Of the process, where the command succeeded.
  int exit_status = 0;
  // Whether `run` has printed its failure as part of its JSON object.
  bool failure_printed = false;

  // Where answers go.
  std::ostream* out = &std::cout;

  bool json() const { return output != "table"; }  // or lines of it
  // --timeout, or 30 days, of a whole job.
  absl::Duration job_timeout() const;

  // On stdout: the answer, or the rows under their heads.
  void Print(const Answer& answer, const Row& heads, const std::vector<Row>& rows,
             const Row& optional = {}) const;
  // On stdout: the answer, or the tables with an empty line between them.
  void Print(const Answer& answer, const std::vector<Table>& tables) const;
  // On stdout: the answer, or the lines. What is not printable in them, or in a table, is shown as
  // \xNN: nodes wrote some of it.
  void Print(const Answer& answer, const std::string& text) const;
  // On stdout: the answer, or what is drawn with colours.
  void PrintDrawn(const Answer& answer, const std::string& text) const;

 private:
  void Write(const Answer& answer, const std::string& text) const;
};

// Whether the command that was given may ask storage nodes.
bool AsksStorage(const Program& program);

// INVALID_ARGUMENT: --storage names several nodes, and the command that was given is about one.
absl::Status CheckSeveral(const Program& program);

}  // namespace tapedeck::services::tapectl
