// A member of a LUN of devices: made of one that holds nothing, found again by its superblock.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/format/config.h"
#include "storage_node/store/device/device.h"
#include "storage_node/store/device/layout.h"

namespace tapedeck::storage_node::store::device {

struct Member {
  std::unique_ptr<Device> device;
  Superblock superblock;
};

// Make `lun`'s member `number` out of a device that holds nothing, or open one that was made.
// FAILED_PRECONDITION or NOT_FOUND (MEMBER_UNUSABLE) says what the device holds and what to do.
absl::StatusOr<Member> CreateMember(std::unique_ptr<Device> device, const services::Lun& lun,
                                    uint32_t number);
absl::StatusOr<Member> OpenMember(std::unique_ptr<Device> device, const services::Lun& lun,
                                  uint32_t number);

// What the member at `path` says of itself; changes nothing but who had it open last. NOT_FOUND or
// FAILED_PRECONDITION (MEMBER_UNUSABLE).
absl::StatusOr<format::LunMember> DescribedBy(Device& device);
// Writes `lun`'s description onto its member `number`, which is open nowhere and keeps its
// channels.
absl::Status Describe(Device& device, const services::Lun& lun, uint32_t number);

// The device holds nothing again. OK if it is no member of `lun`.
absl::Status RemoveMember(std::unique_ptr<Device> device, const services::Lun& lun,
                          uint32_t number);

}  // namespace tapedeck::storage_node::store::device
