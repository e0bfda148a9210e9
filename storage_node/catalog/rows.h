// The rows of the catalog's database, each with its document as text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/catalog/database.h"
#include "storage_node/catalog/names.h"

namespace tapedeck::storage_node::catalog {

// A place in the order of recordings, newest first, then by name; the default comes before all.
struct RowKey {
  int64_t open_ns = INT64_MAX;
  ResourceName name;

  bool operator<(const RowKey& other) const {
    return open_ns != other.open_ns ? open_ns > other.open_ns : name < other.name;
  }
};

struct RawRow {
  RowKey key;
  std::string document;
};

// What a request_id did.
struct PastRequest {
  std::string kind;
  std::string name;
};

enum class Table { kChannels, kRecordings, kRequests };

struct RowId {
  Table table = Table::kRecordings;
  ResourceName name;    // of a channel or a recording
  std::string request;  // the request_id

  auto operator<=>(const RowId&) const = default;
};

// What a row becomes.
struct RowChange {
  bool put = true;       // else it goes
  std::string document;  // of a request its kind
  // Of recordings.
  int64_t open_ns = 0;
  std::vector<std::string> originals;  // names of what it has its blocks from
  // Of requests.
  std::string request_name;

  size_t bytes() const {
    size_t sum = document.size() + request_name.size();
    for (const std::string& one : originals) sum += one.size();
    return sum;
  }
};

// One thread at a time. Errors are those of Database. After an error of Apply the change may have
// happened: it can be made again.
class Rows {
 public:
  static absl::StatusOr<Rows> Open(const std::string& path);
  // Whether Open would refuse the file for what it is. Reads its header alone, changes nothing.
  // Not while this process has the database open: SQLite would lose its locks.
  static absl::Status Look(const std::string& path);

  // All of it or nothing.
  absl::Status Apply(const RowId& id, const RowChange& change);
  // Nobody has removed or replaced the file.
  absl::Status CheckPlace() const { return database_.CheckPlace(); }
  // Writes, and changes nothing.
  absl::Status Probe();

  absl::StatusOr<std::optional<std::string>> Channel(const ResourceName& name);
  // `lun` may be "-".
  absl::StatusOr<std::map<ResourceName, std::string>> Channels(const std::string& lun);
  absl::StatusOr<bool> HasRecording(const ResourceName& name);
  absl::StatusOr<std::optional<std::string>> Recording(const ResourceName& name);
  // Some of those after `after`, in order; none at the end.
  absl::StatusOr<std::vector<RawRow>> RecordingsAfter(const ResourceName& channel,
                                                      const RowKey& after, size_t most);
  absl::StatusOr<std::set<ResourceName>> CopiesOf(const std::string& original, size_t most);
  absl::StatusOr<uint64_t> CountRecordings(const ResourceName& channel);
  absl::StatusOr<std::map<std::string, uint64_t>> CountByLun();
  absl::StatusOr<std::optional<PastRequest>> Request(const std::string& id);

 private:
  explicit Rows(Database database) : database_(std::move(database)) {}

  // Runs a statement that gives no rows, with `texts` bound in order.
  absl::Status Change(const char* sql, const std::vector<std::string>& texts);
  absl::Status ApplyTo(const RowId& id, const RowChange& change);
  absl::Status ApplyToChannel(const ResourceName& name, const RowChange& change);
  absl::Status ApplyToRecording(const ResourceName& name, const RowChange& change);

  Database database_;
};

}  // namespace tapedeck::storage_node::catalog
