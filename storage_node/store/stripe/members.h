// The members of a striped store. The store may get more at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/store/member_list.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::store::stripe {

// Any thread. None goes before all do, and none changes its place.
class Members {
 public:
  using View = std::vector<const ListedMember*>;

  explicit Members(ListedMembers members) { Add(std::move(members)); }

  void Add(ListedMembers more) {
    absl::MutexLock lock(&mutex_);
    for (ListedMember& member : more) {
      members_.push_back(std::make_unique<const ListedMember>(std::move(member)));
    }
  }

  // The first so many of them, or all there are.
  View First(size_t most) const {
    absl::MutexLock lock(&mutex_);
    View view;
    for (const auto& member : members_) {
      if (view.size() < most) view.push_back(member.get());
    }
    return view;
  }
  View All() const { return First(SIZE_MAX); }
  Store& first() const { return *First(1).front()->store; }

 private:
  mutable absl::Mutex mutex_;
  std::vector<std::unique_ptr<const ListedMember>> members_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tapedeck::storage_node::store::stripe
