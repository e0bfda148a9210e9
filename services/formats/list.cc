#include "services/formats/list.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "services/base/errors.h"
#include "services/formats/hdf5/hdf5.h"
#include "services/formats/io/samples_file.h"
#include "services/formats/io/stream.h"
#include "services/formats/sigmf/sigmf.h"
#include "services/formats/vita49/vita49.h"
#include "services/formats/wav/wav.h"

namespace tapedeck::services::formats {
namespace {

std::string AsNamed(const std::string& named) { return named; }

std::vector<Format> All() {
  return {{.name = "raw",
           .help = "the samples and nothing else",
           .resumable = true,
           .writes_streams = true,
           .reads_streams = true,
           .file = AsNamed,
           .write = [](const Subject&, const WriterOptions&) { return CreateRawWriter(); },
           .read = OpenRaw},
          {.name = "sigmf",
           .help = "NAME.sigmf-data and NAME.sigmf-meta, or the archive NAME.sigmf",
           .resumable = true,
           .tells_gaps = true,
           .tells_transforms = true,
           .writes_streams = true,
           .file = SigmfFile,
           .write = CreateSigmfWriter,
           .read = OpenSigmf,
           .chosen_by = "member"},
          {.name = "wav",
           .help = "RIFF or RF64 with a chunk auxi, as programs for SDRs have it",
           .resumable = true,
           .writes_streams = true,
           .one_frequency = true,
           .file = AsNamed,
           .write = CreateWavWriter,
           .read = OpenWav},
          {.name = "vita49-pcap",
           .help = "packets of VITA 49.2 in a capture file",
           .tells_gaps = true,
           .leaves_out = true,
           .writes_streams = true,
           .file = AsNamed,
           .write = CreateVita49Writer,
           .read = OpenVita49,
           .chosen_by = "stream"},
          {.name = "hdf5",
           .help = "one dataset of samples, with what is known of them",
           .tells_gaps = true,
           .tells_transforms = true,
           .one_frequency = true,
           .file = AsNamed,
           .write = CreateHdf5Writer,
           .read = OpenHdf5,
           .chosen_by = "dataset"}};
}

}  // namespace

absl::Status CheckStream(const Format& format, const std::string& path, Use use) {
  const bool exports = use == Use::kExport;
  if (!IsStream(path) || (exports ? format.writes_streams : format.reads_streams)) {
    return absl::OkStatus();
  }
  std::vector<std::string> names;
  for (const Format& one : FormatsFor(use)) {
    if (exports ? one.writes_streams : one.reads_streams) names.push_back(one.name);
  }
  return ArgumentInvalid(
      "format",
      absl::StrCat(format.name, exports ? " cannot be written into" : " cannot be read from",
                   " a pipe, because its parts are not in order: name a file, or give --format ",
                   absl::StrJoin(names, ", ")));
}

std::vector<Format> FormatsFor(Use use) {
  std::vector<Format> formats = All();
  std::erase_if(formats, [use](const Format& one) {
    return use == Use::kExport ? one.write == nullptr : one.read == nullptr;
  });
  return formats;
}

absl::StatusOr<Format> FormatNamed(const std::string& name, Use use) {
  std::vector<std::string> names;
  for (Format& one : FormatsFor(use)) {
    if (one.name == name) return std::move(one);
    names.push_back(one.name);
  }
  return ArgumentInvalid(
      "format", absl::StrCat("no format \"", name, "\", only ", absl::StrJoin(names, ", ")));
}

}  // namespace tapedeck::services::formats
