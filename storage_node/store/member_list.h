// How a store of several members takes more of them while it is in use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tapedeck::storage_node::store {

class Store;

// Of a LUN's members, one, which is a store of its own.
struct ListedMember {
  std::string name;  // as the LUN has it
  std::unique_ptr<Store> store;
};
using ListedMembers = std::vector<ListedMember>;

// Any thread.
class MemberList {
 public:
  virtual ~MemberList() = default;

  // Extras::size_bytes as it would be with these, too.
  virtual uint64_t SizeWith(const ListedMembers& more) const = 0;

  // They come after those there are. What is open stays where it is; a recording that is made from
  // now on may lie on them (RecordingPath::members).
  virtual void Add(ListedMembers more) = 0;
};

}  // namespace tapedeck::storage_node::store
