#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "dataplane/status_macros.h"
#include "services/base/files/errors.h"
#include "services/formats/hdf5/datasets.h"
#include "services/formats/io/input.h"

namespace tapedeck::services::formats {
namespace {

// The library holds one chunk as a whole, or one element.
constexpr uint64_t kMostChunkBytes = uint64_t{256} << 20;
// Looked at one by one, where some were never written.
constexpr uint64_t kMostChunksSought = uint64_t{1} << 20;
// Of samples that nobody wrote, as between captures of a SigMF.
constexpr uint64_t kMostMissingBytes = uint64_t{64} << 30;

// Of the dataset's chunks along each dimension; empty: it has none.
std::vector<hsize_t> ChunkOf(const FoundSamples& samples) {
  const Handle made(H5Dget_create_plist(samples.dataset.get()), H5Pclose);
  if (H5Pget_layout(made.get()) != H5D_CHUNKED) return {};
  std::vector<hsize_t> chunk(samples.size.size(), 0);
  H5Pget_chunk(made.get(), static_cast<int>(chunk.size()), chunk.data());
  return chunk;
}

hsize_t WrittenChunks(const FoundSamples& samples) {
  const Handle space(H5Dget_space(samples.dataset.get()), H5Sclose);
  hsize_t written = 0;
  H5Dget_num_chunks(samples.dataset.get(), space.get(), &written);
  return written;
}

// The library reads beyond a chunk that is shorter than its elements.
absl::Status CheckStored(const FoundSamples& samples, uint64_t chunk_bytes,
                         const std::string& path) {
  const Handle made(H5Dget_create_plist(samples.dataset.get()), H5Pclose);
  const hsize_t stored = H5Dget_storage_size(samples.dataset.get());
  const hsize_t written = WrittenChunks(samples);
  if (H5Pget_nfilters(made.get()) != 0 || stored / chunk_bytes == written) return absl::OkStatus();
  return files::Invalid(path, absl::StrCat("has ", written, " chunks of ", chunk_bytes,
                                           " bytes in ", stored, " bytes"));
}

absl::Status CheckSizes(const FoundSamples& samples, const files::InputFile& file) {
  const std::string& path = file.path;
  const Handle type(H5Dget_type(samples.dataset.get()), H5Tclose);
  uint64_t bytes = H5Tget_size(type.get());
  bool fits = bytes > 0 && bytes <= kMostChunkBytes;
  const std::vector<hsize_t> chunk = ChunkOf(samples);
  const bool lies_in_one = H5Dget_offset(samples.dataset.get()) != HADDR_UNDEF;
  if (fits && lies_in_one && samples.samples() > file.bytes / bytes) {
    return files::Invalid(path, absl::StrCat("says it has ", samples.samples(), " samples of ",
                                             bytes, " bytes, and is of ", file.bytes, " bytes"));
  }
  for (const hsize_t size : chunk) {
    fits = fits && size > 0 && bytes <= kMostChunkBytes / size;
    bytes *= size;
  }
  if (fits && !chunk.empty()) return CheckStored(samples, bytes, path);
  if (fits) return absl::OkStatus();
  return files::Invalid(path, absl::StrCat("has chunks of more than ", kMostChunkBytes, " bytes"));
}

absl::Status CheckFilters(const Handle& made, const std::string& path) {
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
        path, absl::StrCat("has its samples compressed by filter ", filter, " \"",
                           dataplane::Printable(name, sizeof(name)),
                           "\", which is not installed here; set HDF5_PLUGIN_PATH to its folder, "
                           "or write a file without it where it is installed: h5repack -f NONE"));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> IsWritten(const FoundSamples& samples, hsize_t first,
                               const std::string& path) {
  std::vector<hsize_t> at(samples.size.size(), 0);
  at[samples.axis] = first;
  unsigned skipped = 0;
  haddr_t address = HADDR_UNDEF;
  hsize_t bytes = 0;
  if (H5Dget_chunk_info_by_coord(samples.dataset.get(), at.data(), &skipped, &address, &bytes) <
      0) {
    return files::Invalid(
        path, absl::StrCat("cannot find the chunk of sample ", first, ": ", LastError()));
  }
  return address != HADDR_UNDEF;
}

}  // namespace

absl::Status CheckLayout(const FoundSamples& samples, const files::InputFile& file) {
  const Handle made(H5Dget_create_plist(samples.dataset.get()), H5Pclose);
  if (H5Pget_layout(made.get()) == H5D_VIRTUAL || H5Pget_external_count(made.get()) != 0) {
    return files::Invalid(file.path,
                          "has its samples in other files, which are not read; h5repack -l CONTI "
                          "writes one file with all samples");
  }
  TD_RETURN_IF_ERROR(CheckSizes(samples, file));
  return CheckFilters(made, file.path);
}

absl::StatusOr<std::vector<SampleRange>> UnwrittenIn(const FoundSamples& samples,
                                                     const std::string& path) {
  H5D_space_status_t status = H5D_SPACE_STATUS_ALLOCATED;
  H5Dget_space_status(samples.dataset.get(), &status);
  if (status == H5D_SPACE_STATUS_NOT_ALLOCATED && samples.samples() > 0) {
    return files::Invalid(path, absl::StrCat("its dataset ", ListOf({"/" + samples.name}),
                                             " was made, and nothing was written into it"));
  }
  const std::vector<hsize_t> chunk = ChunkOf(samples);
  if (chunk.empty()) return std::vector<SampleRange>();
  const hsize_t size = chunk[samples.axis];
  const hsize_t chunks = (samples.samples() + size - 1) / size;
  const hsize_t written = WrittenChunks(samples);
  std::vector<SampleRange> gaps;
  if (written >= chunks) return gaps;
  const auto too_many = [&] {
    return files::Invalid(path, absl::StrCat("its dataset ", ListOf({"/" + samples.name}),
                                             " has only ", written, " of its ", chunks, " chunks"));
  };
  const uint64_t least_missing = (chunks - written - 1) * size;
  if (chunks > kMostChunksSought ||
      least_missing > kMostMissingBytes / samples.type.datatype.bytes_per_sample()) {
    return too_many();
  }
  for (hsize_t first = 0; first < samples.samples(); first += size) {
    TD_ASSIGN_OR_RETURN(const bool is_written, IsWritten(samples, first, path));
    if (is_written) continue;
    const hsize_t count = std::min<hsize_t>(size, samples.samples() - first);
    if (!gaps.empty() && gaps.back().first + gaps.back().count == first) {
      gaps.back().count += count;
    } else {
      gaps.push_back({.first = first, .count = count});
    }
    if (gaps.size() > kMostMissing) return too_many();
  }
  return gaps;
}

}  // namespace tapedeck::services::formats
