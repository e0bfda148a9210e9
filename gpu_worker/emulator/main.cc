// tapedeck-emulator: stands for a device that sends samples over the network.
#include <signal.h>

#include <atomic>
#include <iostream>
#include <memory>

#include "dataplane/clock.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/emulator/packet_maker.h"
#include "gpu_worker/emulator/sender.h"
#include "gpu_worker/emulator/settings.h"
#include "gpu_worker/emulator/target.h"

namespace tapedeck::gpu_worker::emulator {
namespace {

std::vector<Retune> TunedBy(const Settings& settings) {
  const Plan& plan = settings.send.plan;
  if (settings.packets == PacketKind::kNumbered) return {};
  return PlanRetunes(plan.samples, settings.retunes, plan.seed);
}

std::unique_ptr<PacketMaker> MakerOf(const Settings& settings, const std::vector<Retune>& tuned) {
  if (settings.packets == PacketKind::kNumbered) {
    return CreateNumbered({.stream = settings.stream, .first_number = settings.first_number});
  }
  const auto now_ns = static_cast<uint64_t>(dataplane::SystemClock().WallNs());
  return CreateVita49({.stream = settings.stream,
                       .sample_bytes = settings.send.plan.sample_bytes,
                       .sample_rate = settings.sample_rate,
                       .begin_ns = static_cast<int64_t>(settings.begin_ns.value_or(now_ns)),
                       .tuned = tuned});
}

std::atomic<bool> stop = false;

// SIGINT and SIGTERM end the stream as its duration would, and the answer is given.
void StopAtSignals() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop = true; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

absl::Status Send(Settings settings) {
  StopAtSignals();
  settings.send.stop = &stop;
  const std::vector<Retune> tuned = TunedBy(settings);
  const auto maker = MakerOf(settings, tuned);
  TD_ASSIGN_OR_RETURN(Target target, Target::Connect(settings.transport, settings.address));
  TD_ASSIGN_OR_RETURN(const Sent sent, SendAll(settings.send, *maker, target));
  std::cout << TextOf(sent, settings.send.plan.sample_bytes, tuned) << std::endl;
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
