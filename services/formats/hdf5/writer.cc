#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/formats/hdf5/handle.h"
#include "services/formats/hdf5/hdf5.h"
#include "services/formats/hdf5/types.h"
#include "services/signal/sigmf/origin_json.h"

namespace tapedeck::services::formats {
namespace {

class Hdf5Writer final : public Writer {
 public:
  explicit Hdf5Writer(const Subject& subject) : subject_(subject), type_(TypeOf({subject.type})) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // it would write to stderr
  }

  absl::Status Begin(Output& out) override {
    path_ = out.path();
    file_ = Handle(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
    if (!file_.good()) return Failed("H5Fcreate");
    const hsize_t samples = subject_.samples();
    const Handle space(H5Screate_simple(1, &samples, nullptr), H5Sclose);
    samples_ = Handle(H5Dcreate2(file_.get(), "samples", type_.get(), space.get(), H5P_DEFAULT,
                                 H5P_DEFAULT, H5P_DEFAULT),
                      H5Dclose);
    return samples_.good() ? PutAttributes() : Failed("H5Dcreate2");
  }

  // What is missing stays as it was made: zeros.
  absl::Status Write(const Piece& piece, Output& /*out*/) override {
    const hsize_t first = piece.offset / subject_.sample_bytes();
    const hsize_t count =
        std::min<uint64_t>(piece.bytes / subject_.sample_bytes(), subject_.samples() - first);
    if (piece.data.empty() || count == 0) return absl::OkStatus();
    const Handle from(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle to(H5Dget_space(samples_.get()), H5Sclose);
    H5Sselect_hyperslab(to.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr);
    const herr_t written =
        H5Dwrite(samples_.get(), type_.get(), from.get(), to.get(), H5P_DEFAULT, piece.data.data());
    return written < 0 ? Failed("H5Dwrite") : absl::OkStatus();
  }

  absl::Status Finish(const Seen& seen, Output& out) override {
    TD_RETURN_IF_ERROR(PutGaps(seen));
    if (const auto hertz = FrequencyOf(subject_, seen).hertz; hertz.has_value()) {
      TD_RETURN_IF_ERROR(PutNumber("frequency", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &*hertz));
    }
    const bool closed = samples_.Close() && file_.Close();
    struct stat info = {};
    if (!closed || stat(path_.c_str(), &info) != 0) return Failed("H5Fclose");
    out.Skip(static_cast<uint64_t>(info.st_size));  // which the library has written
    return absl::OkStatus();
  }

 private:
  absl::Status PutAttributes() {
    const Recording& recording = subject_.recording;
    TD_RETURN_IF_ERROR(
        PutNumber("sample_rate", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &recording.sample_rate));
    if (const auto start_ns = TimeOf(subject_, 0); start_ns.has_value()) {
      TD_RETURN_IF_ERROR(PutNumber("start_time_ns", H5T_STD_I64LE, H5T_NATIVE_INT64, &*start_ns));
    }
    if (const auto& transforms = recording.origin.transforms; !transforms.empty()) {
      TD_RETURN_IF_ERROR(PutText("transforms", sigmf::JsonOf(transforms).dump()));
    }
    TD_RETURN_IF_ERROR(PutText("datatype", subject_.datatype));
    TD_RETURN_IF_ERROR(PutText("recording", recording.name));
    TD_RETURN_IF_ERROR(PutText("uid", recording.uid));
    return PutText("description", recording.description);
  }

  absl::Status PutNumber(const char* name, hid_t type, hid_t memory, const void* value) {
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    return PutAttribute(name, type, space, memory, value);
  }

  absl::Status PutText(const char* name, const std::string& text) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.get(), std::max<size_t>(text.size(), 1));
    H5Tset_cset(type.get(), H5T_CSET_UTF8);
    H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    return PutAttribute(name, type.get(), space, type.get(), text.c_str());
  }

  absl::Status PutAttribute(const char* name, hid_t type, const Handle& space, hid_t memory,
                            const void* value) {
    const Handle attribute(
        H5Acreate2(samples_.get(), name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    const bool good = attribute.good() && H5Awrite(attribute.get(), memory, value) >= 0;
    return good ? absl::OkStatus() : Failed("H5Awrite");
  }

  // Rows of a first sample and a count, in order; none where nothing is missing or lost.
  absl::Status PutGaps(const Seen& seen) {
    std::vector<SampleRange> all = LossesOf(subject_, seen).ranges;
    all.insert(all.end(), seen.gaps.begin(), seen.gaps.end());
    std::ranges::sort(all, {}, &SampleRange::first);
    std::vector<uint64_t> rows;
    for (const SampleRange& gap : all) rows.insert(rows.end(), {gap.first, gap.count});
    const hsize_t size[] = {all.size(), 2};
    const Handle space(H5Screate_simple(2, size, nullptr), H5Sclose);
    const Handle gaps(H5Dcreate2(file_.get(), "missing", H5T_STD_U64LE, space.get(), H5P_DEFAULT,
                                 H5P_DEFAULT, H5P_DEFAULT),
                      H5Dclose);
    if (!gaps.good()) return Failed("H5Dcreate2");
    const bool good = rows.empty() || H5Dwrite(gaps.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL,
                                               H5P_DEFAULT, rows.data()) >= 0;
    return good ? absl::OkStatus() : Failed("H5Dwrite");
  }

  absl::Status Failed(absl::string_view call) const {
    return files::WriteFailed(path_, call, errno);
  }

  const Subject subject_;
  const Handle type_;
  std::string path_;
  Handle file_;
  Handle samples_;  // goes before its file
};

}  // namespace

absl::StatusOr<std::unique_ptr<Writer>> CreateHdf5Writer(const Subject& subject,
                                                         const WriterOptions& /*options*/) {
  return std::make_unique<Hdf5Writer>(subject);
}

}  // namespace tapedeck::services::formats
