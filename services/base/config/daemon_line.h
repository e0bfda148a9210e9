// The command line of a daemon whose options may also come from a file and from the environment:
// flag before environment before file before default. Adds --config, --check-config and
// --print-config. Used by the one thread that reads it; what it fills must live as long.
//
// Which options a file may have, and within what, is a message of config.proto: an option that has
// no field there is one of the line alone.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/base/command_line/command_line.h"
#include "services/base/faults.h"
#include "services/base/version.h"

namespace tapedeck::services::config {

struct Daemon {
  command_line::About about;
  NodeRole role;
  std::string variables;  // "TAPEDECK_STORAGE_": --follow-memory is TAPEDECK_STORAGE_FOLLOW_MEMORY
  // Options that have another variable of the environment besides, which counts before that one.
  std::map<std::string, std::string> more_variables = {};
};

class DaemonLine {
 public:
  explicit DaemonLine(Daemon daemon);
  ~DaemonLine();

  command_line::Command program() const { return line_.program(); }

  // Fills the variables. `check` looks at them all together, whether the daemon shall start or not;
  // `look` at all that they name, for --check-config alone. The status to end the process with if
  // help, version, a check or a print was asked for or something is wrong, which has then been
  // printed, each fault in a line.
  std::optional<int> Parse(int argc, char** argv, const std::function<Faults()>& check,
                           const std::function<Looked()>& look);

 private:
  absl::StatusOr<command_line::Substitutes> Open(const std::string& file);
  std::vector<command_line::Substitute> OfEnvironment(const std::string& option) const;
  std::vector<command_line::Substitute> Find(const std::string& option);
  // Prints all of them, each text once. The status to end the process with, if there is one.
  std::optional<int> Refuse(const Faults& faults) const;
  void PrintSound(const Looked& looked) const;
  // What all options hold, as YAML.
  absl::StatusOr<std::string> Effective() const;

  const Daemon daemon_;
  command_line::CommandLine line_;
  bool check_ = false;
  bool print_ = false;
  // Of the file, by option.
  std::map<std::string, std::vector<command_line::Substitute>> in_file_;
  // Where values stand that are not the line's, by option.
  std::map<std::string, std::vector<command_line::Substitute>> used_;
};

// The settings that `add` binds to options, as the line of `daemon` has filled them; `check` and
// `look` as of DaemonLine::Parse. Nothing: the process ends, with `exit_status`.
template <typename Settings, typename Add, typename Check, typename Look>
std::optional<Settings> ParseInto(Daemon daemon, int argc, char** argv, Add add, Check check,
                                  const Look& look, int* exit_status) {
  Settings settings;
  DaemonLine line(std::move(daemon));
  add(line.program(), settings);
  const std::optional<int> ended = line.Parse(
      argc, argv, [&] { return check(settings); }, [&] { return look(settings); });
  if (!ended.has_value()) return settings;
  *exit_status = *ended;
  return std::nullopt;
}

}  // namespace tapedeck::services::config
