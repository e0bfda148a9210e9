#include "storage_node/catalog/catalog.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/config.h"

namespace tapedeck::storage_node::catalog {
namespace {

using Document = std::optional<std::string>;

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

}  // namespace

absl::StatusOr<std::unique_ptr<Catalog>> Catalog::Open(const std::string& path) {
  TD_ASSIGN_OR_RETURN(auto books, Books::Open(path));
  TD_ASSIGN_OR_RETURN(auto thread, StateThread::Create());
  return std::unique_ptr<Catalog>(new Catalog(std::move(books), std::move(thread)));
}

Catalog::~Catalog() {
  if (waiting() == 0) return;
  const absl::Status status = Retry();
  if (status.ok()) return;
  dataplane::Log(dataplane::LogLevel::kWarning, "catalog",
                 "changes not written: the next start reads them from the recordings' files",
                 {{"changes", absl::StrCat(waiting())}, {"error", std::string(status.message())}});
}

template <typename T>
absl::StatusOr<T> Catalog::Ask(std::function<absl::StatusOr<T>(Books&)> read) {
  auto answer = thread_->Ask<absl::StatusOr<T>>(
      [books = books_, read = std::move(read)] { return books->Watched(read); });
  if (answer.has_value()) return *std::move(answer);
  return books_->TellHanging();
}

absl::Status Catalog::Do(std::function<absl::Status(Books&)> act) {
  const auto answer = thread_->Ask<absl::Status>(
      [books = books_, act = std::move(act)] { return books->Watched(act); });
  return answer.has_value() ? *answer : books_->TellHanging();
}

void Catalog::Change(const RowId& id, RowChange change) {
  books_->Keep(id, std::move(change));
  // What fails waits, and health() tells it.
  Do([id](Books& books) { return books.Write(id); }).IgnoreError();
}

absl::Status Catalog::Retry() {
  while (true) {
    TD_RETURN_IF_ERROR(Do([](Books& books) { return books.WriteSome(); }));
    if (waiting() == 0) return absl::OkStatus();
  }
}

void Catalog::PutChannel(const ResourceName& name, const services::Channel& channel) {
  Change(ChannelRow(name), {.document = format::EncodeChannel(channel)});
}

void Catalog::DeleteChannel(const ResourceName& name) { Change(ChannelRow(name), {.put = false}); }

absl::StatusOr<std::optional<services::Channel>> Catalog::GetChannel(const ResourceName& name) {
  if (const auto waits = books_->Waits(ChannelRow(name)); waits.has_value()) {
    if (!waits->put) return std::nullopt;
    return format::DecodeChannel(waits->document);
  }
  TD_ASSIGN_OR_RETURN(const Document document,
                      Ask<Document>([name](Books& books) { return books.rows().Channel(name); }));
  if (!document.has_value()) return std::nullopt;
  return format::DecodeChannel(*document);
}

absl::StatusOr<std::vector<services::Channel>> Catalog::ListChannels(const std::string& lun) {
  using Documents = std::map<ResourceName, std::string>;
  TD_ASSIGN_OR_RETURN(const Documents documents,
                      Ask<Documents>([lun](Books& books) { return books.Channels(lun); }));
  std::vector<services::Channel> channels;
  for (const auto& [name, document] : documents) {
    TD_ASSIGN_OR_RETURN(services::Channel channel, format::DecodeChannel(document));
    channels.push_back(std::move(channel));
  }
  return channels;
}

void Catalog::PutRecording(const ResourceName& name, const format::Manifest& manifest) {
  Change(RecordingRowOf(name), {.document = format::EncodeManifest(manifest),
                                .open_ns = manifest.open_time_ns,
                                .originals = OriginalsOf(manifest)});
}

void Catalog::DeleteRecording(const ResourceName& name) {
  Change(RecordingRowOf(name), {.put = false});
  summaries_.Forget(name);
}

absl::StatusOr<std::optional<format::Manifest>> Catalog::GetRecording(const ResourceName& name) {
  if (const auto waits = books_->Waits(RecordingRowOf(name)); waits.has_value()) {
    if (!waits->put) return std::nullopt;
    return format::DecodeManifest(waits->document);
  }
  TD_ASSIGN_OR_RETURN(const Document document,
                      Ask<Document>([name](Books& books) { return books.rows().Recording(name); }));
  if (!document.has_value()) return std::nullopt;
  return format::DecodeManifest(*document);
}

absl::Status Catalog::ForEachRow(const ResourceName& channel, RowKey after, size_t most,
                                 absl::FunctionRef<absl::Status(RawRow&)> take) {
  for (bool end = false; !end && most > 0;) {
    TD_ASSIGN_OR_RETURN(ListStep step, Ask<ListStep>([channel, after, most](Books& books) {
                          return books.Step(channel, after, most);
                        }));
    end = step.end;
    after = step.last;
    for (RawRow& row : step.rows) {
      const absl::Status taken = take(row);
      if (taken.ok()) --most;
      if (!taken.ok()) LogUnreadable(row.key.name, taken);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RecordingRow>> Catalog::RecordingsAfter(const ResourceName& channel,
                                                                   RowKey after, size_t most) {
  std::vector<RecordingRow> rows;
  TD_RETURN_IF_ERROR(ForEachRow(channel, std::move(after), most, [&](RawRow& row) {
    TD_ASSIGN_OR_RETURN(format::Manifest manifest, format::DecodeManifest(row.document));
    rows.push_back({.name = std::move(row.key.name), .manifest = std::move(manifest)});
    return absl::OkStatus();
  }));
  return rows;
}

absl::StatusOr<std::vector<SharedSummary>> Catalog::ListSummaries(const ResourceName& channel) {
  std::vector<SharedSummary> summaries;
  TD_RETURN_IF_ERROR(ForEachRow(channel, {}, SIZE_MAX, [&](RawRow& row) {
    TD_ASSIGN_OR_RETURN(SharedSummary summary, summaries_.Of(row.key.name, row.document));
    summaries.push_back(std::move(summary));
    return absl::OkStatus();
  }));
  return summaries;
}

absl::StatusOr<std::vector<ResourceName>> Catalog::CopiesOf(const std::string& original,
                                                            size_t most) {
  using Names = std::set<ResourceName>;
  TD_ASSIGN_OR_RETURN(const Names names, Ask<Names>([original, most](Books& books) {
                        return books.CopiesOf(original, most);
                      }));
  std::vector<ResourceName> some(names.begin(), names.end());
  some.resize(std::min(some.size(), most));
  return some;
}

absl::StatusOr<uint64_t> Catalog::CountRecordings(const ResourceName& channel) {
  return Ask<uint64_t>([channel](Books& books) { return books.CountRecordings(channel); });
}

void Catalog::RememberRequest(const std::string& id, const PastRequest& request) {
  Change(RequestRow(id), {.document = request.kind, .request_name = request.name});
}

absl::StatusOr<std::optional<PastRequest>> Catalog::FindRequest(const std::string& id) {
  if (const auto waits = books_->Waits(RequestRow(id)); waits.has_value()) {
    return PastRequest{.kind = waits->document, .name = waits->request_name};
  }
  return Ask<std::optional<PastRequest>>([id](Books& books) { return books.rows().Request(id); });
}

}  // namespace tapedeck::storage_node::catalog
