// Changes of rows that the state directory has not taken yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "storage_node/catalog/rows.h"

namespace tapedeck::storage_node::catalog {

// One thread at a time.
class WaitingRows {
 public:
  struct Waiting {
    RowChange change;
    uint64_t number = 0;  // of all changes
    // How many recordings more there are with it than in the database: -1, 0 or 1.
    int more = 0;
    // Whether the recording is among those counted; none: that was not looked at.
    std::optional<bool> counted;
  };
  using Map = std::map<RowId, Waiting>;

  // The newest change of a row counts.
  void Keep(const RowId& id, RowChange change) {
    Waiting& row = rows_[id];
    bytes_ += change.bytes();
    bytes_ -= row.change.bytes();
    row.change = std::move(change);
    row.number = ++changes_;
  }
  void Drop(const RowId& id) {
    const auto it = rows_.find(id);
    if (it == rows_.end()) return;
    bytes_ -= it->second.change.bytes();
    rows_.erase(it);
  }
  // Null: the database says it.
  Waiting* Find(const RowId& id) {
    const auto it = rows_.find(id);
    return it == rows_.end() ? nullptr : &it->second;
  }
  const Waiting* Find(const RowId& id) const {
    const auto it = rows_.find(id);
    return it == rows_.end() ? nullptr : &it->second;
  }

  const Map& rows() const { return rows_; }
  bool empty() const { return rows_.empty(); }
  size_t size() const { return rows_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  Map rows_;
  size_t bytes_ = 0;
  uint64_t changes_ = 0;
};

}  // namespace tapedeck::storage_node::catalog
