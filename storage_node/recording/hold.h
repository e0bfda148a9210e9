// What keeps a recording, its LUN and its files there for whoever uses them.
#pragma once

namespace tapedeck::storage_node::recording {

// Held by shared_ptr or unique_ptr; lets go when it is destroyed. Any thread.
class Hold {
 public:
  virtual ~Hold() = default;
};

}  // namespace tapedeck::storage_node::recording
