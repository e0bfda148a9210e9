// What a rados LUN says of itself, in its own object.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/format/config.h"
#include "storage_node/store/notebook.h"
#include "storage_node/store/rados/cluster.h"
#include "storage_node/store/rados/holding.h"

namespace tapedeck::storage_node::store::rados {

// Of a LUN that `holding` has; both outlive it.
class RadosNotebook final : public Notebook {
 public:
  RadosNotebook(Cluster& cluster, const Holding& holding) : cluster_(cluster), holding_(holding) {}
  absl::StatusOr<Note> ReadNote() override;
  absl::Status WriteNote(const Note& note) override;

 private:
  Cluster& cluster_;
  const Holding& holding_;
};

// Makes the LUN's object, whole or not at all. FAILED_PRECONDITION (MEMBER_UNUSABLE): there is one.
absl::Status MakeLunObject(Cluster& cluster, const services::Lun& lun, uint32_t number);

// FAILED_PRECONDITION (MEMBER_UNUSABLE): there is none, or it is another LUN's or member's.
absl::Status CheckLunObject(Cluster& cluster, const services::Lun& lun, uint32_t number);

// NOT_FOUND or FAILED_PRECONDITION (MEMBER_UNUSABLE). Changes nothing, and takes nothing.
absl::StatusOr<format::LunMember> ReadLunObject(Cluster& cluster);

}  // namespace tapedeck::storage_node::store::rados
