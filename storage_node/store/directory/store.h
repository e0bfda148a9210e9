// Recordings as files in a directory: MEMBER/CHANNEL/RECORDING/{data,index,manifest.json}.
#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/store/directory/member.h"
#include "storage_node/store/directory/open_files.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::store::directory {

// What a kind of store adds.
struct Kind {
  int data_flags = 0;  // of open(2), for data files
  std::function<std::unique_ptr<store::RecordingFiles>(std::shared_ptr<OpenFiles>,
                                                       dataplane::Executor&)>
      open;
  std::shared_ptr<engine::Engine> disk_engine = nullptr;  // see Extras
};

// A store on one member.
std::unique_ptr<store::Store> MakeStore(std::unique_ptr<Member> member, Kind kind);

}  // namespace tapedeck::storage_node::store::directory
