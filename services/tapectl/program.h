// What the commands of one run of tapectl share: where the nodes are, and how to answer.
#pragma once

#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "services/client/call_time.h"
#include "services/client/catalog_client.h"
#include "services/client/inlet_client.h"
#include "services/client/jobs_client.h"
#include "services/client/recorder_client.h"
#include "services/client/view_client.h"
#include "services/identity/tls_files.h"
#include "services/tapectl/answer.h"
#include "services/telemetry/trace/span.h"

namespace tapedeck::services::tapectl {

using Row = std::vector<std::string>;

struct Table {
  Row heads;
  std::vector<Row> rows;
};

// The tables with an empty line between them.
std::string TextOf(const std::vector<Table>& tables);

// Filled by the command line, then used by the one command that was given. One thread.
struct Program {
  std::string storage = "localhost:7400";
  std::string worker = "localhost:7500";
  std::string output = "table";
  std::string profiles;  // the file of them; empty: none is known
  std::string state;     // the folder of what is to go on later; empty: none is known
  std::string timeout;   // empty: the default of call_time for a call, none for a whole job

  identity::TlsFiles tls_files;  // none: plain text

  telemetry::trace::Branch trace;   // what the command is part of
  client::Credentials credentials;  // of the files

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
  // --timeout, or 60 s.
  absl::Duration call_timeout() const;
  // --timeout, or 10 minutes, of which the node shows no sign of life for 60 s at most.
  client::CallTime call_time() const;
  absl::Duration job_timeout() const;

  std::unique_ptr<client::CatalogClient> Catalog() const;
  std::unique_ptr<client::JobsClient> Jobs() const;
  std::unique_ptr<client::InletClient> Inlets() const;
  std::unique_ptr<client::RecorderClient> Recorder() const;
  std::unique_ptr<client::ViewClient> View() const;

  // On stdout: the answer, or the rows under their heads.
  void Print(const Answer& answer, const Row& heads, const std::vector<Row>& rows) const;
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

}  // namespace tapedeck::services::tapectl
