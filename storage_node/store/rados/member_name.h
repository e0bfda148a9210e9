// What a member of a rados LUN is called: rados:POOL[+DATA_POOL][/NAMESPACE].
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/store/kind.h"

namespace tapedeck::storage_node::store::rados {

struct PoolName {
  std::string pool;
  std::string data_pool;  // where payload lies; empty: in `pool`, like the rest
  std::string space;      // the namespace of the LUN's objects; never empty

  const std::string& payload_pool() const { return data_pool.empty() ? pool : data_pool; }
  // Pools may share a data pool: in it the namespace has their name before its own.
  std::string payload_space() const { return data_pool.empty() ? space : pool + "/" + space; }
};

bool IsMember(const std::string& member);
// INVALID_ARGUMENT (ARGUMENT_INVALID). Without a namespace it is "tapedeck".
absl::StatusOr<PoolName> ParseMember(const std::string& member);
// With the namespace; two that differ in the data pool alone lead to the same. Asks no cluster:
// whether the pool is there is seen where the LUN is made.
absl::StatusOr<MemberName> CheckMember(const std::string& member);
// FAILED_PRECONDITION (MEMBER_UNUSABLE) if one of the LUN's members has no such name.
absl::Status CheckMemberNames(const services::Lun& lun);

}  // namespace tapedeck::storage_node::store::rados
