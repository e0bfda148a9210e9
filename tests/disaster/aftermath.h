// A node that finds what a disaster has left: starts, attaches, rebuilds its catalog, applies
// policies, lists, verifies and plays.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/disaster/disasters.h"
#include "tests/disaster/history.h"

namespace tapedeck::disaster {

// What is not as it should be. Faults of one kind are likely to have one cause.
struct Fault {
  std::string kind;
  std::string detail;
  // Named, and whole: it could have been found.
  bool could_be_better = false;
};

struct Played {
  bool missing = false;
  uint32_t crc = 0;
};

// What the node says of a recording.
struct Told {
  uint64_t blocks = 0;
  bool closed = false;
  std::string trouble;         // an error of verification or playback, which names it
  std::set<uint64_t> damaged;  // as a verification says
  std::map<uint64_t, Played> played;
};

struct Aftermath {
  Image before, after;
  std::vector<std::string> foreign;  // paths
  std::vector<Fault> faults;         // those that were seen on the way
  std::string lun_state;             // empty: the node does not list it
  std::string lun_cause;             // or why it could not be attached
  std::string lun_description;
  uint64_t used_bytes = 0;
  std::map<std::string, Told> told;      // by ID
  std::set<std::string> gone_by_policy;  // rightly
  std::string log;
  std::vector<std::string> steps;
};

// In the history's world, which is written anew. The process should be one that ends soon: its
// stderr goes to a file, and its log counts lines.
Aftermath LiveThrough(const History& history, size_t at, const std::vector<Disaster>& disasters,
                      std::mt19937_64& random);

// What a recording takes of its LUN.
uint64_t FootprintOf(const Shape& shape, const ManifestText& manifest);

// The newest sound manifest of that recording.
std::optional<ManifestText> BestManifest(const Parts& parts, const Identity& identity);

// The number in a description such as v3.
int VersionOf(const std::string& description);

std::vector<Fault> Judge(const History& history, size_t at, const Aftermath& aftermath);

}  // namespace tapedeck::disaster
