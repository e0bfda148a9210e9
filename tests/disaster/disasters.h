// What goes wrong with the files of a LUN and of its node.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/disaster/history.h"

namespace tapedeck::disaster {

// A row of the catalog that is lost, or replaced by what an older manifest says.
struct RowChange {
  std::string channel, id;
  std::string manifest;  // empty: the row is lost
};

struct Disaster {
  std::string what;
  std::function<void(Image*)> strike;  // null: a row is changed
  std::vector<RowChange> rows;
};

// One to some, of snapshot `at`.
std::vector<Disaster> MakeDisasters(const History& history, size_t at, std::mt19937_64& random);

// What somebody else has put beside ours, with links that lead to `outside`. Returns the paths.
std::vector<std::string> PlantForeign(const Snapshot& snapshot, std::mt19937_64& random,
                                      Image* image);

}  // namespace tapedeck::disaster
