#include "tests/sim/disks/fault_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/format/index.h"
#include "storage_node/store/mailbox.h"

namespace tapedeck::sim {
namespace {

using namespace storage_node;  // NOLINT: the names of the seam
using store::Done;

void PostLater(const std::shared_ptr<store::Mailbox>& mailbox, uint64_t hops,
               dataplane::Task task) {
  mailbox->Post([mailbox, hops, task = std::move(task)]() mutable {
    if (hops == 0) return task();
    PostLater(mailbox, hops - 1, std::move(task));
  });
}

class FaultFiles final : public store::RecordingFiles {
 public:
  FaultFiles(FaultDisk& disk, DiskRecording& stored, dataplane::Executor& executor)
      : disk_(disk),
        stored_(stored),
        executor_(executor),
        mailbox_(std::make_shared<store::Mailbox>(executor)) {}
  ~FaultFiles() override { mailbox_->Close(); }

  void WriteBlock(format::Place place, dataplane::Block block, store::BlockDone done) override {
    DiskFile& file = stored_.data[place.member];
    const auto payload = block.payload();
    store::Bytes bytes(payload.begin(), payload.end());
    if (absl::Status failed = disk_.Next("write", place.member); !failed.ok()) {
      if (disk_.operations_left > 0) file.WritePart(place.offset, bytes, disk_.random);
      return Later([failed, block = std::move(block), done = std::move(done)]() mutable {
        done(failed, std::move(block));
      });
    }
    const uint64_t id = file.Write(place.offset, std::move(bytes));
    Later([&file, id, block = std::move(block), done = std::move(done)]() mutable {
      file.Complete(id);
      block.Reset();
      done(absl::OkStatus(), dataplane::Block());
    });
  }

  bool ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                 store::BlockRead done) override {
    std::optional<dataplane::Block> block = ring.Take();
    if (!block.has_value()) return false;
    const auto read = [&]() -> absl::StatusOr<dataplane::Block> {
      if (bytes == 0) return *std::move(block);
      TD_RETURN_IF_ERROR(disk_.Next("read", place.member));
      if (!stored_.Seen(place.member)) return absl::OutOfRangeError("open: the part is gone");
      const store::Bytes& all = stored_.data[place.member].bytes();
      if (place.offset + bytes > all.size()) {
        return absl::OutOfRangeError("read: the file ends early");
      }
      block->header().payload_bytes = bytes;
      std::memcpy(block->payload().data(), all.data() + place.offset, bytes);
      return *std::move(block);
    };
    Later([result = read(), done = std::move(done)]() mutable { done(std::move(result)); });
    return true;
  }

  void Flush(Done done) override {
    std::vector<std::pair<DiskFile*, std::vector<uint64_t>>> covered;
    for (DiskFile& file : stored_.data) covered.emplace_back(&file, file.Completed());
    for (DiskFile& file : stored_.index) covered.emplace_back(&file, file.Completed());
    if (absl::Status failed = disk_.Next("flush", 0); !failed.ok()) {
      for (auto& [file, ids] : covered) file->Forget(ids, disk_.random);
      return Answer(std::move(done), failed);
    }
    Later([covered = std::move(covered), done = std::move(done)]() mutable {
      for (auto& [file, ids] : covered) file->MakeDurable(ids);
      done(absl::OkStatus());
    });
  }

  void Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, Done done) override {
    if (absl::Status failed = disk_.Next("truncate", 0); !failed.ok()) {
      return Answer(std::move(done), failed);
    }
    std::vector<std::pair<DiskFile*, uint64_t>> cut;
    for (size_t m = 0; m < stored_.data.size(); ++m) {
      DiskFile& data = stored_.data[m];
      const uint64_t bytes = std::min<uint64_t>(data_bytes[m], data.bytes().size());
      cut.emplace_back(&data, data.Truncate(bytes));
    }
    for (DiskFile& file : stored_.index) cut.emplace_back(&file, file.Truncate(index_bytes));
    Later([cut = std::move(cut), done = std::move(done)]() mutable {
      for (auto& [file, id] : cut) file->Complete(id);
      done(absl::OkStatus());
    });
  }

  uint32_t index_copies() const override { return static_cast<uint32_t>(stored_.index.size()); }

  void WriteIndex(uint32_t copy, uint64_t offset, store::Bytes bytes, Done done) override {
    DiskFile& file = stored_.index[copy];
    if (absl::Status failed = disk_.Next("write index", copy); !failed.ok()) {
      if (disk_.operations_left > 0) file.WritePart(offset, bytes, disk_.random);
      return Answer(std::move(done), failed);
    }
    const uint64_t id = file.Write(offset, std::move(bytes));
    Later([&file, id, done = std::move(done)]() mutable {
      file.Complete(id);
      done(absl::OkStatus());
    });
  }

  void ReadIndex(uint32_t copy, uint64_t offset, size_t bytes, store::BytesRead done) override {
    const auto read = [&]() -> absl::StatusOr<store::Bytes> {
      TD_RETURN_IF_ERROR(disk_.Next("read index", copy));
      if (!stored_.index[copy].there() || !stored_.Seen(copy)) {
        return absl::DataLossError(absl::StrCat("open: no such file; check member ", copy));
      }
      const store::Bytes& all = stored_.index[copy].bytes();
      const uint64_t first = std::min<uint64_t>(offset, all.size());
      const uint64_t end = std::min<uint64_t>(offset + bytes, all.size());
      return store::Bytes(all.begin() + static_cast<ptrdiff_t>(first),
                          all.begin() + static_cast<ptrdiff_t>(end));
    };
    Later([result = read(), done = std::move(done)]() mutable { done(std::move(result)); });
  }

  void WriteManifest(std::string text, Done done) override {
    if (absl::Status failed = disk_.Next("write manifest", 0); !failed.ok()) {
      return Answer(std::move(done), failed);
    }
    stored_.next_manifest = text;
    Later([this, text = std::move(text), done = std::move(done)]() mutable {
      for (std::string& copy : stored_.manifest) copy = text;
      std::ranges::fill(stored_.manifest_entries, Entry::kThere);
      stored_.next_manifest.clear();
      for (Entry& entry : stored_.entries) {
        if (entry == Entry::kMade) entry = Entry::kThere;
      }
      done(absl::OkStatus());
    });
  }

  void ReadManifest(uint32_t copy, store::TextRead done) override {
    const auto read = [&]() -> absl::StatusOr<std::string> {
      TD_RETURN_IF_ERROR(disk_.Next("read manifest", copy));
      if (!stored_.HasManifest(copy)) return absl::NotFoundError("manifest: there is none");
      return stored_.manifest[copy];
    };
    Later([result = read(), done = std::move(done)]() mutable { done(std::move(result)); });
  }

 private:
  void Later(dataplane::Task task) {
    const int64_t stall_ns = disk_.stall_ns ? disk_.stall_ns() : 0;
    if (stall_ns == 0) return PostLater(mailbox_, disk_.random() % 6, std::move(task));
    executor_.PostAt(
        executor_.clock().NowNs() + stall_ns,
        [mailbox = mailbox_, task = std::move(task)]() mutable { mailbox->Post(std::move(task)); });
  }
  void Answer(Done done, absl::Status status) {
    Later([done = std::move(done), status = std::move(status)]() mutable { done(status); });
  }

  FaultDisk& disk_;
  DiskRecording& stored_;
  dataplane::Executor& executor_;
  const std::shared_ptr<store::Mailbox> mailbox_;
};

class FaultStore final : public store::Store, public store::Recovery {
 public:
  FaultStore(FaultDisk& disk, uint32_t members) : disk_(disk), members_(members) {}

  absl::StatusOr<std::unique_ptr<store::RecordingFiles>> Open(
      const store::RecordingPath& path, const store::Opening& how,
      dataplane::Executor& executor) override {
    if (how.purpose == store::Purpose::kCreate) return Create(path, executor);
    const auto it = disk_.recordings.find(Key(path));
    if (it == disk_.recordings.end() || !SeenAnywhere(it->second)) {
      return absl::NotFoundError(absl::StrCat("open ", Key(path)));
    }
    return std::make_unique<FaultFiles>(disk_, it->second, executor);
  }

  // As a striped store: the order is noted first, then the parts go, member 0's last.
  absl::Status DeleteRecording(const store::RecordingPath& path) override {
    const auto it = disk_.recordings.find(Key(path));
    if (it == disk_.recordings.end()) return absl::OkStatus();
    if (members_ > 1) TD_RETURN_IF_ERROR(Begin(it->second));
    for (uint32_t m = members_; m-- > 0;) TD_RETURN_IF_ERROR(DeletePart(it->second, m));
    disk_.recordings.erase(it);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<store::RecordingPath>> BegunDeletions(
      const store::Known& /*known*/) override {
    std::vector<store::RecordingPath> paths;
    for (const auto& [key, stored] : disk_.recordings) {
      if (stored.IsBeingDeleted()) paths.push_back(PathOf(key));
    }
    return paths;
  }

  absl::Status FinishDeletions(const store::Known& /*known*/) override {
    for (auto& [key, recording] : disk_.recordings) {
      for (uint32_t m = 0; m < members_; ++m) {
        if (recording.entries[m] == Entry::kLeftOver) TD_RETURN_IF_ERROR(Remove(recording, m));
      }
    }
    std::erase_if(disk_.recordings, [this](const auto& entry) {
      return std::ranges::count(entry.second.entries, Entry::kGone) == members_;
    });
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<store::RecordingPath>> ListRecordings(
      const store::Known& /*known*/) override {
    std::vector<store::RecordingPath> paths;
    for (const auto& [key, stored] : disk_.recordings) {
      if (SeenAnywhere(stored)) paths.push_back(PathOf(key));
    }
    return paths;
  }

  absl::Status Look() override { return absl::OkStatus(); }

  store::Extras extras() override { return {.recovery = this}; }

  absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(
      const store::RingSpec& spec) override {
    TD_ASSIGN_OR_RETURN(auto memory, dataplane::host::Create(spec.slots * spec.slot_bytes));
    TD_ASSIGN_OR_RETURN(auto pool,
                        dataplane::MemoryPool::Create(std::move(memory), spec.slot_bytes));
    return std::shared_ptr<dataplane::SlotPool>(std::move(pool));
  }

 private:
  absl::StatusOr<std::unique_ptr<store::RecordingFiles>> Create(const store::RecordingPath& path,
                                                                dataplane::Executor& executor) {
    const auto [it, made] = disk_.recordings.try_emplace(Key(path));
    if (!made) return absl::AlreadyExistsError(absl::StrCat("mkdir ", Key(path)));
    const uint32_t copies = std::min(members_, format::kMaxIndexCopies);
    it->second.entries.assign(members_, Entry::kMade);
    it->second.data.assign(members_, DiskFile(disk_.stale));
    it->second.index.assign(copies, DiskFile(disk_.stale_index));
    it->second.manifest.resize(copies);
    it->second.manifest_entries.assign(copies, Entry::kThere);
    if (disk_.removed > 0) ++disk_.reused;
    return std::make_unique<FaultFiles>(disk_, it->second, executor);
  }

  bool SeenAnywhere(const DiskRecording& recording) const {
    bool seen = false;
    for (uint32_t m = 0; m < members_; ++m) seen = seen || recording.Seen(m);
    return seen;
  }

  absl::Status Begin(DiskRecording& recording) {
    for (uint32_t copy = 0; copy < recording.manifest.size(); ++copy) {
      if (recording.Seen(copy) && recording.manifest_entries[copy] == Entry::kThere) {
        TD_RETURN_IF_ERROR(disk_.Next("rename manifest", copy));
        recording.manifest_entries[copy] = Entry::kRemoved;
      }
      if (recording.manifest_entries[copy] != Entry::kRemoved) continue;
      TD_RETURN_IF_ERROR(disk_.Next("flush directory", copy));
      recording.manifest_entries[copy] = Entry::kGone;
    }
    return absl::OkStatus();
  }

  // Renamed, the directory flushed, and then the files removed.
  absl::Status DeletePart(DiskRecording& recording, uint32_t member) {
    Entry& entry = recording.entries[member];
    TD_RETURN_IF_ERROR(disk_.Next("delete", member));
    if (recording.Seen(member)) entry = Entry::kRemoved;
    TD_RETURN_IF_ERROR(disk_.Next("flush directory", member));
    if (entry == Entry::kRemoved) entry = Entry::kLeftOver;
    if (entry == Entry::kGone) return absl::OkStatus();
    return Remove(recording, member);
  }

  absl::Status Remove(DiskRecording& recording, uint32_t member) {
    TD_RETURN_IF_ERROR(disk_.Next("remove", member));
    recording.entries[member] = Entry::kGone;
    ++disk_.removed;
    disk_.stale = recording.data[member].bytes();
    if (member < recording.index.size()) disk_.stale_index = recording.index[member].bytes();
    return absl::OkStatus();
  }

  static std::string Key(const store::RecordingPath& path) {
    return path.channel + "/" + path.recording;
  }
  static store::RecordingPath PathOf(const std::string& key) {
    const size_t slash = key.find('/');
    return {.channel = key.substr(0, slash), .recording = key.substr(slash + 1)};
  }

  FaultDisk& disk_;
  const uint32_t members_;
};

}  // namespace

std::unique_ptr<store::Store> MakeFaultStore(FaultDisk& disk, uint32_t members) {
  return std::make_unique<FaultStore>(disk, members);
}

}  // namespace tapedeck::sim
