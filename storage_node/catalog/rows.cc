#include "storage_node/catalog/rows.h"

#include <endian.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/disk/fd.h"

namespace tapedeck::storage_node::catalog {
namespace {

constexpr char kSchema[] = R"sql(
  CREATE TABLE IF NOT EXISTS channels(
    lun TEXT, channel TEXT, document TEXT NOT NULL,
    PRIMARY KEY(lun, channel)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS recordings(
    lun TEXT, channel TEXT, recording TEXT, open_ns INTEGER NOT NULL, document TEXT NOT NULL,
    PRIMARY KEY(lun, channel, recording)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS requests(
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS recordings_by_open ON recordings(open_ns);
  CREATE TABLE IF NOT EXISTS copies(
    original TEXT, lun TEXT, channel TEXT, recording TEXT,
    PRIMARY KEY(original, lun, channel, recording)) WITHOUT ROWID;
)sql";

// Of the documents; what the file says of it is 0 where there is none yet.
constexpr int64_t kVersion = 3;

// Documents are decoded without the lock, so that whoever seals a recording waits for one step at
// most, and so that a list of large ones is not held twice.
constexpr size_t kMaxStepRows = 64;
constexpr size_t kMaxStepBytes = 1 << 20;

// The file's first bytes, and where it has the version, big-endian: sqlite.org/fileformat2.html.
constexpr char kMagic[16] = "SQLite format 3";
constexpr size_t kVersionAt = 60;

absl::Status VersionIs(int64_t version) {
  if (version == kVersion) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the catalog is of format version ", version, ", and this build reads version ",
                   kVersion, ": rebuild it from the LUNs with tapedeck-storage --rebuild-catalog"));
}

// Nothing is changed where it is another one.
absl::Status CheckVersion(Database& database) {
  TD_ASSIGN_OR_RETURN(const int64_t version, database.Number("PRAGMA user_version"));
  TD_ASSIGN_OR_RETURN(const int64_t tables, database.Number("SELECT count(*) FROM sqlite_master"));
  if (version != kVersion && tables == 0) {
    return database.Run(absl::StrCat("PRAGMA user_version = ", kVersion).c_str());
  }
  return VersionIs(version);
}

void BindName(Statement& statement, const ResourceName& name) {
  statement.Bind(1, name.lun);
  statement.Bind(2, name.channel);
  statement.Bind(3, name.recording);
}

}  // namespace

absl::Status Rows::Look(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/'));
  std::array<std::byte, kVersionAt + sizeof(uint32_t)> header{};
  const auto file = disk::Open(path, O_RDONLY | O_NONBLOCK, directory);
  if (absl::IsNotFound(file.status())) return absl::OkStatus();
  if (!file.ok()) return disk::OfState(directory, file.status());
  const auto got = disk::ReadSome(*file, header, 0, path, directory);
  if (!got.ok()) return disk::OfState(directory, got.status());
  // Of a node that was killed as it made the file, the rest is in the log beside it.
  if (*got < header.size()) return absl::OkStatus();
  if (std::memcmp(header.data(), kMagic, sizeof(kMagic)) != 0) {
    return disk::StateUnusable(directory, "read", absl::StrCat(path, " is not a database"),
                               "stop the node and run tapedeck-storage --rebuild-catalog");
  }
  uint32_t version = 0;
  std::memcpy(&version, header.data() + kVersionAt, sizeof(version));
  version = be32toh(version);
  return version == 0 ? absl::OkStatus() : VersionIs(version);
}

absl::StatusOr<Rows> Rows::Open(const std::string& path) {
  TD_ASSIGN_OR_RETURN(Database database, Database::Open(path));
  TD_RETURN_IF_ERROR(CheckVersion(database));
  TD_RETURN_IF_ERROR(database.Run(kSchema));
  return Rows(std::move(database));
}

absl::Status Rows::Probe() {
  TD_RETURN_IF_ERROR(database_.CheckPlace());
  return database_.Run(absl::StrCat("PRAGMA user_version = ", kVersion).c_str());
}

absl::Status Rows::Change(const char* sql, const std::vector<std::string>& texts) {
  TD_ASSIGN_OR_RETURN(Statement statement, database_.Prepare(sql));
  for (size_t i = 0; i < texts.size(); ++i) statement.Bind(static_cast<int>(i + 1), texts[i]);
  return statement.Step().status();
}

absl::Status Rows::ApplyToChannel(const ResourceName& name, const RowChange& change) {
  if (!change.put) {
    return Change("DELETE FROM channels WHERE lun = ? AND channel = ?", {name.lun, name.channel});
  }
  return Change("INSERT OR REPLACE INTO channels VALUES(?, ?, ?)",
                {name.lun, name.channel, change.document});
}

absl::Status Rows::ApplyToRecording(const ResourceName& name, const RowChange& change) {
  const std::vector<std::string> key = {name.lun, name.channel, name.recording};
  if (!change.put) {
    TD_RETURN_IF_ERROR(
        Change("DELETE FROM copies WHERE lun = ? AND channel = ? AND recording = ?", key));
    return Change("DELETE FROM recordings WHERE lun = ? AND channel = ? AND recording = ?", key);
  }
  for (const std::string& original : change.originals) {
    TD_RETURN_IF_ERROR(Change("INSERT OR REPLACE INTO copies VALUES(?, ?, ?, ?)",
                              {original, name.lun, name.channel, name.recording}));
  }
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("INSERT OR REPLACE INTO recordings VALUES(?, ?, ?, ?, ?)"));
  BindName(statement, name);
  statement.Bind(4, change.open_ns);
  statement.Bind(5, change.document);
  return statement.Step().status();
}

absl::Status Rows::ApplyTo(const RowId& id, const RowChange& change) {
  switch (id.table) {
    case Table::kChannels:
      return ApplyToChannel(id.name, change);
    case Table::kRecordings:
      return ApplyToRecording(id.name, change);
    case Table::kRequests:
      return Change("INSERT OR REPLACE INTO requests VALUES(?, ?, ?)",
                    {id.request, change.document, change.request_name});
  }
  return absl::InternalError("no such table");
}

absl::Status Rows::Apply(const RowId& id, const RowChange& change) {
  TD_RETURN_IF_ERROR(database_.CheckPlace());
  TD_ASSIGN_OR_RETURN(Transaction transaction, database_.Begin());
  TD_RETURN_IF_ERROR(ApplyTo(id, change));
  return transaction.Commit();
}

absl::StatusOr<bool> Rows::HasRecording(const ResourceName& name) {
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("SELECT 1 FROM recordings WHERE lun = ? AND channel = ? "
                                        "AND recording = ?"));
  BindName(statement, name);
  return statement.Step();
}

absl::StatusOr<std::optional<std::string>> Rows::Channel(const ResourceName& name) {
  TD_ASSIGN_OR_RETURN(
      Statement statement,
      database_.Prepare("SELECT document FROM channels WHERE lun = ? AND channel = ?"));
  statement.Bind(1, name.lun);
  statement.Bind(2, name.channel);
  TD_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return std::nullopt;
  return statement.Text(0);
}

absl::StatusOr<std::map<ResourceName, std::string>> Rows::Channels(const std::string& lun) {
  TD_ASSIGN_OR_RETURN(
      Statement statement,
      database_.Prepare("SELECT lun, channel, document FROM channels WHERE ?1 IN ('-', lun)"));
  statement.Bind(1, lun);
  std::map<ResourceName, std::string> channels;
  while (true) {
    TD_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) return channels;
    channels[{.lun = statement.Text(0), .channel = statement.Text(1)}] = statement.Text(2);
  }
}

absl::StatusOr<std::optional<std::string>> Rows::Recording(const ResourceName& name) {
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("SELECT document FROM recordings WHERE lun = ? AND "
                                        "channel = ? AND recording = ?"));
  BindName(statement, name);
  TD_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return std::nullopt;
  return statement.Text(0);
}

absl::StatusOr<std::vector<RawRow>> Rows::RecordingsAfter(const ResourceName& channel,
                                                          const RowKey& after, size_t most) {
  TD_ASSIGN_OR_RETURN(
      Statement statement,
      database_.Prepare("SELECT open_ns, lun, channel, recording, document FROM recordings "
                        "WHERE ?1 IN ('-', lun) AND ?2 IN ('-', channel) AND open_ns <= ?3 AND "
                        "(open_ns < ?3 OR (lun, channel, recording) > (?4, ?5, ?6)) "
                        "ORDER BY open_ns DESC, lun, channel, recording"));
  statement.Bind(1, channel.lun);
  statement.Bind(2, channel.channel);
  statement.Bind(3, after.open_ns);
  statement.Bind(4, after.name.lun);
  statement.Bind(5, after.name.channel);
  statement.Bind(6, after.name.recording);
  std::vector<RawRow> rows;
  size_t bytes = 0;
  while (rows.size() < std::min(most, kMaxStepRows) && bytes < kMaxStepBytes) {
    TD_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) break;
    rows.push_back({.key = {.open_ns = statement.Int(0),
                            .name = {.lun = statement.Text(1),
                                     .channel = statement.Text(2),
                                     .recording = statement.Text(3)}},
                    .document = statement.Text(4)});
    bytes += rows.back().document.size();
  }
  return rows;
}

absl::StatusOr<std::set<ResourceName>> Rows::CopiesOf(const std::string& original, size_t most) {
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("SELECT lun, channel, recording FROM copies "
                                        "WHERE original = ? ORDER BY lun, channel, recording"));
  statement.Bind(1, original);
  std::set<ResourceName> names;
  while (names.size() < most) {
    TD_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) break;
    names.insert(
        {.lun = statement.Text(0), .channel = statement.Text(1), .recording = statement.Text(2)});
  }
  return names;
}

absl::StatusOr<uint64_t> Rows::CountRecordings(const ResourceName& channel) {
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("SELECT COUNT(*) FROM recordings "
                                        "WHERE ?1 IN ('-', lun) AND ?2 IN ('-', channel)"));
  statement.Bind(1, channel.lun);
  statement.Bind(2, channel.channel);
  TD_RETURN_IF_ERROR(statement.Step().status());
  return static_cast<uint64_t>(statement.Int(0));
}

absl::StatusOr<std::map<std::string, uint64_t>> Rows::CountByLun() {
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("SELECT lun, COUNT(*) FROM recordings GROUP BY lun"));
  std::map<std::string, uint64_t> counts;
  while (true) {
    TD_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) return counts;
    counts[statement.Text(0)] = static_cast<uint64_t>(statement.Int(1));
  }
}

absl::StatusOr<std::optional<PastRequest>> Rows::Request(const std::string& id) {
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("SELECT kind, name FROM requests WHERE id = ?"));
  statement.Bind(1, id);
  TD_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return std::nullopt;
  return PastRequest{.kind = statement.Text(0), .name = statement.Text(1)};
}

}  // namespace tapedeck::storage_node::catalog
