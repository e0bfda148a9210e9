// What every attack of the hostile client knows: whom it attacks, and whether it shall go on.
#pragma once

#include <grpcpp/channel.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace tapedeck::hostile {

// Shared by all attacks. Any thread.
struct Target {
  std::string node;     // HOST:PORT of the storage node
  std::string channel;  // luns/L/channels/C that sessions may record into; "-a", "-b" … is added
  std::string recording;            // with blocks, to play
  std::atomic<bool> quiet = false;  // nothing is said any more, and nothing closed
  std::atomic<bool> stop = false;

  bool goes_on() const { return !quiet && !stop; }
  // Keeps what is open open and silent until the process ends.
  void StayQuiet() const;
};

// A connection to the node that is no other's.
std::shared_ptr<grpc::Channel> Connect(const Target& target);

// How often something was done, by name; printed at the end.
class Tally {
 public:
  explicit Tally(const char* name) : name_(name) {}
  void Count(uint64_t n = 1) { count_ += n; }
  bool begun() const { return count_ > 0; }
  void Print() const;

 private:
  const char* const name_;
  std::atomic<uint64_t> count_ = 0;
};

using Attack = std::function<void(Target&, Tally&)>;

// Sessions that hold connections: duplicates, announcements, grants; each on a thread of its own.
void FloodDuplicates(Target& target, Tally& tally);
void FloodAnnouncements(Target& target, Tally& tally);
void FloodGrants(Target& target, Tally& tally);

// Sessions that have none.
void FloodOffers(Target& target, Tally& tally);
void IdleOnNothing(Target& target, Tally& tally);

// What needs no session.
void OpenStreams(Target& target, Tally& tally);
void FloodCalls(Target& target, Tally& tally);
void OpenSockets(Target& target, Tally& tally);

}  // namespace tapedeck::hostile
