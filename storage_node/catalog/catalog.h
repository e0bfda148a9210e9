// Answers queries about recordings, and about channels of offline LUNs, without touching their
// files. A cache: each row repeats one channel.json or manifest.json, and the node can make all
// rows again from those.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/catalog/books.h"
#include "storage_node/catalog/names.h"
#include "storage_node/catalog/rows.h"
#include "storage_node/catalog/state_thread.h"
#include "storage_node/catalog/summaries.h"
#include "storage_node/format/manifest.h"

namespace tapedeck::storage_node::catalog {

struct RecordingRow {
  ResourceName name;
  format::Manifest manifest;
};

// Any thread. Names are of the kind the call is about; ids of queries may be "-" for all.
//
// The files are the truth, so a change has happened when they say so. The catalog takes each: if
// the database fails, the change waits in memory, every answer has it, and Retry writes it. If the
// process ends before, the next opening of the LUN reads it from the files again; a request_id is
// forgotten then. Queries fail if the database cannot be read (STATE_UNUSABLE).
//
// No call waits longer than kStatePatience for the state directory, and none while it hangs: a
// change waits in memory then, a query says what memory knows of its one row, else STATE_UNUSABLE.
class Catalog {
 public:
  static absl::StatusOr<std::unique_ptr<Catalog>> Open(const std::string& path);
  // Tries once more to write what waits.
  ~Catalog();

  // For whoever is about to change files. RESOURCE_EXHAUSTED (STATE_UNUSABLE): the state directory
  // fails, and too many changes wait for it. Who has begun may end, whatever this says.
  absl::Status CheckTakes() const { return books_->CheckTakes(); }

  void PutChannel(const ResourceName& name, const services::Channel& channel);
  absl::StatusOr<std::optional<services::Channel>> GetChannel(const ResourceName& name);
  // By name.
  absl::StatusOr<std::vector<services::Channel>> ListChannels(const std::string& lun);
  void DeleteChannel(const ResourceName& name);

  void PutRecording(const ResourceName& name, const format::Manifest& manifest);
  absl::StatusOr<std::optional<format::Manifest>> GetRecording(const ResourceName& name);
  // Newest first, then by name. Other calls go on meanwhile: what is put or deleted then may be
  // there or not.
  absl::StatusOr<std::vector<RecordingRow>> ListRecordings(const ResourceName& channel) {
    return RecordingsAfter(channel, {}, SIZE_MAX);
  }
  // At most `most` of those that come after `after` in that order.
  absl::StatusOr<std::vector<RecordingRow>> RecordingsAfter(const ResourceName& channel,
                                                            RowKey after, size_t most);
  // As ListRecordings. Costs less for all but the first list: it decodes changed rows alone.
  absl::StatusOr<std::vector<SharedSummary>> ListSummaries(const ResourceName& channel);
  void DeleteRecording(const ResourceName& name);
  // At most `most` recordings that say they are copies of `original`, or of a copy of it, by name.
  // One may be gone.
  absl::StatusOr<std::vector<ResourceName>> CopiesOf(const std::string& original, size_t most);
  absl::StatusOr<uint64_t> CountRecordings(const ResourceName& channel);
  // By LUN, of those that have some. From memory: it never waits for the disk.
  std::map<std::string, uint64_t> Counts() const { return books_->Counts(); }

  void RememberRequest(const std::string& id, const PastRequest& request);
  absl::StatusOr<std::optional<PastRequest>> FindRequest(const std::string& id);

  // Writes what waits, or tries whether the state directory works, and is still the one that was
  // opened. The error that it met.
  absl::Status Retry();

  // How the state directory does. Neither waits for it.
  //
  // STATE_UNUSABLE: the last operation failed, or took too long (DEADLINE_EXCEEDED).
  absl::Status health() const { return books_->health(); }
  size_t waiting() const { return books_->waiting(); }  // changes

 private:
  Catalog(std::shared_ptr<Books> books, std::unique_ptr<StateThread> thread)
      : books_(std::move(books)), thread_(std::move(thread)) {}

  // On the state thread: what it answers, or that it hangs.
  template <typename T>
  absl::StatusOr<T> Ask(std::function<absl::StatusOr<T>(Books&)> read);
  absl::Status Do(std::function<absl::Status(Books&)> act);
  void Change(const RowId& id, RowChange change);
  // At most `most` after `after`, in order. `take` gets each row; one that it cannot read, it
  // leaves out.
  absl::Status ForEachRow(const ResourceName& channel, RowKey after, size_t most,
                          absl::FunctionRef<absl::Status(RawRow&)> take);

  // Shared with the thread, which stays where the disk hangs.
  const std::shared_ptr<Books> books_;
  const std::unique_ptr<StateThread> thread_;
  Summaries summaries_;
};

}  // namespace tapedeck::storage_node::catalog
