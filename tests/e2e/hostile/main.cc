// hostile NODE CHANNEL RECORDING SECONDS ADDRESS:PORT...: attacks the storage node at NODE in every
// way at once for so long, or up to six times as long until each has begun, says "quiet" and then
// nothing more, with all it has still open, until it is ended. CHANNEL is luns/L/channels/C where
// C-a to C-d exist, RECORDING has blocks, the addresses are those of rails.
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "tests/e2e/hostile/attack.h"
#include "tests/e2e/hostile/raw_session.h"

namespace tapedeck::hostile {

void Target::StayQuiet() const {
  while (quiet && !stop) std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

std::shared_ptr<grpc::Channel> Connect(const Target& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(target.node, grpc::InsecureChannelCredentials(), arguments);
}

void Tally::Print() const {
  std::printf("%s %llu\n", name_, static_cast<unsigned long long>(count_.load()));
}

namespace {

std::vector<std::string> addresses;

struct NamedAttack {
  const char* name;
  Attack attack;
};

const std::vector<NamedAttack>& Attacks() {
  static const std::vector<NamedAttack> attacks = {{"duplicates", FloodDuplicates},
                                                   {"announcements", FloodAnnouncements},
                                                   {"grants", FloodGrants},
                                                   {"offers", FloodOffers},
                                                   {"idle sessions", IdleOnNothing},
                                                   {"streams", OpenStreams},
                                                   {"calls", FloodCalls},
                                                   {"sockets", OpenSockets}};
  return attacks;
}

bool AllHaveBegun(const std::deque<Tally>& tallies) {
  return std::ranges::all_of(tallies, [](const Tally& tally) { return tally.begun(); });
}

int Main(int argc, char** argv) {
  if (argc < 6) return 2;
  Target target{.node = argv[1], .channel = argv[2], .recording = argv[3]};
  const int seconds = std::atoi(argv[4]);
  addresses.assign(argv + 5, argv + argc);
  addresses.push_back(target.node);
  std::deque<Tally> tallies;
  std::deque<std::thread> threads;
  const char* only = std::getenv("HOSTILE_ONLY");
  for (const auto& [name, attack] : Attacks()) {
    if (only != nullptr && std::string(only).find(name) == std::string::npos) continue;
    Tally& tally = tallies.emplace_back(name);
    threads.emplace_back([&target, &tally, &attack = attack] { attack(target, tally); });
  }
  for (int second = 0; second < seconds || (second < 6 * seconds && !AllHaveBegun(tallies));
       ++second) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  target.quiet = true;
  for (const Tally& tally : tallies) tally.Print();
  std::printf("quiet\n");
  std::fflush(stdout);
  // A stranger that goes leaves its connections to the kernel.
  pause();
  return 0;
}

}  // namespace

// Connections that never say a word.
void OpenSockets(Target& target, Tally& tally) {
  std::deque<int> sockets;
  for (size_t i = 0; target.goes_on(); ++i) {
    const std::string& address = addresses[i % addresses.size()];
    const size_t colon = address.rfind(':');
    sockets.push_back(DialTcp(address.substr(0, colon),
                              static_cast<uint16_t>(std::atoi(address.c_str() + colon + 1))));
    tally.Count();
    if (sockets.size() > 400) {
      if (sockets.front() >= 0) close(sockets.front());
      sockets.pop_front();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  target.StayQuiet();
}

}  // namespace tapedeck::hostile

int main(int argc, char** argv) { return tapedeck::hostile::Main(argc, argv); }
