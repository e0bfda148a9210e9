#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/base/files/input_file.h"
#include "services/formats/hdf5/datasets.h"
#include "services/formats/hdf5/handle.h"
#include "services/formats/hdf5/hdf5.h"
#include "services/formats/hdf5/types.h"
#include "services/formats/io/input.h"

namespace tapedeck::services::formats {
namespace {

constexpr char kMissingName[] = "missing";
constexpr uint64_t kMostBytesOfFile = uint64_t{1} << 62;

class Hdf5Reader final : public Reader {
 public:
  static absl::StatusOr<std::unique_ptr<Reader>> Create(const std::string& path,
                                                        const std::string& dataset) {
    // To refuse what is no regular file, as for all formats; the library opens files itself.
    TD_ASSIGN_OR_RETURN(const files::InputFile input, files::OpenInput(path));
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // it would write to stderr
    Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file.good()) {
      return files::Invalid(path, absl::StrCat("is not a whole HDF5 file: ", LastError()));
    }
    TD_ASSIGN_OR_RETURN(FoundSamples samples, FindSamples(file, path, dataset));
    auto reader =
        std::unique_ptr<Hdf5Reader>(new Hdf5Reader(path, std::move(file), std::move(samples)));
    TD_RETURN_IF_ERROR(reader->Describe(input));
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
    const Handle type = TypeOf(samples_.type);  // closed later: that clears LastError()
    if (H5Dread(samples_.dataset.get(), type.get(), to.get(), from.get(), H5P_DEFAULT,
                into.data()) < 0) {
      return files::Invalid(path_, absl::StrCat("cannot read the ", samples, " samples from ",
                                                first[samples_.axis], " on: ", LastError()));
    }
    ClearGaps(offset, into);
    return absl::OkStatus();
  }

 private:
  Hdf5Reader(std::string path, Handle file, FoundSamples samples)
      : path_(std::move(path)), file_(std::move(file)), samples_(std::move(samples)) {}

  size_t sample_bytes() const { return samples_.type.datatype.bytes_per_sample(); }

  absl::Status Describe(const files::InputFile& input) {
    const uint64_t samples = samples_.samples();
    if (samples > kMostBytesOfFile / sample_bytes()) {
      return files::Invalid(path_, absl::StrCat("says it has ", samples, " samples"));
    }
    TD_RETURN_IF_ERROR(CheckLayout(samples_, input));
    content_.datatype = dataplane::DatatypeName(samples_.type.datatype);
    content_.bytes = samples * sample_bytes();
    if (!samples_.type.is_named) {
      const std::string names = ListOf({samples_.type.real, samples_.type.imaginary});
      content_.notes.push_back(MakeNote(
          "HDF5_PARTS_UNNAMED",
          absl::StrCat("its samples are pairs of ", names, ": the first is taken as the real part"),
          {{"names", names}}));
    }
    TakeAttributes(file_, samples_, &content_);
    if (IsOurs(samples_)) {
      TD_RETURN_IF_ERROR(ReadGaps());
    } else {
      TD_ASSIGN_OR_RETURN(content_.gaps, UnwrittenIn(samples_, path_));
    }
    if (samples_.others.empty()) return absl::OkStatus();
    const std::string names = ListOf(samples_.others);
    content_.notes.push_back(MakeNote("LEFT_OUT",
                                      absl::StrCat("datasets that are not imported: ", names),
                                      {{"what", "datasets"}, {"names", names}}));
    return absl::OkStatus();
  }

  // A dataset of that name beside samples of others is no list of ours.
  absl::Status ReadGaps() {
    const Handle missing = DatasetNamed(file_, kMissingName);
    if (!missing.good()) return absl::OkStatus();
    std::erase(samples_.others, absl::StrCat("/", kMissingName));
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
    return files::Invalid(path_,
                          absl::StrCat("its dataset \"", kMissingName,
                                       "\" is not a list of ranges of its samples, in order, of ",
                                       kMostMissing, " at most"));
  }

  // The library gives the fill value there, which may be anything.
  void ClearGaps(uint64_t offset, std::span<std::byte> into) const {
    const auto& gaps = content_.gaps;
    auto gap = std::ranges::upper_bound(gaps, offset / sample_bytes(), {}, &SampleRange::first);
    if (gap != gaps.begin()) --gap;
    for (; gap != gaps.end() && gap->first * sample_bytes() < offset + into.size(); ++gap) {
      const uint64_t begin = std::max(gap->first * sample_bytes(), offset);
      const uint64_t end =
          std::min((gap->first + gap->count) * sample_bytes(), offset + into.size());
      if (begin < end) std::ranges::fill(into.subspan(begin - offset, end - begin), std::byte{0});
    }
  }

  const std::string path_;
  const Handle file_;
  FoundSamples samples_;  // goes before its file
  Content content_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Reader>> OpenHdf5(const std::string& path,
                                                 const ReadOptions& options) {
  return Hdf5Reader::Create(path, options.dataset);
}

}  // namespace tapedeck::services::formats
