// Recordings that wait for their writer. The LUN's queue makes or opens the files, and the writer
// begins on its session's executor.
#pragma once

#include <functional>
#include <memory>

#include "storage_node/admission/node_resources.h"
#include "storage_node/admission/record_target.h"
#include "storage_node/capture/armed_recording.h"

namespace tapedeck::storage_node::admission {

// What a writer holds of the node. The LUN goes last: its store must outlive the files.
struct HeldResources : recording::Hold {
  std::shared_ptr<recordings::Closing> closing;  // goes last: nothing else is held then
  std::shared_ptr<luns::OpenLun> lun;
  std::unique_ptr<recordings::Leases::Lease> lease;
};

// A recording whose row and files are there.
struct StartedRecording {
  catalog::ResourceName name;
  HeldResources held;
  format::Manifest manifest;  // state RECORDING
  std::unique_ptr<store::RecordingFiles> files;
  recording::Reservation room;
  recording::WriterStart start;
  recording::Notes notes;
  // On the LUN's queue, if no writer comes. `room` is what the recording has of the capacity, and
  // is not anybody else's before it is as before.
  std::function<void(catalog::Catalog&, luns::OpenLun&, recording::Reservation room)> undo;
};

// Deletes it from a LUN and the catalog; whether its files are gone. `why` is for the log.
bool Drop(catalog::Catalog& catalog, luns::OpenLun& lun, const catalog::ResourceName& name,
          const format::Manifest& manifest, absl::string_view why);

// What writes a recording of `target` with blocks from a ring of `ring_slots`, which `arrivals` has
// checked. On the queue.
capture::ArmRecording WithWriter(NodeResources& resources, const RecordTarget& target,
                                 size_t ring_slots,
                                 std::shared_ptr<dataplane::ArrivalCrcs> arrivals,
                                 dataplane::Executor& executor, StartedRecording started);

}  // namespace tapedeck::storage_node::admission
