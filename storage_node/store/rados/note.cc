#include "storage_node/store/rados/note.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"
#include "storage_node/format/limits.h"
#include "storage_node/format/lun_note.h"
#include "storage_node/store/rados/names.h"

namespace tapedeck::storage_node::store::rados {
namespace {

absl::Status NoLun(const Cluster& cluster) {
  return disk::Unusable(cluster.member(), "it holds no LUN; is it the right pool and namespace?",
                        absl::StatusCode::kNotFound);
}

// In another pool all of its payload would be missing.
absl::Status CheckDataPool(const Cluster& cluster, const Xattrs& xattrs) {
  const std::string pool = TextOf(xattrs, kDataPool);
  if (pool == cluster.data_pool()) return absl::OkStatus();
  return disk::Unusable(
      cluster.member(),
      pool.empty() ? "its LUN has no data pool; leave +DATA_POOL out of the member's name"
                   : absl::StrCat("its LUN's payload lies in pool ", dataplane::Printable(pool),
                                  "; name it in the member: rados:POOL+",
                                  dataplane::Printable(pool), "/NAMESPACE"));
}

absl::StatusOr<Note> ReadNoteOf(Cluster& cluster) {
  Xattrs xattrs;
  if (const int r = cluster.ReadXattrs(kLunObject, &xattrs); r < 0) {
    return r == -ENOENT ? NoLun(cluster) : cluster.Error("getxattrs", kLunObject, r);
  }
  librados::bufferlist text;
  const int result = cluster.Read(kLunObject, 0, format::kMaxNoteBytes + 1, &text);
  if (result < 0) return cluster.Error("read", kLunObject, result);
  const uint64_t generation = NumberOf(xattrs, kGeneration);
  if (NumberOf(xattrs, kVersion) != kFormatVersion || text.length() > format::kMaxNoteBytes ||
      generation == 0 || generation > format::kMaxGeneration) {
    return absl::DataLossError(absl::StrCat(cluster.member(), " ", kLunObject,
                                            ": not as this version of Tapedeck writes it"));
  }
  return Note{.generation = generation, .text = text.to_str()};
}

}  // namespace

absl::StatusOr<Note> RadosNotebook::ReadNote() { return ReadNoteOf(cluster_); }

absl::Status RadosNotebook::WriteNote(const Note& note) {
  if (note.text.size() > format::kMaxNoteBytes) {
    return disk::Unusable(cluster_.member(), "the LUN's channels take more space than there is");
  }
  librados::ObjectWriteOperation op;
  holding_.Guard(op);
  op.setxattr(kGeneration, BufferOf(absl::StrCat(note.generation)));
  op.write_full(BufferOf(note.text));
  const int r = cluster_.Operate(kLunObject, op);
  return r < 0 ? cluster_.Error("write", kLunObject, r) : absl::OkStatus();
}

absl::Status MakeLunObject(Cluster& cluster, const services::Lun& lun, uint32_t number) {
  librados::ObjectWriteOperation op;
  op.create(true);
  op.setxattr(kVersion, BufferOf(absl::StrCat(kFormatVersion)));
  op.setxattr(kLunUid, BufferOf(lun.recorded_uid()));
  op.setxattr(kMemberNumber, BufferOf(absl::StrCat(number)));
  if (!cluster.data_pool().empty()) op.setxattr(kDataPool, BufferOf(cluster.data_pool()));
  op.setxattr(kEpoch, BufferOf("0"));
  op.setxattr(kHolder, BufferOf(""));
  op.setxattr(kGeneration, BufferOf("1"));
  op.write_full(BufferOf(format::EncodeLunNote({.lun = lun})));
  op.omap_set_header(BufferOf(""));  // erasure-coded pools have no rows
  const int result = cluster.Operate(kLunObject, op);
  if (result == -EOPNOTSUPP) {
    return disk::Unusable(cluster.member(),
                          "its pool is erasure-coded, which can hold payload only; name a "
                          "replicated pool first: rados:POOL+DATA_POOL/NAMESPACE");
  }
  if (result == -EEXIST) {
    const auto said = ReadLunObject(cluster);
    return disk::Unusable(
        cluster.member(),
        absl::StrCat("it holds ", said.ok() ? said->lun.name : "a LUN",
                     ", so it is left alone. Use another namespace; to use that LUN here, run: "
                     "tapectl lun attach --member ",
                     cluster.member()));
  }
  return result < 0 ? cluster.Error("create", kLunObject, result) : absl::OkStatus();
}

absl::Status CheckLunObject(Cluster& cluster, const services::Lun& lun, uint32_t number) {
  Xattrs xattrs;
  if (const int r = cluster.ReadXattrs(kLunObject, &xattrs); r < 0) {
    return r == -ENOENT ? NoLun(cluster) : cluster.Error("getxattrs", kLunObject, r);
  }
  TD_RETURN_IF_ERROR(CheckDataPool(cluster, xattrs));
  const std::string uid = TextOf(xattrs, kLunUid);
  if (uid != lun.recorded_uid() || TextOf(xattrs, kMemberNumber) != absl::StrCat(number)) {
    return disk::Unusable(
        cluster.member(),
        absl::StrCat("it is member ", NumberOf(xattrs, kMemberNumber), " of ", uid, ", not member ",
                     number, " of ", lun.name, " (", lun.recorded_uid(), ")"));
  }
  // A copy that has become a LUN of its own has the same.
  const auto said = ReadLunObject(cluster);
  if (!said.ok() || said->lun.uid == lun.uid) return absl::OkStatus();
  return disk::Unusable(cluster.member(),
                        absl::StrCat("it belongs to ", said->lun.name, " (", said->lun.uid,
                                     "), not to ", lun.name, " (", lun.uid, ")"));
}

absl::StatusOr<format::LunMember> ReadLunObject(Cluster& cluster) {
  TD_ASSIGN_OR_RETURN(const Note note, ReadNoteOf(cluster));
  Xattrs xattrs;
  if (const int r = cluster.ReadXattrs(kLunObject, &xattrs); r < 0) {
    return cluster.Error("getxattrs", kLunObject, r);
  }
  TD_RETURN_IF_ERROR(CheckDataPool(cluster, xattrs));
  TD_ASSIGN_OR_RETURN(format::LunNote said, format::DecodeLunNote(note.text));
  if (said.lun.recorded_uid() != TextOf(xattrs, kLunUid)) {
    return absl::DataLossError(absl::StrCat(cluster.member(), " ", kLunObject,
                                            ": its mark and its description are of two LUNs"));
  }
  return format::LunMember{.lun = std::move(said.lun),
                           .member = static_cast<uint32_t>(NumberOf(xattrs, kMemberNumber))};
}

}  // namespace tapedeck::storage_node::store::rados
