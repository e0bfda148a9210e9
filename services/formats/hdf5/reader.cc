#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "dataplane/printable.h"
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
// Links in all groups together, among which datasets of samples are looked for.
constexpr size_t kMostLinks = 10'000;
constexpr size_t kMostDatasetsNamed = 8;
constexpr size_t kMostDatasetName = 128;  // of a name
constexpr hsize_t kMostMissing = 65'536;
// The library holds one of them as a whole.
constexpr uint64_t kMostChunkBytes = uint64_t{256} << 20;
constexpr uint64_t kMostBytesOfFile = uint64_t{1} << 62;

// By a link of its own, not by one that leads elsewhere; not good: there is none.
Handle DatasetNamed(const Handle& file, const std::string& name) {
  H5L_info_t link;
  const bool own =
      H5Lget_info(file.get(), name.c_str(), &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD;
  return own ? Handle(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), H5Dclose) : Handle();
}

// Empty: it is no simple one.
std::vector<hsize_t> SizeOf(const Handle& dataset) {
  const Handle space(H5Dget_space(dataset.get()), H5Sclose);
  const int dimensions = H5Sget_simple_extent_ndims(space.get());
  std::vector<hsize_t> size(static_cast<size_t>(std::max(dimensions, 0)));
  if (size.empty() || H5Sget_simple_extent_dims(space.get(), size.data(), nullptr) < 0) return {};
  return size;
}

// A dataset of samples.
struct FoundSamples {
  Handle dataset;
  SampleType type;
  std::vector<hsize_t> size;
  size_t axis = 0;  // along which the samples lie; the others have a size of 1
};

std::optional<FoundSamples> SamplesIn(Handle dataset) {
  if (!dataset.good()) return std::nullopt;
  FoundSamples found{.size = SizeOf(dataset)};
  const auto is_long = [](hsize_t size) { return size != 1; };
  if (found.size.empty() || std::ranges::count_if(found.size, is_long) > 1) return std::nullopt;
  const auto axis = std::ranges::find_if(found.size, is_long);
  found.axis = axis == found.size.end() ? 0 : static_cast<size_t>(axis - found.size.begin());
  const Handle type(H5Dget_type(dataset.get()), H5Tclose);
  const auto samples = SampleTypeOf(type.get());
  if (!samples.has_value()) return std::nullopt;
  found.type = *samples;
  found.dataset = std::move(dataset);
  return found;
}

// Of all that the file's own links lead to.
herr_t NoteName(hid_t /*group*/, const char* name, const H5L_info_t* link, void* names) {
  auto& found = *static_cast<std::vector<std::string>*>(names);
  if (link->type == H5L_TYPE_HARD) found.emplace_back(name);
  return found.size() > kMostLinks ? 1 : 0;
}

std::string ShownPath(const std::string& name) {
  return absl::StrCat("/", dataplane::Printable(name, kMostDatasetName));
}

class Hdf5Reader final : public Reader {
 public:
  static absl::StatusOr<std::unique_ptr<Reader>> Create(const std::string& path,
                                                        const std::string& dataset) {
    // Only to refuse what is no regular file, as for all formats; the library opens files itself.
    TD_RETURN_IF_ERROR(files::OpenInput(path).status());
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // it would write to stderr
    Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file.good()) return files::Invalid(path, "is no whole HDF5 file");
    auto reader = std::unique_ptr<Hdf5Reader>(new Hdf5Reader(path, std::move(file)));
    TD_RETURN_IF_ERROR(reader->FindSamples(dataset));
    TD_RETURN_IF_ERROR(reader->CheckLayout());
    reader->ReadAttributes();
    TD_RETURN_IF_ERROR(reader->ReadGaps());
    return reader;
  }

  const Content& content() const override { return content_; }

  absl::Status Read(uint64_t offset, std::span<std::byte> into) override {
    std::vector<hsize_t> first(samples_.size.size(), 0);
    std::vector<hsize_t> count(samples_.size.size(), 1);
    first[samples_.axis] = offset / sample_bytes();
    count[samples_.axis] = into.size() / sample_bytes();
    const hsize_t samples = count[samples_.axis];
    const Handle to(H5Screate_simple(1, &samples, nullptr), H5Sclose);
    const Handle from(H5Dget_space(samples_.dataset.get()), H5Sclose);
    H5Sselect_hyperslab(from.get(), H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr);
    const herr_t read = H5Dread(samples_.dataset.get(), TypeOf(samples_.type).get(), to.get(),
                                from.get(), H5P_DEFAULT, into.data());
    return read < 0
               ? files::Invalid(path_, absl::StrCat("H5Dread of sample ", first[samples_.axis]))
               : absl::OkStatus();
  }

 private:
  Hdf5Reader(std::string path, Handle file) : path_(std::move(path)), file_(std::move(file)) {}

  size_t sample_bytes() const { return samples_.type.datatype.bytes_per_sample(); }

  // The one that is asked for, else the only one there is.
  absl::Status FindSamples(absl::string_view wanted) {
    std::vector<std::string> names;
    if (H5Lvisit(file_.get(), H5_INDEX_NAME, H5_ITER_INC, NoteName, &names) < 0) {
      return files::Invalid(path_, "has groups that cannot be read");
    }
    if (names.size() > kMostLinks) {
      return files::Invalid(path_, absl::StrCat("has more than ", kMostLinks, " objects"));
    }
    absl::ConsumePrefix(&wanted, "/");
    std::vector<std::string> candidates;
    size_t fitting = 0;
    for (const std::string& name : names) {
      auto found = SamplesIn(DatasetNamed(file_, name));
      if (!found.has_value()) continue;
      candidates.push_back(ShownPath(name));
      if (!wanted.empty() && name != wanted) continue;
      ++fitting;
      is_ours_ = name == kSamplesName;
      samples_ = *std::move(found);
    }
    if (fitting != 1) return NotOne(std::move(candidates), wanted);
    const uint64_t samples = samples_.size[samples_.axis];
    if (samples > kMostBytesOfFile / sample_bytes()) {
      return files::Invalid(path_, absl::StrCat("says it has ", samples, " samples"));
    }
    content_.datatype = dataplane::DatatypeName(samples_.type.datatype);
    content_.bytes = samples * sample_bytes();
    return absl::OkStatus();
  }

  absl::Status NotOne(std::vector<std::string> candidates, absl::string_view wanted) const {
    if (candidates.empty()) {
      return files::Invalid(path_, "has no dataset of one dimension and a datatype of SigMF");
    }
    if (candidates.size() > kMostDatasetsNamed) {
      candidates.resize(kMostDatasetsNamed);
      candidates.emplace_back("and more");
    }
    return files::Invalid(
        path_, absl::StrCat(wanted.empty() ? "has more than one dataset of samples"
                                           : "has no such dataset of samples",
                            "; --dataset takes one of these: ", absl::StrJoin(candidates, ", ")));
  }

  // What the library would read elsewhere, hold at once, or not undo.
  absl::Status CheckLayout() const {
    const Handle made(H5Dget_create_plist(samples_.dataset.get()), H5Pclose);
    const H5D_layout_t layout = H5Pget_layout(made.get());
    if (layout == H5D_VIRTUAL || H5Pget_external_count(made.get()) != 0) {
      return files::Invalid(path_, "has its samples in other files, which are not read");
    }
    if (layout == H5D_CHUNKED) TD_RETURN_IF_ERROR(CheckChunks(made));
    const int filters = H5Pget_nfilters(made.get());
    for (int i = 0; i < filters; ++i) {
      char name[64] = {};
      unsigned flags = 0, can = 0;
      size_t values = 0;
      const H5Z_filter_t filter = H5Pget_filter2(made.get(), static_cast<unsigned>(i), &flags,
                                                 &values, nullptr, sizeof(name), name, nullptr);
      const bool known = H5Zfilter_avail(filter) > 0 && H5Zget_filter_info(filter, &can) >= 0 &&
                         (can & H5Z_FILTER_CONFIG_DECODE_ENABLED) != 0;
      if (known) continue;
      return files::Invalid(
          path_, absl::StrCat("has its samples behind the filter ", filter, " \"",
                              dataplane::Printable(name, sizeof(name)),
                              "\", which is not installed here: HDF5_PLUGIN_PATH names a folder "
                              "with it, or h5repack -f NONE writes a file without"));
    }
    return absl::OkStatus();
  }

  absl::Status CheckChunks(const Handle& made) const {
    std::vector<hsize_t> chunk(samples_.size.size(), 0);
    const auto dimensions = static_cast<int>(chunk.size());
    uint64_t bytes = sample_bytes();
    const bool read = H5Pget_chunk(made.get(), dimensions, chunk.data()) == dimensions;
    for (const hsize_t size : chunk) {
      if (!read || size == 0 || bytes > kMostChunkBytes / size) {
        return files::Invalid(path_,
                              absl::StrCat("has chunks of more than ", kMostChunkBytes, " bytes"));
      }
      bytes *= size;
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
    if (H5Aexists(samples_.dataset.get(), name) <= 0) return false;
    const Handle attribute(H5Aopen(samples_.dataset.get(), name, H5P_DEFAULT), H5Aclose);
    const Handle space(H5Aget_space(attribute.get()), H5Sclose);
    return H5Sget_simple_extent_npoints(space.get()) == 1 &&
           H5Aread(attribute.get(), memory, value) >= 0;
  }

  absl::Status ReadGaps() {
    const Handle missing = is_ours_ ? DatasetNamed(file_, kMissingName) : Handle();
    if (!missing.good()) return absl::OkStatus();
    const std::vector<hsize_t> size = SizeOf(missing);
    if (size.size() != 2 || size.back() != 2 || size.front() > kMostMissing) return BadGaps();
    std::vector<uint64_t> rows(size.front() * 2);
    if (rows.empty()) return absl::OkStatus();
    if (H5Dread(missing.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) < 0) {
      return BadGaps();
    }
    const uint64_t samples = content_.bytes / sample_bytes();
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
  FoundSamples samples_;  // goes before its file
  bool is_ours_ = false;
  Content content_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Reader>> OpenHdf5(const std::string& path,
                                                 const ReadOptions& options) {
  return Hdf5Reader::Create(path, options.dataset);
}

}  // namespace tapedeck::services::formats
