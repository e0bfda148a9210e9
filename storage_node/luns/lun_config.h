// The configuration of an open LUN. The node may replace it while others read it.
#pragma once

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "services/model/seams/catalog.h"

namespace tapedeck::storage_node::luns {

// Any thread. What is read is one whole configuration, and stays as it is while it is held. Name,
// uid, store and times are the same in all of them; a later one may have more members.
class LunConfig {
 public:
  LunConfig(services::Lun lun)  // NOLINT(google-explicit-constructor): it is one
      : cell_(std::make_shared<Cell>()) {
    Set(std::move(lun));
  }

  std::shared_ptr<const services::Lun> operator->() const { return now(); }
  std::shared_ptr<const services::Lun> now() const {
    absl::MutexLock lock(&cell_->mutex);
    return cell_->lun;
  }

  void Set(services::Lun lun) {
    auto next = std::make_shared<const services::Lun>(std::move(lun));
    absl::MutexLock lock(&cell_->mutex);
    cell_->lun = std::move(next);
  }

 private:
  struct Cell {
    absl::Mutex mutex;
    std::shared_ptr<const services::Lun> lun ABSL_GUARDED_BY(mutex);
  };
  std::shared_ptr<Cell> cell_;
};

}  // namespace tapedeck::storage_node::luns
