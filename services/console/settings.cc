#include "services/console/settings.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "dataplane/reason.h"
#include "dataplane/status_macros.h"
#include "services/base/addresses/listen_address.h"
#include "services/base/addresses/node_name.h"
#include "services/rpc/identity/tls/settings.h"

namespace tapedeck::services::console {
namespace {

constexpr size_t kMaxNameBytes = 63;

bool IsNameCharacter(char character) {
  return absl::ascii_isalnum(static_cast<unsigned char>(character)) ||
         absl::string_view("._-").find(character) != absl::string_view::npos;
}

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kMaxNameBytes && name != "." && name != ".." &&
         std::ranges::all_of(name, IsNameCharacter);
}

}  // namespace

void AddOptions(const command_line::Command& node, Settings& settings) {
  const auto listen =
      node.AddOption("--console", settings.listen,
                     "HOST:PORT of the console (web page and JSON calls), e.g. 127.0.0.1:7480; "
                     "HTTPS if certificates are given; default none")
          .Check(CheckListenAddress);
  node.AddOption(
          "--console-worker", settings.workers,
          "NAME=HOST:PORT of a worker that the console shows; repeat it for more, at most 16")
      .Check([](const std::string& text) { return ParseWorker(text).status(); })
      .Needs(listen);
}

absl::StatusOr<Worker> ParseWorker(const std::string& text) {
  const size_t end = text.find('=');
  const std::string name = text.substr(0, end);
  if (end == std::string::npos || !IsName(name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--console-worker ", dataplane::Printable(text, 128),
                     ": expected NAME=HOST:PORT with a name of 1 to ", kMaxNameBytes,
                     " of A-Z, a-z, 0-9, dot, dash and underscore"));
  }
  Worker worker{.name = name, .address = text.substr(end + 1)};
  const absl::Status address = naming::CheckNodeName(worker.address);
  if (!address.ok()) {
    return dataplane::Prefixed(absl::StrCat("--console-worker ", name, ": "), address);
  }
  return worker;
}

absl::Status CheckOptions(const Settings& settings, const identity::Settings& identity) {
  if (settings.workers.size() > kMaxWorkers) {
    return absl::InvalidArgumentError(absl::StrCat("--console-worker: ", settings.workers.size(),
                                                   " are given, at most ", kMaxWorkers,
                                                   " are allowed"));
  }
  std::set<std::string> names;
  for (const std::string& text : settings.workers) {
    TD_ASSIGN_OR_RETURN(const Worker worker, ParseWorker(text));
    if (!names.insert(worker.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("--console-worker: two have the name ", worker.name));
    }
  }
  if (settings.listen.empty()) return absl::OkStatus();
  const absl::Status plain = identity::CheckPlainText(settings.listen, identity);
  return plain.ok() ? plain : dataplane::Prefixed("--console: ", plain);
}

}  // namespace tapedeck::services::console
