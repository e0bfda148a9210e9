#include "storage_node/store/rados/recording_list.h"

#include <cerrno>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/executor/waiting.h"
#include "dataplane/log.h"
#include "dataplane/printable.h"
#include "services/model/words/resource_name.h"
#include "storage_node/store/rados/names.h"

namespace tapedeck::storage_node::store::rados {
namespace {

constexpr uint64_t kRowsAtATime = 1000;
constexpr char kThere[] = "there";
constexpr char kDeleting[] = "deleting";

// False if it is no row of ours.
bool ParseRow(const std::string& key, RecordingPath* path) {
  const std::vector<std::string> ids = absl::StrSplit(key, '/');
  if (ids.size() != 2 || !services::CheckId(ids[0]).ok() || !services::CheckId(ids[1]).ok()) {
    return false;
  }
  *path = {.channel = ids[0], .recording = ids[1]};
  return true;
}

void AddRow(const Cluster& cluster, const std::string& key, const std::string& value,
            std::map<RecordingPath, RowState>* rows) {
  RecordingPath path;
  if (ParseRow(key, &path)) {
    (*rows)[path] = value == kDeleting ? RowState::kDeleting : RowState::kThere;
    return;
  }
  dataplane::Log(dataplane::LogLevel::kWarning, "store/rados", "left alone: no recording of ours",
                 {{"member", cluster.member()}, {"row", dataplane::Printable(key, 200)}});
}

}  // namespace

absl::StatusOr<std::map<RecordingPath, RowState>> ReadRows(Cluster& cluster) {
  dataplane::MayWait("a Ceph cluster");
  std::map<RecordingPath, RowState> rows;
  std::string after;
  bool more = true;
  while (more) {
    std::map<std::string, librados::bufferlist> some;
    const int result =
        cluster.objects().omap_get_vals2(kListObject, after, kRowsAtATime, &some, &more);
    if (result == -ENOENT) return rows;
    if (result < 0) return cluster.Error("read rows of", kListObject, result);
    for (auto& [key, value] : some) AddRow(cluster, key, value.to_str(), &rows);
    if (some.empty()) break;
    after = some.rbegin()->first;
  }
  return rows;
}

absl::Status WriteRow(Cluster& cluster, const RecordingPath& path, RowState state) {
  librados::ObjectWriteOperation op;
  op.omap_set({{KeyOf(path), BufferOf(state == RowState::kThere ? kThere : kDeleting)}});
  const int r = cluster.Operate(kListObject, op);
  return r < 0 ? cluster.Error("write a row of", kListObject, r) : absl::OkStatus();
}

absl::Status RemoveRow(Cluster& cluster, const RecordingPath& path) {
  librados::ObjectWriteOperation op;
  op.omap_rm_keys({KeyOf(path)});
  const int r = cluster.Operate(kListObject, op);
  return r < 0 && r != -ENOENT ? cluster.Error("remove a row of", kListObject, r)
                               : absl::OkStatus();
}

}  // namespace tapedeck::storage_node::store::rados
