#include "gpu_worker/emulator/settings.h"

#include "absl/strings/str_cat.h"
#include "services/base/command_line/command_line.h"
#include "services/base/command_line/units.h"
#include "services/base/version.h"

namespace tapedeck::gpu_worker::emulator {

using services::command_line::Command;
using services::command_line::CommandLine;
using services::command_line::Option;

namespace {

constexpr char kProgram[] = "tapedeck-emulator";

// A datagram has no more, with 28 bytes of a header; samples are written in words of 8.
constexpr size_t kMostPacketBytes = 65'472;
// More than any recording has room for.
constexpr uint64_t kMostRetunes = 10'000;
constexpr int kMillion = 1'000'000;
// By UDP the end of a stream may get lost, too.
constexpr int kEndsByUdp = 3;

struct Addresses {
  std::string udp;
  std::string tcp;
};

void AddTarget(Command program, Addresses& addresses, Settings& settings) {
  const Option udp = program.AddOption("--udp", addresses.udp, "HOST:PORT to send datagrams to");
  program.AddOption("--tcp", addresses.tcp, "HOST:PORT to connect to instead").Excludes(udp);
  program.AddOption("--stream", settings.stream, "Number of the stream in each packet")
      .ShowDefault();
}

void AddKind(Command program, Settings& settings) {
  program
      .AddChoice<PacketKind>("--packets", settings.packets,
                             {{"numbered", PacketKind::kNumbered}, {"vita49", PacketKind::kVita49}},
                             "Kind of packets: numbered ones, or those of VITA 49.2")
      .ShowDefault();
  program
      .AddOption("--first-number", settings.first_number,
                 "numbered: number of the first packet; after 4294967295 comes 0")
      .ShowDefault();
  program
      .AddOption("--sample-rate", settings.sample_rate,
                 "vita49: samples per second, by the times in the packets")
      .ShowDefault();
  program.AddOption(
      "--begin-ns", settings.begin_ns,
      "vita49: when the first sample was taken, ns since 1970 UTC; default the start of sending");
  program.AddOption("--retunes", settings.retunes,
                    "vita49: number of frequency changes, each at any sample; needs --count");
}

void AddAmount(Command program, SendSettings& send) {
  const Option count =
      program.AddOption("--count", send.plan.samples, "Stop after this many samples");
  program
      .AddParsed("--duration", send.duration_ns, services::command_line::ParseDurationNs,
                 "Stop after this time, e.g. 10s")
      .Excludes(count);
  program.AddParsed("--rate", send.bytes_per_s, services::command_line::ParseBytes,
                    "Bytes of samples per second, e.g. 500MB; default unlimited");
  program.AddOption("--sample-bytes", send.plan.sample_bytes, "Bytes of one sample, 1 to 16")
      .ShowDefault();
  program
      .AddOption("--packet-bytes", send.plan.packet_bytes,
                 "Bytes of samples in a packet: whole samples, and a multiple of 8")
      .ShowDefault();
}

void AddFaults(Command program, Plan& plan) {
  const auto fault = [&](const char* name, uint64_t& of_a_million, const char* help) {
    program.AddOption(name, of_a_million, absl::StrCat(help, ", of a million packets"));
  };
  fault("--drop", plan.drop, "Losses that begin");
  program.AddOption("--drop-run", plan.drop_run, "Packets of one loss").ShowDefault();
  fault("--repeat", plan.repeat, "Packets to send twice");
  fault("--reorder", plan.reorder, "Packets to send after the next one");
  program.AddOption("--seed", plan.seed, "Seed that chooses these packets").ShowDefault();
}

// Empty: it can be done.
std::string KindComplaint(const Settings& settings) {
  const Plan& plan = settings.send.plan;
  if (settings.packets == PacketKind::kNumbered) {
    return settings.retunes == 0 ? "" : "--retunes needs --packets vita49";
  }
  if (settings.retunes > kMostRetunes) return absl::StrCat("--retunes: at most ", kMostRetunes);
  if (settings.retunes > 0 && settings.retunes >= plan.samples) {
    return "--retunes needs a --count of more samples";
  }
  if (CreateVita49({.sample_bytes = plan.sample_bytes, .sample_rate = settings.sample_rate}) ==
      nullptr) {
    return "--packets vita49 needs --sample-bytes 1, 2, 4, 8 or 16, and a --sample-rate from 0.001 "
           "to 1e11";
  }
  return "";
}

// Empty: it can be done.
std::string Complaint(const Addresses& addresses, const SendSettings& send) {
  const Plan& plan = send.plan;
  if (addresses.udp.empty() == addresses.tcp.empty()) return "--udp or --tcp is required";
  if (plan.samples == 0 && send.duration_ns == 0) return "--count or --duration is required";
  if (plan.sample_bytes < 1 || plan.sample_bytes > 16) return "--sample-bytes must be 1 to 16";
  if (plan.packet_bytes == 0 || plan.packet_bytes > kMostPacketBytes ||
      plan.packet_bytes % 8 != 0 || plan.packet_bytes % plan.sample_bytes != 0) {
    return absl::StrCat("--packet-bytes must be whole samples, a multiple of 8, and at most ",
                        kMostPacketBytes);
  }
  for (const uint64_t fault : {plan.drop, plan.repeat, plan.reorder}) {
    if (fault > kMillion) return "--drop, --repeat and --reorder take at most 1000000";
  }
  return "";
}

}  // namespace

std::optional<Settings> ParseSettings(int argc, char** argv, int* exit_status) {
  Settings settings;
  Addresses addresses;
  CommandLine line({.name = kProgram,
                    .purpose = "Sends a stream of samples in packets to the source ingest of a "
                               "worker. Prints in JSON the samples sent, the packets left out and "
                               "the tuning. Never leaves out vita49 packets with the tuning.",
                    .version = services::kVersion,
                    .one_line_errors = true});
  AddTarget(line.program(), addresses, settings);
  AddKind(line.program(), settings);
  AddAmount(line.program(), settings.send);
  AddFaults(line.program(), settings.send.plan);
  if (const auto ended = line.Parse(argc, argv); ended.has_value()) {
    *exit_status = *ended;
    return std::nullopt;
  }
  std::string wrong = Complaint(addresses, settings.send);
  if (wrong.empty()) wrong = KindComplaint(settings);
  if (!wrong.empty()) {
    *exit_status = line.Refuse(wrong);
    return std::nullopt;
  }
  const bool udp = addresses.tcp.empty();
  settings.transport = udp ? Target::Transport::kUdp : Target::Transport::kTcp;
  settings.address = udp ? addresses.udp : addresses.tcp;
  settings.send.ends = udp ? kEndsByUdp : 1;
  return settings;
}

}  // namespace tapedeck::gpu_worker::emulator
