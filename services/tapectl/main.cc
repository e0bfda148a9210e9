// tapectl: the command line of Tapedeck.
#include <iostream>
#include <optional>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/addresses/node_name.h"
#include "services/base/process/surroundings.h"
#include "services/base/trace/settings.h"
#include "services/base/version.h"
#include "services/rpc/grpc_process.h"
#include "services/rpc/identity/tls/settings.h"
#include "services/rpc/identity/tls/tls.h"
#include "services/rpc/otlp/tracing.h"
#include "services/site/node_lists.h"
#include "services/site/units.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/program/profiles.h"
#include "services/tapectl/program/program.h"
#include "services/tapectl/terminal/failure.h"
#include "services/tapectl/terminal/interrupt.h"

namespace tapedeck::services::tapectl {
namespace {

namespace trace = telemetry::trace;

void AddGlobalOptions(Command tapectl, Program& program) {
  program.profiles =
      ProfilesFile(trace::FromProcess("XDG_CONFIG_HOME"), trace::FromProcess("HOME"));
  program.state = StateFolder(trace::FromProcess("XDG_STATE_HOME"), trace::FromProcess("HOME"));
  tapectl.AddSubstitutes(
      "--profile", "TAPEDECK_PROFILE",
      [&program](const std::string& name) { return UseProfile(program.profiles, name); },
      "Profile of ~/.config/tapedeck/profiles.yaml, for options not on the line or in the "
      "environment; default the file's default, none: no profile");
  tapectl
      .AddOption("--storage", program.storage,
                 "HOST:PORT of the storage node. Several nodes: HOST:PORT,HOST:PORT, or a DNS "
                 "name: dns:///HOST:PORT, srv:_SERVICE._PROTO.NAME")
      .Check(CheckStorages)
      .FromEnvironment("TAPEDECK_STORAGE")
      .ShowDefault();
  tapectl.AddOption("--worker", program.worker, "HOST:PORT of the GPU worker")
      .Check(naming::CheckNodeName)
      .FromEnvironment("TAPEDECK_WORKER")
      .ShowDefault();
  tapectl
      .AddOption("-o,--output", program.output,
                 "table, json (one object) or jsonl (a line for each item of a list)")
      .OneOf({"table", "json", "jsonl"})
      .ShowDefault();
  tapectl.AddFlag("--wide", program.wide, "Show every column of a table, wider than the terminal");
  tapectl
      .AddOption("--timeout", program.timeout,
                 "Time limit of a call, e.g. 30s (default: 60s without a sign of life, at most 10 "
                 "minutes), or of a whole record, play or verify (default none)")
      .Check([](const std::string& text) { return ParseDurationNs(text).status(); });
  identity::AddTlsOptions(tapectl, program.tls_files, identity::Environment::kRead);
}

// Whoever reads the answer from a file must not take the half of it for the whole.
absl::Status FlushAnswer() {
  if (std::cout.flush().good()) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      "cannot write the whole answer to standard output: its disk is full, or it may not be "
      "written");
}

int Conclude(const Program& program, absl::Status status) {
  if (status.ok()) status = FlushAnswer();
  if (status.ok()) return program.exit_status;
  if (program.json() && !program.failure_printed) {
    *program.out << AnswerOf(status).json << std::endl;
  }
  std::cerr << FailureLine(program.what, status) << std::endl;
  return ExitCodeOf(status);
}

// The command as a span: of the trace that the environment names, or a new one.
absl::Status Run(Program& program) {
  if (AsksStorage(program)) TD_RETURN_IF_ERROR(ResolveStorages(program));
  TD_RETURN_IF_ERROR(CheckSeveral(program));
  const trace::Settings settings = trace::ReadSettings(trace::FromProcess, "tapectl");
  if (program.tls_files.given()) {
    TD_ASSIGN_OR_RETURN(program.credentials.tls, identity::Tls::Create(program.tls_files));
  }
  std::optional<telemetry::otlp::Tracing> tracing;
  {
    const NoInterrupts none;
    tracing.emplace(settings, telemetry::otlp::Life::kShort);
  }
  const trace::Branch branch{.tracer = tracing->tracer(),
                             .above = trace::ReadContext(trace::FromProcess)};
  trace::Span span = branch.Start(absl::StrCat("tapectl ", program.what));
  program.trace = span.branch();
  const absl::Status status = program.run(program);
  span.End(status);
  return status;
}

// The line that is parsed: as it was given, or for a completion as far as its own options count.
std::vector<std::string> LineOf(int argc, char** argv, const command_line::CommandLine& line,
                                command_line::Completion& completion) {
  const auto words = LineToComplete(argc, argv);
  if (!words.has_value()) return {argv, argv + argc};
  completion = line.Complete(*words);
  std::vector<std::string> out = {argv[0]};
  out.insert(out.end(), completion.of_program.begin(), completion.of_program.end());
  out.insert(out.end(), {"completion", "words"});
  return out;
}

int Main(int argc, char** argv) {
  PrepareSurroundings();
  identity::RefuseOldTls();
  command_line::CommandLine line({.name = "tapectl",
                                  .purpose = "Records GPU memory onto storage and plays it back.",
                                  .version = kVersion,
                                  .more = "tapectl help statuses shows the exit statuses.",
                                  .one_line_errors = true,
                                  .options_anywhere = true});
  const Command tapectl = line.program();
  Program program;
  AddGlobalOptions(tapectl, program);
  for (const auto add : kCommands) add(tapectl, program);
  command_line::Completion completion;
  AddCompletionCommand(tapectl, program, completion);
  AddManualCommand(tapectl, program, line);
  AddHelpCommands(tapectl, program, line);
  std::vector<std::string> words = LineOf(argc, argv, line, completion);
  if (const std::optional<int> ended = line.Parse(words); ended.has_value()) {
    program.exit_status = *ended;
    return Conclude(program, absl::OkStatus());
  }
  RouteGrpcLog();
  dataplane::SetLeastLogLevel(dataplane::LogLevel::kWarning);
  return Conclude(program, Run(program));
}

}  // namespace
}  // namespace tapedeck::services::tapectl

int main(int argc, char** argv) { return tapedeck::services::tapectl::Main(argc, argv); }
