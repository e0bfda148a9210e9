// Recordings that several storage nodes hold in parts, as people see them: `--storage A,B,C`.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "services/model/words/storage_list.h"
#include "services/site/nodes.h"

namespace tapedeck::services::tapectl {

// Whether --storage names several nodes.
bool NamesSeveral(const Nodes& nodes);

// INVALID_ARGUMENT: it is a part of a recording, and what is asked of it needs its neighbours in
// the stream.
absl::Status CheckWhole(const Recording& recording);

// `all`, which are Nodes or more, once for each storage node: with that one alone, in order.
template <std::derived_from<Nodes> All>
std::vector<All> EachNode(const All& all) {
  std::vector<All> each;
  for (std::string& address : StoragesOf(all.storage)) {
    each.push_back(all);
    each.back().storage = std::move(address);
  }
  return each;
}

// Which nodes must have answered before one of them is taken.
enum class Asked {
  kFirst,  // any: parts of a recording are played where some nodes are away
  kAll,    // all: what is done cannot be undone
};

// What a recording is called where it is: `text` without a node before it (TakeNode). --storage is
// one node alone then, if the name says so or one has all of it; else several, which have parts of
// what this returns, a full name. `latest` is the newest of the nodes that answer; a warning names
// each that does not. NAME_INVALID: several nodes have one of that name, each all of it; the text
// says how to name either.
absl::StatusOr<std::string> PlaceRecording(Nodes& nodes, const std::string& text,
                                           Asked asked = Asked::kFirst);

// What one node lists, or has under a name.
struct FoundRecording {
  std::string node;
  Recording recording;
};

// Which of those with one name is meant, `text`: those of one whole, or one alone. NAME_INVALID.
absl::StatusOr<std::vector<FoundRecording>> ChooseMeant(std::vector<FoundRecording> found,
                                                        const std::string& text);

// The recordings, "NODE/NAME" of each whole one whose name is that of another node's, too.
std::vector<Recording> WithNodes(const std::vector<FoundRecording>& found);

// A recording as all nodes together have it.
struct JoinedParts {
  Recording
      recording;  // of parts: their sums, without the missing blocks, which nobody has counted
  std::vector<uint32_t> parts;  // those there are, in order; empty: it is whole
  uint32_t of = 0;              // so many it has
  uint32_t copies = 1;          // parts that have each block, as it was begun

  // "3 parts", or "parts 1, 3 of 3", "2 parts, 2 copies"; "-" of what is whole.
  std::string PartsText() const;
};

// Of all nodes, newest first: what says that it is a part of the same whole is one.
std::vector<JoinedParts> JoinParts(const std::vector<Recording>& recordings);

}  // namespace tapedeck::services::tapectl
