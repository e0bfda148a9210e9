#include <algorithm>
#include <memory>
#include <vector>

#include "dataplane/status_macros.h"
#include "storage_node/view/analyzers.h"
#include "storage_node/view/plan.h"
#include "storage_node/view/rows.h"
#include "storage_node/view/views.h"

namespace tapedeck::storage_node::view {
namespace {

// Gives the analyzer what is there of a part, transform by transform. One thread.
class PartReader {
 public:
  PartReader(const Extent& extent, Pieces& pieces, Analyzer& analyzer, PowerRows& rows)
      : extent_(extent), pieces_(pieces), analyzer_(analyzer), rows_(rows) {}

  void Read(const services::SampleSpan& part) {
    samples_.resize(part.count * extent_.sample_bytes);
    services::SampleSpan run{.first = part.first, .count = 0};
    pieces_.Visit(part, [&](uint64_t first, std::span<const std::byte> samples) {
      if (first != run.end()) {
        Add(run, part.first);
        run = {.first = first, .count = 0};
      }
      std::ranges::copy(samples, samples_.begin() + Offset(first, part.first));
      run.count += samples.size() / extent_.sample_bytes;
    });
    Add(run, part.first);
  }

 private:
  ptrdiff_t Offset(uint64_t sample, uint64_t first) const {
    return static_cast<ptrdiff_t>((sample - first) * extent_.sample_bytes);
  }

  // Samples side by side, where `first` is the beginning of what was read.
  void Add(const services::SampleSpan& run, uint64_t first) {
    const auto& [length, hop, grid] = analyzer_.steps();
    uint64_t at = (run.first + grid - 1) / grid * grid;
    uint64_t seen = at;
    for (; at + length <= run.end(); at += hop) {
      AddOne(at, first);
      seen = at + length;
    }
    const bool more = seen < run.end() && run.count >= length;
    if (grid == 1 && more) AddOne(run.end() - length, first);
  }

  void AddOne(uint64_t at, uint64_t first) {
    const auto offset = static_cast<size_t>(Offset(at, first));
    const size_t bytes = analyzer_.steps().length * extent_.sample_bytes;
    rows_.Add(analyzer_.Powers(std::span(samples_).subspan(offset, bytes)));
  }

  const Extent& extent_;
  Pieces& pieces_;
  Analyzer& analyzer_;
  PowerRows& rows_;
  std::vector<std::byte> samples_;
};

}  // namespace

absl::StatusOr<services::Spectrogram> MakeSpectrogram(Opened& opened,
                                                      const services::SpectrogramRequest& request) {
  const Extent& extent = opened.extent();
  TD_ASSIGN_OR_RETURN(const services::SampleSpan span, opened.Resolve(request.span));
  TD_ASSIGN_OR_RETURN(const Spectra spectra,
                      SpectraOf(opened.readable().recording.name.ToString(),
                                opened.manifest().origin, extent.datatype, extent.block_samples));
  TD_ASSIGN_OR_RETURN(const std::unique_ptr<Analyzer> analyzer,
                      AnalyzerFor(spectra, extent.datatype, request.columns, extent.samples));
  const uint32_t most_rows = services::kMostPowers / request.columns;
  const Plan plan =
      PlanTransforms(extent, span, std::min(request.rows, most_rows), analyzer->steps());
  PowerRows rows(plan.rows, analyzer->columns());
  PartReader reader(extent, opened.pieces(), *analyzer, rows);
  TD_RETURN_IF_ERROR(ReadParts(plan, extent, opened.pieces(), [&](const Part& part) {
    rows.Begin(part.row);
    reader.Read(part.span);
  }));
  const double sample_rate = opened.manifest().sample_rate;
  TD_ASSIGN_OR_RETURN(const double frequency, FrequencyAt(opened, span.first));
  services::Spectrogram made{.columns = analyzer->columns(),
                             .rows = plan.rows,
                             .span = span,
                             .samples_per_row = plan.samples_per_row,
                             .bytes_read = opened.pieces().bytes_read(),
                             .damaged_pieces = opened.pieces().damaged(),
                             .sample_rate = sample_rate,
                             .frequency = frequency,
                             .complex = extent.datatype.complex || spectra.points > 0,
                             .band_rate = sample_rate * static_cast<double>(spectra.average),
                             .bins = spectra.points,
                             .covered_samples = plan.covered};
  rows.Finish(&made);
  return made;
}

}  // namespace tapedeck::storage_node::view
