#include "services/tapectl/nodes/looks.h"

#include <unistd.h>

#include <iostream>

#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "services/site/units.h"
#include "services/tapectl/terminal/keys.h"
#include "services/tapectl/terminal/screen.h"

namespace tapedeck::services::tapectl {

void AddLookOptions(Command command, LookOptions& options) {
  command.AddParsed("--every", options.every_ns, ParseDurationNs,
                    "Interval between updates, e.g. 500ms; default 1s");
  command.AddParsed("--count", options.count, ParseCount,
                    "Number of updates; default until q or Ctrl-C");
}

absl::Status LookAgain(const Program& program, const LookOptions& options,
                       const std::function<absl::StatusOr<std::string>()>& look) {
  Screen screen(std::cout, TakesEscapes(STDOUT_FILENO));
  Keys keys;
  absl::Status last;
  for (uint64_t looks = 0; options.count == 0 || looks < options.count; ++looks) {
    if (looks > 0 && !keys.Wait(absl::Nanoseconds(options.every_ns))) return absl::OkStatus();
    const absl::StatusOr<std::string> seen = look();
    last = seen.status();
    const bool passes = absl::IsUnavailable(last) || absl::IsDeadlineExceeded(last);
    if (!last.ok() && (looks == 0 || !passes)) return last;
    screen.Show(last.ok() ? *seen : absl::StrCat(dataplane::Printable(last.message()), "\n"),
                program.json() ? Size{} : SizeOfStdout());
  }
  return last;
}

}  // namespace tapedeck::services::tapectl
