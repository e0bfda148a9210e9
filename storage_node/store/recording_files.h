// One recording's open files: payload, index, manifest. Nothing waits. Every operation ends by a
// callback, which is posted to the executor of the files and never called inline. No callback runs
// once the files are destroyed. Operations of one file take effect in the order of their calls;
// those of different files have no order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "dataplane/memory/slot_pool.h"
#include "storage_node/format/identity.h"

namespace tapedeck::storage_node::store {

using Bytes = std::vector<std::byte>;
using Done = absl::AnyInvocable<void(absl::Status)>;
using BlockDone = absl::AnyInvocable<void(absl::Status, dataplane::Block)>;
using BlockRead = absl::AnyInvocable<void(absl::StatusOr<dataplane::Block>)>;
using BytesRead = absl::AnyInvocable<void(absl::StatusOr<Bytes>)>;
using TextRead = absl::AnyInvocable<void(absl::StatusOr<std::string>)>;

// Errors are RESOURCE_EXHAUSTED (LUN_FULL), OUT_OF_RANGE (STORE_IO: the file ends before the block
// does) or INTERNAL (STORE_IO), naming member and operation.
class DataFiles {
 public:
  virtual ~DataFiles() = default;

  // Stores the block's payload at `place` and keeps the slot or returns it. After an error `done`
  // gets the block back, so that the same bytes can be written once more.
  virtual void WriteBlock(format::Place place, dataplane::Block block, BlockDone done) = 0;

  // Reads `bytes` at `place` as a block of `ring`, whose header has only payload_bytes set; 0 bytes
  // give an empty payload. False if the ring has no free slot: then nothing happens, and the ring's
  // waker tells when to try again.
  virtual bool ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                         BlockRead done) = 0;

  // How many copies of a block can be read, each from a member of its own.
  virtual uint32_t block_copies() const { return 1; }

  // ReadBlock of one of them; 0 is what ReadBlock reads. Which bytes are right, the caller knows.
  virtual bool ReadBlockCopy(uint32_t /*copy*/, format::Place place, uint32_t bytes,
                             dataplane::SlotPool& ring, BlockRead done) {
    return ReadBlock(place, bytes, ring, std::move(done));
  }

  // WriteBlock of one of them alone, of a block that the others have.
  virtual void MendBlockCopy(uint32_t /*copy*/, format::Place place, dataplane::Block block,
                             BlockDone done) {
    WriteBlock(place, std::move(block), std::move(done));
  }

  // Makes durable, on every member, what any completed operation has written. After an error that
  // is unknown, and what is read from then on comes from the disk, not from a cache that holds it
  // for written.
  virtual void Flush(Done done) = 0;

  // Gives back what was reserved beyond the ends of the files: data_bytes per member, index_bytes.
  // Data that is shorter stays as it is.
  virtual void Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, Done done) = 0;
};

class IndexFiles {
 public:
  virtual ~IndexFiles() = default;

  // Copies kept, each on its own member; at least 1.
  virtual uint32_t index_copies() const = 0;
  // Makes a copy again that is gone.
  virtual void WriteIndex(uint32_t copy, uint64_t offset, Bytes bytes, Done done) = 0;
  // Fewer bytes than asked for at the end of the file. DATA_LOSS (STORE_IO): the copy is gone.
  virtual void ReadIndex(uint32_t copy, uint64_t offset, size_t bytes, BytesRead done) = 0;
};

class ManifestFile {
 public:
  virtual ~ManifestFile() = default;

  // Replaces every copy, durably; each is the old or the new text at any moment.
  virtual void WriteManifest(std::string text, Done done) = 0;
  virtual void ReadManifest(uint32_t copy, TextRead done) = 0;
};

class RecordingFiles : public DataFiles, public IndexFiles, public ManifestFile {
 public:
  // Each on its own member; those of the index are on the first of them.
  virtual uint32_t manifest_copies() const { return index_copies(); }
  // Once. `lost` is called when the files, or the member they lie on, are found to be gone, once at
  // most and like the other callbacks: INTERNAL (STORE_IO). No flush ends well from then on.
  virtual void OnLost(Done /*lost*/) {}
};

}  // namespace tapedeck::storage_node::store
