#include "storage_node/catalog/catalog.h"

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
)sql";

}  // namespace

absl::StatusOr<std::unique_ptr<Catalog>> Catalog::Open(const std::string& path) {
  TD_ASSIGN_OR_RETURN(Database database, Database::Open(path));
  TD_RETURN_IF_ERROR(database.Run(kSchema));
  return std::unique_ptr<Catalog>(new Catalog(std::move(database)));
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
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("INSERT OR REPLACE INTO recordings VALUES(?, ?, ?, ?, ?)"));
  statement.Bind(1, name.lun);
  statement.Bind(2, name.channel);
  statement.Bind(3, name.recording);
  statement.Bind(4, manifest.start_time_ns);
  statement.Bind(5, format::EncodeManifest(manifest));
  return statement.Step().status();
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

absl::StatusOr<std::vector<RecordingRow>> Catalog::ListRecordings(const ResourceName& channel) {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(Statement statement,
                      database_.Prepare("SELECT lun, channel, recording, document FROM recordings "
                                        "WHERE ?1 IN ('-', lun) AND ?2 IN ('-', channel) "
                                        "ORDER BY start_ns DESC, recording DESC, lun, channel"));
  statement.Bind(1, channel.lun);
  statement.Bind(2, channel.channel);
  std::vector<RecordingRow> rows;
  while (true) {
    TD_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) return rows;
    ResourceName name{
        .lun = statement.Text(0), .channel = statement.Text(1), .recording = statement.Text(2)};
    auto manifest = format::DecodeManifest(statement.Text(3));
    if (manifest.ok()) {
      rows.push_back({.name = std::move(name), .manifest = *std::move(manifest)});
    } else {
      // The files are the truth: start-up reads them again where there is no row.
      dataplane::Log(
          dataplane::LogLevel::kError, "catalog", "row left out: it cannot be read",
          {{"recording", name.ToString()}, {"error", std::string(manifest.status().message())}});
    }
  }
}

absl::Status Catalog::DeleteRecording(const ResourceName& name) {
  absl::MutexLock lock(&mutex_);
  return Change("DELETE FROM recordings WHERE lun = ? AND channel = ? AND recording = ?",
                {name.lun, name.channel, name.recording});
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
