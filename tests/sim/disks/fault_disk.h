// A disk with a volatile cache: what no completed flush covers is lost, kept or torn by sectors
// when the power is cut. Any operation can be made to fail. Copied to try many endings of one run.
#pragma once

#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "dataplane/executor/executor.h"
#include "storage_node/store/store.h"
#include "tests/sim/disks/disk_image.h"
#include "tests/sim/disks/losses.h"

namespace tapedeck::sim {

using storage_node::store::Bytes;

// One file. What was never written reads as `stale`: sectors that another recording left behind.
class DiskFile {
 public:
  explicit DiskFile(Bytes stale = {}) : stale_(std::move(stale)) {}

  // Returns the id of the operation, for Complete.
  uint64_t Write(uint64_t offset, Bytes bytes);
  uint64_t Truncate(uint64_t bytes);
  void Complete(uint64_t id);
  // The operations that a flush called now covers, and its end.
  std::vector<uint64_t> Completed() const;
  void MakeDurable(const std::vector<uint64_t>& ids);
  // A flush of these failed: each is on the disk, or partly, or not at all, and who reads finds
  // what the disk has.
  void Forget(const std::vector<uint64_t>& ids, std::mt19937_64& random);
  // A write that failed: it may have arrived, or part of it.
  void WritePart(uint64_t offset, const Bytes& bytes, std::mt19937_64& random);
  Losses CutPower(std::mt19937_64& random);
  // What rots, or what another program does: changes the bytes beneath all caches.
  void Overwrite(uint64_t offset, std::span<const std::byte> bytes);
  void Cut(uint64_t bytes);
  // The next write makes it again, the next flush that covers one its name durable.
  void Remove();
  bool there() const { return there_; }
  const Bytes& bytes() const { return cache_; }
  // Of what is durable.
  uint64_t Fingerprint() const;

 private:
  struct Operation {
    uint64_t offset = 0;
    Bytes bytes;
    bool truncate = false;
    bool completed = false;
  };
  void Apply(const Operation& operation, Bytes* to) const;
  // On the disk: the whole, parts, or nothing.
  Losses ApplyPerhaps(const Operation& operation, std::mt19937_64& random);
  void ApplyTorn(const Operation& operation, std::mt19937_64& random);

  Bytes stale_;
  Bytes durable_;
  Bytes cache_;
  std::map<uint64_t, Operation> pending_;
  uint64_t next_id_ = 0;
  bool there_ = true;
  bool name_durable_ = true;
};

// A member's directory entry of a recording. What is not durable yet may come out either way.
enum class Entry {
  kMade,      // not durable
  kThere,     // durable
  kRemoved,   // not durable
  kLeftOver,  // durably removed, the files are still to go
  kGone,
};

struct DiskRecording {
  std::vector<Entry> entries;  // by member
  std::vector<DiskFile> data;
  std::vector<DiskFile> index;
  // By copy; empty: never written. `next_manifest` is on its way there.
  std::vector<std::string> manifest;
  std::string next_manifest;
  // By copy; an ordered deletion has renamed it.
  std::vector<Entry> manifest_entries;

  // Names of directories are read from the cache.
  bool Seen(size_t member) const { return entries[member] <= Entry::kThere; }
  bool HasManifest(size_t copy) const {
    return Seen(copy) && manifest_entries[copy] == Entry::kThere && !manifest[copy].empty();
  }
  bool IsBeingDeleted() const {
    for (size_t copy = 0; copy < manifest_entries.size(); ++copy) {
      if (Seen(copy) && manifest_entries[copy] != Entry::kThere) return true;
    }
    return false;
  }
};

// Owned by the test, used by the stores made over it; one thread.
struct FaultDisk {
  std::map<std::string, DiskRecording> recordings;
  // What lies in the space that new files get: what was in the last ones removed.
  Bytes stale;                     // of data files
  Bytes stale_index;               // of index files
  std::vector<DiskImage> devices;  // by member, of device stores
  std::mt19937_64 random;
  // Operations until the power goes: from then on every one fails and changes nothing.
  uint64_t operations_left = UINT64_MAX;
  uint64_t operations = 0;  // ever begun with the power on
  Losses losses;            // of all power cuts
  uint64_t removed = 0;     // files of recordings
  uint64_t reused = 0;  // writes of payload to where another recording's lay, or new files there
  // Asked at each of them, with a word such as "write" or "read index": what shall it fail with?
  std::function<absl::Status(const std::string& operation, uint32_t member)> fault;

  // Asked at each of them: how long does its end take, beyond a few turns of the executor?
  std::function<int64_t()> stall_ns;

  // Asked at each transfer of payload with a device: what does it complete with, as read(2) and
  // write(2) do? Bytes, maybe fewer whole pages than asked for, or -errno. Null: all of them.
  std::function<int64_t(bool write, size_t bytes)> completion;

  // When does what a device does on its own threads happen? Null: at once.
  std::function<void(dataplane::Task)> later;

  // What the next operation ends with.
  absl::Status Next(const std::string& operation, uint32_t member);
  // What one that changes nothing ends with, where it is not worth a power cut of its own.
  absl::Status Power(const std::string& operation) const;
  // Power off and on again.
  void CutPower(uint64_t seed);
  // Of all that a power cut leaves: equal for equal disks.
  uint64_t Fingerprint() const;

 private:
  void CutPower(DiskRecording& recording);
};

// A completion that is no error and not all of `bytes`: fewer pages, or one to be asked again.
int64_t ShortCompletion(size_t bytes, std::mt19937_64& random);

// As a real store says it, with reason STORE_IO or LUN_FULL.
absl::Status DiskError(const std::string& operation, uint32_t member, const std::string& why);
absl::Status DiskFull(const std::string& operation, uint32_t member);

}  // namespace tapedeck::sim
