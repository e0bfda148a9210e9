#include "storage_node/catalog/books.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/catalog/state_thread.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::catalog {
namespace {

// Changes that may wait for the state directory. With fewer a ring that is recorded all the time
// would stop after minutes; each has some hundred bytes, and more with annotations.
constexpr size_t kMaxWaitingRows = 16'384;
constexpr size_t kMaxWaitingBytes = 64 << 20;

// Waiting changes that are written in one go: who seals a recording waits for so many at most.
constexpr size_t kRowsAtOnce = 16;

// An operation that takes longer holds up the end of a recording noticeably.
constexpr absl::Duration kSlow = absl::Seconds(1);

bool Matches(const std::string& id, const std::string& asked) {
  return asked == "-" || id == asked;
}
bool IsIn(const ResourceName& name, const ResourceName& channel) {
  return Matches(name.lun, channel.lun) && Matches(name.channel, channel.channel);
}

absl::Status SlowState(const std::string& directory, absl::string_view what) {
  const absl::Status status = disk::StateUnusable(
      directory, "catalog", what,
      absl::StrCat("check that the disk of the state directory ", directory, " answers"));
  absl::Status slow(absl::StatusCode::kDeadlineExceeded, status.message());
  status.ForEachPayload(
      [&](absl::string_view type, const absl::Cord& payload) { slow.SetPayload(type, payload); });
  return slow;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Books>> Books::Open(const std::string& path) {
  TD_ASSIGN_OR_RETURN(Rows rows, Rows::Open(path));
  std::shared_ptr<Books> books(new Books(std::move(rows), path.substr(0, path.rfind('/'))));
  TD_RETURN_IF_ERROR(books->CountAll());
  return books;
}

absl::Status Books::CheckTakes() const {
  absl::MutexLock lock(&mutex_);
  if (waiting_.size() < kMaxWaitingRows && waiting_.bytes() < kMaxWaitingBytes) {
    return absl::OkStatus();
  }
  return disk::StateBehind(directory_, waiting_.size(), health_.message());
}

absl::Status Books::health() const {
  absl::MutexLock lock(&mutex_);
  return health_;
}

size_t Books::waiting() const {
  absl::MutexLock lock(&mutex_);
  return waiting_.size();
}

std::map<std::string, uint64_t> Books::Counts() const {
  absl::MutexLock lock(&mutex_);
  return counts_;
}

void Books::Keep(const RowId& id, RowChange change) {
  absl::MutexLock lock(&mutex_);
  waiting_.Keep(id, std::move(change));
}

std::optional<RowChange> Books::Waits(const RowId& id) const {
  absl::MutexLock lock(&mutex_);
  const WaitingRows::Waiting* const row = waiting_.Find(id);
  return row == nullptr ? std::nullopt : std::optional(row->change);
}

absl::Status Books::TellHanging() {
  const absl::Status status =
      SlowState(directory_, absl::StrCat("the state directory has not answered for ",
                                         absl::FormatDuration(kStatePatience)));
  absl::MutexLock lock(&mutex_);
  Tell(status);
  return status;
}

void Books::Tell(const absl::Status& status, absl::Duration took) {
  absl::MutexLock lock(&mutex_);
  if (!status.ok() || took <= kSlow) return Tell(status);
  Tell(SlowState(directory_, absl::StrCat("an operation took ", absl::FormatDuration(took))));
}

// What fails once is told once.
void Books::Tell(const absl::Status& status) {
  // One that takes something now may still lack what waits.
  if (status.ok() && !waiting_.empty()) return;
  if (status.ok() != health_.ok()) {
    if (status.ok()) {
      dataplane::Log(dataplane::LogLevel::kInfo, "catalog", "the state directory works again",
                     {{"directory", directory_}});
    } else {
      dataplane::Log(dataplane::LogLevel::kError, "catalog",
                     "the state directory fails: recording continues, changes of the catalog wait",
                     {{"directory", directory_}, {"error", std::string(status.message())}});
    }
  }
  health_ = status;
}

absl::Status Books::CountAll() {
  TD_ASSIGN_OR_RETURN(auto counts, rows_.CountByLun());
  absl::MutexLock lock(&mutex_);
  miscounted_ = false;
  counts_ = std::move(counts);
  return absl::OkStatus();
}

void Books::Count(const RowId& id, bool put) {
  if (id.table != Table::kRecordings) return;
  const auto there = rows_.HasRecording(id.name);
  absl::MutexLock lock(&mutex_);
  WaitingRows::Waiting* const waits = waiting_.Find(id);
  if (waits == nullptr) return;
  if (there.ok()) waits->more = (put ? 1 : 0) - (*there ? 1 : 0);
  if (!waits->counted.has_value() && !there.ok()) {
    miscounted_ = true;
    return;
  }
  const bool before = waits->counted.value_or(there.ok() && *there);
  waits->counted = put;
  if (before == put) return;
  uint64_t& count = counts_[id.name.lun];
  if (put) {
    ++count;
  } else if (count > 0) {
    --count;
  } else {
    miscounted_ = true;
  }
  if (count == 0) counts_.erase(id.name.lun);
}

absl::Status Books::Write(const RowId& id) {
  RowChange change;
  uint64_t number = 0;
  {
    absl::MutexLock lock(&mutex_);
    const WaitingRows::Waiting* const waits = waiting_.Find(id);
    if (waits == nullptr) return absl::OkStatus();
    change = waits->change;
    number = waits->number;
  }
  Count(id, change.put);
  TD_RETURN_IF_ERROR(rows_.Apply(id, change));
  absl::MutexLock lock(&mutex_);
  WaitingRows::Waiting* const now = waiting_.Find(id);
  if (now == nullptr) return absl::OkStatus();
  if (now->number == number) {
    waiting_.Drop(id);
  } else {  // a newer one has come
    now->more = (now->change.put ? 1 : 0) - (change.put ? 1 : 0);
  }
  return absl::OkStatus();
}

absl::Status Books::WriteSome() {
  for (size_t i = 0; i < kRowsAtOnce; ++i) {
    RowId id;
    {
      absl::MutexLock lock(&mutex_);
      if (waiting_.empty()) break;
      id = waiting_.rows().begin()->first;
    }
    TD_RETURN_IF_ERROR(Write(id));
  }
  bool well = false, miscounted = false;
  {
    absl::MutexLock lock(&mutex_);
    if (!waiting_.empty()) return absl::OkStatus();
    well = health_.ok();
    miscounted = miscounted_;
  }
  if (miscounted) TD_RETURN_IF_ERROR(CountAll());
  return well ? rows_.CheckPlace() : rows_.Probe();
}

absl::StatusOr<std::map<ResourceName, std::string>> Books::Channels(const std::string& lun) {
  TD_ASSIGN_OR_RETURN(auto documents, rows_.Channels(lun));
  absl::MutexLock lock(&mutex_);
  for (const auto& [id, waits] : waiting_.rows()) {
    if (id.table != Table::kChannels || !Matches(id.name.lun, lun)) continue;
    if (waits.change.put) documents[id.name] = waits.change.document;
    if (!waits.change.put) documents.erase(id.name);
  }
  return documents;
}

// The rows of the database are all up to the last of them, unless there are none.
absl::StatusOr<ListStep> Books::Step(const ResourceName& channel, const RowKey& after,
                                     size_t most) {
  TD_ASSIGN_OR_RETURN(auto stored, rows_.RecordingsAfter(channel, after, most));
  ListStep step{.end = stored.empty()};
  if (!step.end) step.last = stored.back().key;
  absl::MutexLock lock(&mutex_);
  for (RawRow& row : stored) {
    const RowId id{.table = Table::kRecordings, .name = row.key.name};
    if (waiting_.Find(id) == nullptr) step.rows.push_back(std::move(row));
  }
  for (const auto& [id, waits] : waiting_.rows()) {
    if (id.table != Table::kRecordings || !waits.change.put || !IsIn(id.name, channel)) continue;
    RawRow row{.key = {.open_ns = waits.change.open_ns, .name = id.name}};
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

absl::StatusOr<std::set<ResourceName>> Books::CopiesOf(const std::string& original, size_t most) {
  TD_ASSIGN_OR_RETURN(auto names, rows_.CopiesOf(original, most));
  absl::MutexLock lock(&mutex_);
  for (const auto& [id, waits] : waiting_.rows()) {
    if (id.table != Table::kRecordings) continue;
    if (!waits.change.put) names.erase(id.name);
    if (std::ranges::count(waits.change.originals, original) > 0) names.insert(id.name);
  }
  return names;
}

absl::StatusOr<uint64_t> Books::CountRecordings(const ResourceName& channel) {
  TD_ASSIGN_OR_RETURN(uint64_t count, rows_.CountRecordings(channel));
  absl::MutexLock lock(&mutex_);
  for (const auto& [id, waits] : waiting_.rows()) {
    const bool counts = id.table == Table::kRecordings && IsIn(id.name, channel);
    if (counts) count += static_cast<uint64_t>(waits.more);  // modulo 2^64
  }
  return count;
}

}  // namespace tapedeck::storage_node::catalog
