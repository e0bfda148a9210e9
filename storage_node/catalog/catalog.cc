#include "storage_node/catalog/catalog.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "storage_node/disk/errors.h"
#include "storage_node/format/config.h"

namespace tapedeck::storage_node::catalog {
namespace {

// Changes that may wait for the state directory. With fewer a ring that is recorded all the time
// would stop after minutes; each has some hundred bytes, and more with annotations.
constexpr size_t kMaxWaitingRows = 16'384;
constexpr size_t kMaxWaitingBytes = 64 << 20;

// Waiting changes that are written under one lock: who seals a recording waits for so many at most.
constexpr size_t kRowsAtOnce = 16;

// An operation that takes longer holds up the end of a recording noticeably.
constexpr absl::Duration kSlow = absl::Seconds(1);

// One row must not spoil every list; reading the recording itself says the same.
void LogUnreadable(const ResourceName& name, const absl::Status& status) {
  dataplane::Log(dataplane::LogLevel::kError, "catalog", "row left out of a list",
                 {{"recording", name.ToString()}, {"error", std::string(status.message())}});
}

// All names that what it has its blocks from had.
std::vector<std::string> OriginalsOf(const format::Manifest& manifest) {
  std::vector<std::string> names = manifest.earlier_originals;
  if (!manifest.original.empty()) names.push_back(manifest.original);
  return names;
}

RowId ChannelRow(const ResourceName& name) {
  return {.table = Table::kChannels, .name = {.lun = name.lun, .channel = name.channel}};
}
RowId RecordingRowOf(const ResourceName& name) {
  return {.table = Table::kRecordings, .name = name};
}
RowId RequestRow(const std::string& id) { return {.table = Table::kRequests, .request = id}; }

bool Matches(const std::string& id, const std::string& asked) {
  return asked == "-" || id == asked;
}
bool IsIn(const ResourceName& name, const ResourceName& channel) {
  return Matches(name.lun, channel.lun) && Matches(name.channel, channel.channel);
}

absl::Status StatusOf(const absl::Status& status) { return status; }
template <typename T>
absl::Status StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

absl::Status SlowState(const std::string& directory, absl::Duration took) {
  const absl::Status status = disk::StateUnusable(
      directory, "catalog", absl::StrCat("an operation took ", absl::FormatDuration(took)),
      absl::StrCat("see that the disk of the state directory ", directory, " answers"));
  absl::Status slow(absl::StatusCode::kDeadlineExceeded, status.message());
  status.ForEachPayload(
      [&](absl::string_view type, const absl::Cord& payload) { slow.SetPayload(type, payload); });
  return slow;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Catalog>> Catalog::Open(const std::string& path) {
  TD_ASSIGN_OR_RETURN(Rows rows, Rows::Open(path));
  std::unique_ptr<Catalog> catalog(new Catalog(std::move(rows), path.substr(0, path.rfind('/'))));
  absl::MutexLock lock(&catalog->mutex_);
  TD_RETURN_IF_ERROR(catalog->CountAll());
  return catalog;
}

Catalog::~Catalog() {
  if (waiting() == 0) return;
  const absl::Status status = Retry();
  if (status.ok()) return;
  dataplane::Log(dataplane::LogLevel::kWarning, "catalog",
                 "changes not written: the next start reads them from the recordings' files",
                 {{"changes", absl::StrCat(waiting())}, {"error", std::string(status.message())}});
}

absl::Status Catalog::CheckTakes() const {
  absl::MutexLock lock(&health_mutex_);
  if (waiting_rows_ < kMaxWaitingRows && waiting_bytes_ < kMaxWaitingBytes) return absl::OkStatus();
  return disk::StateBehind(directory_, waiting_rows_, health_.message());
}

template <typename Act>
auto Catalog::Watched(Act act) {
  const absl::Time begun = dataplane::SteadyTime();
  auto result = act();
  const absl::Duration took = dataplane::SteadyTime() - begun;
  const absl::Status status = StatusOf(result);
  Tell(status.ok() && took > kSlow ? SlowState(directory_, took) : status);
  return result;
}

// What fails once is told once.
void Catalog::Tell(const absl::Status& status) {
  absl::MutexLock lock(&health_mutex_);
  waiting_rows_ = waiting_.size();
  waiting_bytes_ = waiting_.bytes();
  // One that takes something now may still lack what waits.
  if (status.ok() && waiting_rows_ > 0) return;
  if (status.ok() != health_.ok()) {
    if (status.ok()) {
      dataplane::Log(dataplane::LogLevel::kInfo, "catalog", "the state directory works again",
                     {{"directory", directory_}});
    } else {
      dataplane::Log(
          dataplane::LogLevel::kError, "catalog",
          "the state directory fails: recording goes on, and changes of the catalog wait",
          {{"directory", directory_}, {"error", std::string(status.message())}});
    }
  }
  health_ = status;
}

absl::Status Catalog::health() const {
  absl::MutexLock lock(&health_mutex_);
  return health_;
}

size_t Catalog::waiting() const {
  absl::MutexLock lock(&health_mutex_);
  return waiting_rows_;
}

absl::Status Catalog::CountAll() {
  TD_ASSIGN_OR_RETURN(auto counts, rows_.CountByLun());
  miscounted_ = false;
  absl::MutexLock lock(&health_mutex_);
  counts_ = std::move(counts);
  return absl::OkStatus();
}

std::map<std::string, uint64_t> Catalog::Counts() const {
  absl::MutexLock lock(&health_mutex_);
  return counts_;
}

void Catalog::Count(const RowId& id, bool put) {
  if (id.table != Table::kRecordings) return;
  const RowChange* waits = waiting_.Find(id);
  const auto before =
      waits != nullptr ? absl::StatusOr<bool>(waits->put) : rows_.HasRecording(id.name);
  if (before.ok() && *before == put) return;
  absl::MutexLock lock(&health_mutex_);
  uint64_t& count = counts_[id.name.lun];
  if (!before.ok() || (!put && count == 0)) {
    miscounted_ = true;
  } else {
    count += put ? 1 : static_cast<uint64_t>(-1);
  }
  if (count == 0) counts_.erase(id.name.lun);
}

void Catalog::Keep(const RowId& id, RowChange change) {
  int more = 0;
  if (id.table == Table::kRecordings) {
    // If it cannot be asked, what waits is counted when it has been written.
    const auto there = rows_.HasRecording(id.name);
    if (there.ok() && *there != change.put) more = change.put ? 1 : -1;
  }
  waiting_.Keep(id, std::move(change), more);
}

void Catalog::Change(const RowId& id, RowChange change) {
  absl::MutexLock lock(&mutex_);
  Count(id, change.put);
  // What fails waits, and Watched has told it.
  Watched([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const absl::Status applied = rows_.Apply(id, change);
    if (applied.ok()) waiting_.Drop(id);
    if (!applied.ok()) Keep(id, std::move(change));
    return applied;
  }).IgnoreError();
}

absl::Status Catalog::WriteSome() {
  for (size_t i = 0; i < kRowsAtOnce && !waiting_.empty(); ++i) {
    const auto& [id, waits] = *waiting_.rows().begin();
    TD_RETURN_IF_ERROR(rows_.Apply(id, waits.change));
    waiting_.Drop(RowId(id));
  }
  if (!waiting_.empty()) return absl::OkStatus();
  if (miscounted_) TD_RETURN_IF_ERROR(CountAll());
  return rows_.Probe();
}

absl::Status Catalog::Retry() {
  while (true) {
    absl::MutexLock lock(&mutex_);
    if (waiting_.empty() && !miscounted_ && health().ok()) return absl::OkStatus();
    const absl::Status status =
        Watched([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return WriteSome(); });
    if (!status.ok() || waiting_.empty()) return status;
  }
}

void Catalog::PutChannel(const ResourceName& name, const services::Channel& channel) {
  Change(ChannelRow(name), {.document = format::EncodeChannel(channel)});
}

void Catalog::DeleteChannel(const ResourceName& name) { Change(ChannelRow(name), {.put = false}); }

absl::StatusOr<std::optional<services::Channel>> Catalog::GetChannel(const ResourceName& name) {
  absl::MutexLock lock(&mutex_);
  if (const RowChange* waits = waiting_.Find(ChannelRow(name)); waits != nullptr) {
    if (!waits->put) return std::nullopt;
    return format::DecodeChannel(waits->document);
  }
  TD_ASSIGN_OR_RETURN(const auto document, Watched([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
                        return rows_.Channel(name);
                      }));
  if (!document.has_value()) return std::nullopt;
  return format::DecodeChannel(*document);
}

absl::StatusOr<std::vector<services::Channel>> Catalog::ListChannels(const std::string& lun) {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(auto documents, Watched([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
                        return rows_.Channels(lun);
                      }));
  for (const auto& [id, waits] : waiting_.rows()) {
    if (id.table != Table::kChannels || !Matches(id.name.lun, lun)) continue;
    if (waits.change.put) documents[id.name] = waits.change.document;
    if (!waits.change.put) documents.erase(id.name);
  }
  std::vector<services::Channel> channels;
  for (const auto& [name, document] : documents) {
    TD_ASSIGN_OR_RETURN(services::Channel channel, format::DecodeChannel(document));
    channels.push_back(std::move(channel));
  }
  return channels;
}

void Catalog::PutRecording(const ResourceName& name, const format::Manifest& manifest) {
  Change(RecordingRowOf(name), {.document = format::EncodeManifest(manifest),
                                .start_ns = manifest.start_time_ns,
                                .originals = OriginalsOf(manifest)});
}

void Catalog::DeleteRecording(const ResourceName& name) {
  Change(RecordingRowOf(name), {.put = false});
}

absl::StatusOr<std::optional<format::Manifest>> Catalog::GetRecording(const ResourceName& name) {
  absl::MutexLock lock(&mutex_);
  if (const RowChange* waits = waiting_.Find(RecordingRowOf(name)); waits != nullptr) {
    if (!waits->put) return std::nullopt;
    return format::DecodeManifest(waits->document);
  }
  TD_ASSIGN_OR_RETURN(const auto document, Watched([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
                        return rows_.Recording(name);
                      }));
  if (!document.has_value()) return std::nullopt;
  return format::DecodeManifest(*document);
}

// `stored` are those of the database, and all up to the last of them unless there are none.
Catalog::Step Catalog::Merge(const ResourceName& channel, const RowKey& after, size_t most,
                             std::vector<RawRow> stored) {
  Step step{.end = stored.empty()};
  if (!step.end) step.last = stored.back().key;
  std::erase_if(stored, [&](const RawRow& row) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return waiting_.Find(RecordingRowOf(row.key.name)) != nullptr;
  });
  step.rows = std::move(stored);
  for (const auto& [id, waits] : waiting_.rows()) {
    if (id.table != Table::kRecordings || !waits.change.put || !IsIn(id.name, channel)) continue;
    RawRow row{.key = {.start_ns = waits.change.start_ns, .name = id.name}};
    if (!(after < row.key) || (!step.end && step.last < row.key)) continue;
    row.document = waits.change.document;
    step.rows.push_back(std::move(row));
  }
  std::ranges::sort(step.rows, [](const RawRow& a, const RawRow& b) { return a.key < b.key; });
  if (step.rows.size() > most) {
    step.rows.resize(most);
    step.last = step.rows.back().key;
    step.end = false;
  }
  return step;
}

absl::StatusOr<Catalog::Step> Catalog::ReadStep(const ResourceName& channel, const RowKey& after,
                                                size_t most) {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(auto stored, Watched([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
                        return rows_.RecordingsAfter(channel, after, most);
                      }));
  return Merge(channel, after, most, std::move(stored));
}

absl::StatusOr<std::vector<RecordingRow>> Catalog::RecordingsAfter(const ResourceName& channel,
                                                                   RowKey after, size_t most) {
  std::vector<RecordingRow> rows;
  for (bool end = false; !end && rows.size() < most;) {
    TD_ASSIGN_OR_RETURN(Step step, ReadStep(channel, after, most - rows.size()));
    end = step.end;
    after = step.last;
    for (RawRow& row : step.rows) {
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

absl::StatusOr<std::vector<ResourceName>> Catalog::CopiesOf(const std::string& original,
                                                            size_t most) {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(auto names, Watched([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
                        return rows_.CopiesOf(original, most);
                      }));
  for (const auto& [id, waits] : waiting_.rows()) {
    if (id.table != Table::kRecordings) continue;
    if (!waits.change.put) names.erase(id.name);
    if (std::ranges::count(waits.change.originals, original) > 0) names.insert(id.name);
  }
  std::vector<ResourceName> some(names.begin(), names.end());
  some.resize(std::min(some.size(), most));
  return some;
}

absl::StatusOr<uint64_t> Catalog::CountRecordings(const ResourceName& channel) {
  absl::MutexLock lock(&mutex_);
  TD_ASSIGN_OR_RETURN(uint64_t count, Watched([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
                        return rows_.CountRecordings(channel);
                      }));
  for (const auto& [id, waits] : waiting_.rows()) {
    const bool counts = id.table == Table::kRecordings && IsIn(id.name, channel);
    if (counts) count += static_cast<uint64_t>(waits.more);  // modulo 2^64
  }
  return count;
}

void Catalog::RememberRequest(const std::string& id, const PastRequest& request) {
  Change(RequestRow(id), {.document = request.kind, .request_name = request.name});
}

absl::StatusOr<std::optional<PastRequest>> Catalog::FindRequest(const std::string& id) {
  absl::MutexLock lock(&mutex_);
  if (const RowChange* waits = waiting_.Find(RequestRow(id)); waits != nullptr) {
    return PastRequest{.kind = waits->document, .name = waits->request_name};
  }
  return Watched([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return rows_.Request(id); });
}

}  // namespace tapedeck::storage_node::catalog
