// tapedeck-log-notary HOST:PORT DEVICE: asks a storage node over and over what it has, and puts
// what is new as marks (ledger.h) into the log of a dm-log-writes device: within milliseconds,
// since one flush later a promise made too early would be true. Prints each mark once it is there.
// Runs until it is killed.
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "dataplane/status_macros.h"
#include "services/model/words/names.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/client/catalog_client.h"
#include "storage_node/disk/fd.h"

namespace tapedeck::lab {
namespace {

constexpr char kControl[] = "/dev/mapper/control";
constexpr absl::Duration kPause = absl::Milliseconds(3);
// A node that was killed is tried again from a fresh connection.
constexpr absl::Duration kPauseWithoutNode = absl::Milliseconds(50);

// As `dmsetup message DEVICE 0 mark TEXT`.
absl::Status Mark(const storage_node::disk::Fd& control, const std::string& device,
                  const std::string& text) {
  const std::string message = absl::StrCat("mark ", text);
  const size_t bytes = sizeof(dm_ioctl) + sizeof(dm_target_msg) + message.size() + 1;
  std::vector<uint64_t> memory(bytes / sizeof(uint64_t) + 1);
  auto* request = reinterpret_cast<dm_ioctl*>(memory.data());
  request->version[0] = DM_VERSION_MAJOR;
  request->data_size = static_cast<uint32_t>(memory.size() * sizeof(uint64_t));
  request->data_start = sizeof(dm_ioctl);
  std::strncpy(request->name, device.c_str(), sizeof(request->name) - 1);
  auto* target = reinterpret_cast<dm_target_msg*>(request + 1);
  std::copy(message.begin(), message.end(), target->message);
  if (ioctl(control.get(), DM_TARGET_MSG, request) == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("DM_TARGET_MSG ", device, ": ", std::strerror(errno)));
}

absl::Status Run(const std::string& node, const std::string& device) {
  TD_ASSIGN_OR_RETURN(const auto control, storage_node::disk::Open(kControl, O_RDWR, kControl));
  std::map<std::string, std::string> said;
  std::unique_ptr<services::client::CatalogClient> catalog;
  while (true) {
    if (catalog == nullptr) {
      catalog = std::make_unique<services::client::CatalogClient>(
          services::client::MakeChannel(node), absl::Seconds(5));
    }
    const auto recordings = catalog->ListRecordings("luns/-/channels/-");
    if (!recordings.ok()) {
      catalog = nullptr;
      absl::SleepFor(kPauseWithoutNode);
      continue;
    }
    for (const services::Recording& recording : *recordings) {
      const bool open = recording.state == services::RecordingState::kRecording;
      const std::string text =
          absl::StrCat("at:", recording.name, ":", services::model::NameOf(recording.state), ":",
                       open ? 0 : recording.blocks, ":", recording.durable_watermark);
      if (std::exchange(said[recording.name], text) == text) continue;
      TD_RETURN_IF_ERROR(Mark(control, device, text));
      std::puts(text.c_str());
    }
    absl::SleepFor(kPause);
  }
}

}  // namespace
}  // namespace tapedeck::lab

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: tapedeck-log-notary HOST:PORT DEVICE\n", stderr);
    return 2;
  }
  setlinebuf(stdout);
  const absl::Status status = tapedeck::lab::Run(argv[1], argv[2]);
  std::fprintf(stderr, "tapedeck-log-notary: %s\n", status.ToString().c_str());
  return 1;
}
