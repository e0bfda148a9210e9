#include <iostream>
#include <sstream>
#include <utility>

#include "services/tapectl/nodes/looks.h"
#include "services/tapectl/program/lists.h"

namespace tapedeck::services::tapectl {
namespace {

struct WatchOptions : LookOptions {
  ListOptions list;
};

using List = absl::Status (*)(Program& program, const ListOptions& options);

// What the list prints goes to the screen.
absl::Status Watch(Program& program, const WatchOptions& options, List list) {
  return LookAgain(program, options, [&]() -> absl::StatusOr<std::string> {
    std::ostringstream text;
    program.out = &text;
    const absl::Status listed = list(program, options.list);
    program.out = &std::cout;
    // The nodes' list has its errors in it.
    if (!listed.ok() && text.str().empty()) return listed;
    return text.str();
  });
}

}  // namespace

void AddList(Command command, Program& program, const std::string& what, List list) {
  SetRun<ListOptions>(command, program, what, std::make_shared<ListOptions>(), list);
}

void AddWatchCommand(Command tapectl, Program& program) {
  const Command watch =
      tapectl.AddCommand("watch", "Watch a list; without a terminal, print only its changes");
  const auto add = [&](const std::string& noun, const std::string& help, List list) {
    auto options = std::make_shared<WatchOptions>();
    const Command command = watch.AddCommand(noun, help);
    AddLookOptions(command, *options);
    SetRun<WatchOptions>(
        command, program, "watch " + noun, options,
        [list](Program& self, const WatchOptions& given) { return Watch(self, given, list); });
    return std::pair(command, options);
  };
  add("lun", "Watch LUNs and their free space", ListLuns);
  const auto [channels, of_lun] = add("channel", "The channels", ListChannels);
  channels.AddOption("LUN", of_lun->list.of, "Only of this LUN");
  const auto [recordings, of_channel] =
      add("recordings", "Watch recordings, newest first", ListRecordings);
  AddListFilters(recordings, of_channel->list);
  add("jobs", "Watch jobs, newest first", ListJobs);
  add("nodes", "Watch the storage node and the worker", ListNodes);
}

}  // namespace tapedeck::services::tapectl
