#include "storage_node/catalog/catalog.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/config.h"

namespace tapedeck::storage_node::catalog {
namespace {

constexpr char kSchema[] = R"sql(
  CREATE TABLE IF NOT EXISTS channels(
    lun TEXT, channel TEXT, document TEXT NOT NULL,
    PRIMARY KEY(lun, channel)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS recordings(
    lun TEXT, channel TEXT, recording TEXT, start_ns INTEGER NOT NULL, document TEXT NOT NULL,
    PRIMARY KEY(lun, channel, recording)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS requests(
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS recordings_by_start ON recordings(start_ns);
  CREATE TABLE IF NOT EXISTS copies(
    original TEXT, lun TEXT, channel TEXT, recording TEXT,
    PRIMARY KEY(original, lun, channel, recording)) WITHOUT ROWID;
)sql";

// Of the documents; what the file says of it is 0 where there is none yet.
constexpr int64_t kVersion = 2;

// Documents are decoded without the lock, so that whoever seals a recording waits for one step at
// most, and so that a list of large ones is not held twice.
constexpr size_t kMaxStepRows = 64;
constexpr size_t kMaxStepBytes = 1 << 20;

// One row must not spoil every list; reading the recording itself says the same.
void LogUnreadable(const ResourceName& name, const absl::Status& status) {
  dataplane::Log(dataplane::LogLevel::kError, "catalog", "row left out of a list",
                 {{"recording", name.ToString()}, {"error", std::string(status.message())}});
}

// Nothing is changed where it is another one.
absl::Status CheckVersion(Database& database) {
  TD_ASSIGN_OR_RETURN(const int64_t version, database.Number("PRAGMA user_version"));
  TD_ASSIGN_OR_RETURN(const int64_t tables, database.Number("SELECT count(*) FROM sqlite_master"));
  if (version == kVersion) return absl::OkStatus();
  if (tables == 0) return database.Run(absl::StrCat("PRAGMA user_version = ", kVersion).c_str());
  return absl::FailedPreconditionError(absl::StrCat(
      "the catalog is of format version ", version, ", and this build reads version ", kVersion,
      ": make it again from the LUNs with tapedeck-storage --rebuild-catalog"));
}

// All names that what it has its blocks from had.
std::vector<std::string> OriginalsOf(const format::Manifest& manifest) {
  std::vector<std::string> names = manifest.earlier_originals;
  if (!manifest.original.empty()) names.push_back(manifest.original);
  return names;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Catalog>> Catalog::Open(const std::string& path) {
  TD_ASSIGN_OR_RETURN(Database database, Database::Open(path));
  TD_RETURN_IF_ERROR(CheckVersion(database));
  TD_RETURN_IF_ERROR(database.Run(kSchema));
  std::unique_ptr<Catalog> catalog(new Catalog(std::move(database)));
  TD_RETURN_IF_ERROR(catalog->CountAll());
  return catalog;
}

absl::Status Catalog::CountAll() {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("SELECT lun, COUNT(*) FROM recordings GROUP BY lun"));
  while (true) {
    TD_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) return absl::OkStatus();
    Count(statement.Text(0), statement.Int(1));
  }
}

void Catalog::Count(const std::string& lun, int64_t more) {
  absl::MutexLock lock(&counts_mutex_);
  uint64_t& count = counts_[lun];
  count += static_cast<uint64_t>(more);  // modulo 2^64
  if (count == 0) counts_.erase(lun);
}

std::map<std::string, uint64_t> Catalog::Counts() const {
  absl::MutexLock lock(&counts_mutex_);
  return counts_;
}

absl::StatusOr<bool> Catalog::HasRecording(const ResourceName& name) {
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("SELECT 1 FROM recordings WHERE lun = ? AND channel = ? "
                                        "AND recording = ?"));
  statement.Bind(1, name.lun);
  statement.Bind(2, name.channel);
  statement.Bind(3, name.recording);
  return statement.Step();
}

absl::Status Catalog::Change(const char* sql, const std::vector<std::string>& texts) {
  TD_ASSIGN_OR_RETURN(Statement statement, database_.Prepare(sql));
  for (size_t i = 0; i < texts.size(); ++i) statement.Bind(static_cast<int>(i + 1), texts[i]);
  return statement.Step().status();
}

absl::Status Catalog::PutChannel(const ResourceName& name, const services::Channel& channel) {
  absl::MutexLock lock(&mutex_);
  return Change("INSERT OR REPLACE INTO channels VALUES(?, ?, ?)",
                {name.lun, name.channel, format::EncodeChannel(channel)});
}

absl::StatusOr<std::optional<services::Channel>> Catalog::GetChannel(const ResourceName& name) {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(
      Statement statement,
      database_.Prepare("SELECT document FROM channels WHERE lun = ? AND channel = ?"));
  statement.Bind(1, name.lun);
  statement.Bind(2, name.channel);
  TD_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return std::nullopt;
  return format::DecodeChannel(statement.Text(0));
}

absl::StatusOr<std::vector<services::Channel>> Catalog::ListChannels(const std::string& lun) {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("SELECT document FROM channels WHERE ?1 IN ('-', lun) "
                                        "ORDER BY lun, channel"));
  statement.Bind(1, lun);
  std::vector<services::Channel> channels;
  while (true) {
    TD_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) return channels;
    TD_ASSIGN_OR_RETURN(services::Channel channel, format::DecodeChannel(statement.Text(0)));
    channels.push_back(std::move(channel));
  }
}

absl::Status Catalog::DeleteChannel(const ResourceName& name) {
  absl::MutexLock lock(&mutex_);
  return Change("DELETE FROM channels WHERE lun = ? AND channel = ?", {name.lun, name.channel});
}

absl::Status Catalog::PutRecording(const ResourceName& name, const format::Manifest& manifest) {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(const bool known, HasRecording(name));
  for (const std::string& original : OriginalsOf(manifest)) {
    TD_RETURN_IF_ERROR(Change("INSERT OR REPLACE INTO copies VALUES(?, ?, ?, ?)",
                              {original, name.lun, name.channel, name.recording}));
  }
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("INSERT OR REPLACE INTO recordings VALUES(?, ?, ?, ?, ?)"));
  statement.Bind(1, name.lun);
  statement.Bind(2, name.channel);
  statement.Bind(3, name.recording);
  statement.Bind(4, manifest.start_time_ns);
  statement.Bind(5, format::EncodeManifest(manifest));
  TD_RETURN_IF_ERROR(statement.Step().status());
  if (!known) Count(name.lun, 1);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<format::Manifest>> Catalog::GetRecording(const ResourceName& name) {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("SELECT document FROM recordings WHERE lun = ? AND "
                                        "channel = ? AND recording = ?"));
  statement.Bind(1, name.lun);
  statement.Bind(2, name.channel);
  statement.Bind(3, name.recording);
  TD_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return std::nullopt;
  return format::DecodeManifest(statement.Text(0));
}

absl::StatusOr<std::vector<Catalog::RawRow>> Catalog::ReadRows(const ResourceName& channel,
                                                               const RowKey& after, size_t most) {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(
      Statement statement,
      database_.Prepare("SELECT start_ns, lun, channel, recording, document FROM recordings "
                        "WHERE ?1 IN ('-', lun) AND ?2 IN ('-', channel) AND start_ns <= ?3 AND "
                        "(start_ns < ?3 OR (lun, channel, recording) > (?4, ?5, ?6)) "
                        "ORDER BY start_ns DESC, lun, channel, recording"));
  statement.Bind(1, channel.lun);
  statement.Bind(2, channel.channel);
  statement.Bind(3, after.start_ns);
  statement.Bind(4, after.name.lun);
  statement.Bind(5, after.name.channel);
  statement.Bind(6, after.name.recording);
  std::vector<RawRow> rows;
  size_t bytes = 0;
  while (rows.size() < std::min(most, kMaxStepRows) && bytes < kMaxStepBytes) {
    TD_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) break;
    rows.push_back({.key = {.start_ns = statement.Int(0),
                            .name = {.lun = statement.Text(1),
                                     .channel = statement.Text(2),
                                     .recording = statement.Text(3)}},
                    .document = statement.Text(4)});
    bytes += rows.back().document.size();
  }
  return rows;
}

absl::StatusOr<std::vector<RecordingRow>> Catalog::RecordingsAfter(const ResourceName& channel,
                                                                   RowKey after, size_t most) {
  std::vector<RecordingRow> rows;
  while (rows.size() < most) {
    TD_ASSIGN_OR_RETURN(std::vector<RawRow> some, ReadRows(channel, after, most - rows.size()));
    if (some.empty()) break;
    after = some.back().key;
    for (RawRow& row : some) {
      auto manifest = format::DecodeManifest(row.document);
      if (!manifest.ok()) {
        LogUnreadable(row.key.name, manifest.status());
        continue;
      }
      rows.push_back({.name = std::move(row.key.name), .manifest = *std::move(manifest)});
    }
  }
  return rows;
}

absl::Status Catalog::DeleteRecording(const ResourceName& name) {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(const bool known, HasRecording(name));
  TD_RETURN_IF_ERROR(
      Change("DELETE FROM recordings WHERE lun = ? AND channel = ? AND recording = ?",
             {name.lun, name.channel, name.recording}));
  if (known) Count(name.lun, -1);
  return Change("DELETE FROM copies WHERE lun = ? AND channel = ? AND recording = ?",
                {name.lun, name.channel, name.recording});
}

absl::StatusOr<std::vector<ResourceName>> Catalog::CopiesOf(const std::string& original,
                                                            size_t most) {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("SELECT lun, channel, recording FROM copies "
                                        "WHERE original = ? ORDER BY lun, channel, recording"));
  statement.Bind(1, original);
  std::vector<ResourceName> names;
  while (names.size() < most) {
    TD_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) break;
    names.push_back(
        {.lun = statement.Text(0), .channel = statement.Text(1), .recording = statement.Text(2)});
  }
  return names;
}

absl::StatusOr<uint64_t> Catalog::CountRecordings(const ResourceName& channel) {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("SELECT COUNT(*) FROM recordings "
                                        "WHERE ?1 IN ('-', lun) AND ?2 IN ('-', channel)"));
  statement.Bind(1, channel.lun);
  statement.Bind(2, channel.channel);
  TD_RETURN_IF_ERROR(statement.Step().status());
  return static_cast<uint64_t>(statement.Int(0));
}

absl::Status Catalog::RememberRequest(const std::string& id, const PastRequest& request) {
  absl::MutexLock lock(&mutex_);
  return Change("INSERT OR REPLACE INTO requests VALUES(?, ?, ?)",
                {id, request.kind, request.name});
}

absl::StatusOr<std::optional<PastRequest>> Catalog::FindRequest(const std::string& id) {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("SELECT kind, name FROM requests WHERE id = ?"));
  statement.Bind(1, id);
  TD_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return std::nullopt;
  return PastRequest{.kind = statement.Text(0), .name = statement.Text(1)};
}

}  // namespace tapedeck::storage_node::catalog
