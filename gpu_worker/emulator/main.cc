// tapedeck-emulator: stands for a device that sends samples over the network.
#include <iostream>

#include "dataplane/status_macros.h"
#include "gpu_worker/emulator/sender.h"
#include "gpu_worker/emulator/settings.h"
#include "gpu_worker/emulator/target.h"
#include "gpu_worker/packets/numbered/packet.h"

namespace tapedeck::gpu_worker::emulator {
namespace {

namespace numbered = packets::numbered;

HeaderKind Numbered(uint32_t stream, uint32_t first_number) {
  return {.bytes = numbered::kHeaderBytes,
          .write = [=](const HeaderKind::About& about, std::span<std::byte> out) {
            const auto header =
                numbered::Encode({.number = first_number + static_cast<uint32_t>(about.packet),
                                  .stream = stream,
                                  .samples_bytes = static_cast<uint16_t>(about.samples_bytes),
                                  .end = about.end});
            std::copy(header.begin(), header.end(), out.begin());
          }};
}

absl::Status Send(const Settings& settings) {
  TD_ASSIGN_OR_RETURN(Target target, Target::Connect(settings.transport, settings.address));
  TD_ASSIGN_OR_RETURN(
      const Sent sent,
      SendAll(settings.send, Numbered(settings.stream, settings.first_number), target));
  std::cout << TextOf(sent, settings.send.plan.sample_bytes) << std::endl;
  return absl::OkStatus();
}

}  // namespace
}  // namespace tapedeck::gpu_worker::emulator

int main(int argc, char** argv) {
  int exit_status = 0;
  const auto settings = tapedeck::gpu_worker::emulator::ParseSettings(argc, argv, &exit_status);
  if (!settings.has_value()) return exit_status;
  const absl::Status status = tapedeck::gpu_worker::emulator::Send(*settings);
  if (status.ok()) return 0;
  std::cerr << "tapedeck-emulator: " << status.message() << std::endl;
  return 1;
}
