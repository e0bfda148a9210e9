#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dataplane/status_macros.h"
#include "services/files/errors.h"
#include "services/files/input_file.h"
#include "services/formats/hdf5.h"
#include "services/formats/hdf5/handle.h"
#include "services/formats/hdf5/types.h"

namespace tapedeck::services::formats {
namespace {

constexpr char kSamplesName[] = "samples";
constexpr char kMissingName[] = "missing";
// Of the root, among which the only dataset of samples is looked for.
constexpr hsize_t kMostLinks = 1000;
constexpr hsize_t kMostMissing = 65'536;
// The library holds one of them as a whole.
constexpr uint64_t kMostChunkBytes = uint64_t{256} << 20;
constexpr uint64_t kMostBytesOfFile = uint64_t{1} << 62;

// Of the file's root, by a link of its own; not good: there is none.
Handle DatasetNamed(const Handle& file, const std::string& name) {
  H5L_info_t link;
  const bool own =
      H5Lget_info(file.get(), name.c_str(), &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD;
  return own ? Handle(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose) : Handle();
}

// None: not of so many dimensions.
std::optional<std::vector<hsize_t>> SizeOf(const Handle& dataset, int dimensions) {
  const Handle space(H5Dget_space(dataset.get()), H5Sclose);
  if (H5Sget_simple_extent_ndims(space.get()) != dimensions) return std::nullopt;
  std::vector<hsize_t> size(static_cast<size_t>(dimensions));
  if (H5Sget_simple_extent_dims(space.get(), size.data(), nullptr) < 0) return std::nullopt;
  return size;
}

std::optional<dataplane::Datatype> TypeOfSamples(const Handle& dataset) {
  if (!dataset.good() || !SizeOf(dataset, 1).has_value()) return std::nullopt;
  const Handle type(H5Dget_type(dataset.get()), H5Tclose);
  return DatatypeOf(type.get());
}

std::vector<std::string> NamesIn(const Handle& file) {
  std::vector<std::string> names;
  H5G_info_t root;
  if (H5Gget_info(file.get(), &root) < 0) return names;
  for (hsize_t i = 0; i < std::min(root.nlinks, kMostLinks); ++i) {
    char name[256] = {};
    const ssize_t bytes = H5Lget_name_by_idx(file.get(), ".", H5_INDEX_NAME, H5_ITER_INC, i, name,
                                             sizeof(name), H5P_DEFAULT);
    if (bytes > 0 && static_cast<size_t>(bytes) < sizeof(name)) names.emplace_back(name);
  }
  return names;
}

class Hdf5Reader final : public Reader {
 public:
  static absl::StatusOr<std::unique_ptr<Reader>> Create(const std::string& path) {
    // Only to refuse what is no regular file, as for all formats; the library opens files itself.
    TD_RETURN_IF_ERROR(files::OpenInput(path).status());
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // it would write to stderr
    Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file.good()) return files::Invalid(path, "is no whole HDF5 file");
    auto reader = std::unique_ptr<Hdf5Reader>(new Hdf5Reader(path, std::move(file)));
    TD_RETURN_IF_ERROR(reader->FindSamples());
    TD_RETURN_IF_ERROR(reader->CheckLayout());
    reader->ReadAttributes();
    TD_RETURN_IF_ERROR(reader->ReadGaps());
    return reader;
  }

  const Content& content() const override { return content_; }

  absl::Status Read(uint64_t offset, std::span<std::byte> into) override {
    const hsize_t first = offset / type_.bytes_per_sample();
    const hsize_t count = into.size() / type_.bytes_per_sample();
    const Handle to(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle from(H5Dget_space(samples_.get()), H5Sclose);
    H5Sselect_hyperslab(from.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr);
    const herr_t read = H5Dread(samples_.get(), TypeOf(type_).get(), to.get(), from.get(),
                                H5P_DEFAULT, into.data());
    return read < 0 ? files::Invalid(path_, absl::StrCat("H5Dread of sample ", first))
                    : absl::OkStatus();
  }

 private:
  Hdf5Reader(std::string path, Handle file) : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status FindSamples() {
    samples_ = DatasetNamed(file_, kSamplesName);
    auto type = TypeOfSamples(samples_);
    const std::vector<std::string> names =
        samples_.good() ? std::vector<std::string>() : NamesIn(file_);
    for (const std::string& name : names) {
      Handle dataset = DatasetNamed(file_, name);
      const auto found = TypeOfSamples(dataset);
      if (!found.has_value()) continue;
      if (type.has_value()) return NoSamples();
      type = found;
      samples_ = std::move(dataset);
    }
    if (!type.has_value()) return NoSamples();
    type_ = *type;
    const uint64_t samples = SizeOf(samples_, 1)->front();
    if (samples > kMostBytesOfFile / type_.bytes_per_sample()) {
      return files::Invalid(path_, absl::StrCat("says it has ", samples, " samples"));
    }
    content_.datatype = dataplane::DatatypeName(type_);
    content_.bytes = samples * type_.bytes_per_sample();
    return absl::OkStatus();
  }

  absl::Status NoSamples() const {
    return files::Invalid(
        path_,
        "has no dataset \"samples\" of one dimension and a datatype of SigMF, nor "
        "only one such dataset of another name");
  }

  // What the library would read elsewhere, or hold at once.
  absl::Status CheckLayout() const {
    const Handle made(H5Dget_create_plist(samples_.get()), H5Pclose);
    const H5D_layout_t layout = H5Pget_layout(made.get());
    if (layout == H5D_VIRTUAL || H5Pget_external_count(made.get()) != 0) {
      return files::Invalid(path_, "has its samples in other files, which are not read");
    }
    hsize_t chunk = 0;
    if (layout == H5D_CHUNKED && (H5Pget_chunk(made.get(), 1, &chunk) != 1 ||
                                  chunk > kMostChunkBytes / type_.bytes_per_sample())) {
      return files::Invalid(path_, absl::StrCat("has chunks of ", chunk, " samples, more than ",
                                                kMostChunkBytes, " bytes"));
    }
    return absl::OkStatus();
  }

  void ReadAttributes() {
    double rate = 0;
    double hertz = 0;
    int64_t start_ns = 0;
    if (ReadNumber("sample_rate", H5T_NATIVE_DOUBLE, &rate) && rate > 0) {
      content_.sample_rate = rate;
    }
    if (ReadNumber("start_time_ns", H5T_NATIVE_INT64, &start_ns)) content_.start_ns = start_ns;
    if (ReadNumber("frequency", H5T_NATIVE_DOUBLE, &hertz) && hertz != 0) {
      content_.annotations.push_back(
          {.label = "signal", .comment = absl::StrFormat("frequency=%.15g", hertz)});
    }
  }

  bool ReadNumber(const char* name, hid_t memory, void* value) const {
    if (H5Aexists(samples_.get(), name) <= 0) return false;
    const Handle attribute(H5Aopen(samples_.get(), name, H5P_DEFAULT), H5Aclose);
    const Handle space(H5Aget_space(attribute.get()), H5Sclose);
    return H5Sget_simple_extent_npoints(space.get()) == 1 &&
           H5Aread(attribute.get(), memory, value) >= 0;
  }

  absl::Status ReadGaps() {
    const Handle missing = DatasetNamed(file_, kMissingName);
    if (!missing.good()) return absl::OkStatus();
    const auto size = SizeOf(missing, 2);
    if (!size.has_value() || size->back() != 2 || size->front() > kMostMissing) return BadGaps();
    std::vector<uint64_t> rows(size->front() * 2);
    if (rows.empty()) return absl::OkStatus();
    if (H5Dread(missing.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) < 0) {
      return BadGaps();
    }
    const uint64_t samples = content_.bytes / type_.bytes_per_sample();
    uint64_t end = 0;
    for (auto row = rows.begin(); row != rows.end(); row += 2) {
      const SampleRange gap{.first = row[0], .count = row[1]};
      if (gap.first < end || gap.first > samples || gap.count > samples - gap.first) {
        return BadGaps();
      }
      end = gap.first + gap.count;
      content_.gaps.push_back(gap);
    }
    return absl::OkStatus();
  }

  absl::Status BadGaps() const {
    return files::Invalid(
        path_, absl::StrCat("its dataset \"", kMissingName,
                            "\" is no list of ranges of its samples, in order, of ", kMostMissing,
                            " at most"));
  }

  const std::string path_;
  const Handle file_;
  Handle samples_;  // goes before its file
  dataplane::Datatype type_;
  Content content_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Reader>> OpenHdf5(const std::string& path, const ReadOptions& /*options*/) {
  return Hdf5Reader::Create(path);
}

}  // namespace tapedeck::services::formats
