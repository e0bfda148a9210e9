#include <algorithm>
#include <limits>
#include <vector>

#include "dataplane/status_macros.h"
#include "services/signal/samples/conversion.h"
#include "storage_node/format/sigmf.h"
#include "storage_node/view/plan.h"
#include "storage_node/view/views.h"

namespace tapedeck::storage_node::view {
namespace {

using dataplane::Datatype;
using services::SampleSpan;
using services::samples::Conversion;

Datatype FloatsLike(const Datatype& datatype, int bits) {
  return {.complex = datatype.complex, .kind = Datatype::Kind::kFloat, .bits = bits};
}

// Of the samples of one point.
struct Point {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
  double power = 0;  // sum
  uint64_t samples = 0;

  void Add(std::span<const double> components, uint64_t count) {
    for (const double component : components) {
      least = std::min(least, component);
      greatest = std::max(greatest, component);
      power += component * component;
    }
    samples += count;
  }
};

services::Envelope Drawn(const std::vector<Point>& points) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  services::Envelope made;
  for (const Point& point : points) {
    const bool any = point.samples > 0;
    made.minima.push_back(static_cast<float>(any ? point.least : kNone));
    made.maxima.push_back(static_cast<float>(any ? point.greatest : kNone));
    const double mean = any ? point.power / static_cast<double>(point.samples) : kNone;
    made.powers.push_back(static_cast<float>(mean));
  }
  return made;
}

// What of `span` was not `seen` up to `until`.
void AddMissing(uint64_t seen, uint64_t until, std::vector<SampleSpan>* missing) {
  if (seen < until) missing->push_back({.first = seen, .count = until - seen});
}

}  // namespace

absl::StatusOr<services::Envelope> MakeEnvelope(Opened& opened,
                                                const services::EnvelopeRequest& request) {
  const Extent& extent = opened.extent();
  TD_ASSIGN_OR_RETURN(const SampleSpan span, opened.Resolve(request.span));
  TD_ASSIGN_OR_RETURN(const Conversion conversion,
                      Conversion::Between(extent.datatype, FloatsLike(extent.datatype, 64)));
  const Plan plan = PlanStretches(extent, span, request.points);
  std::vector<Point> points(plan.rows);
  const uint64_t components = extent.datatype.complex ? 2 : 1;
  std::vector<double> numbers(extent.piece_samples * components);
  TD_RETURN_IF_ERROR(ReadParts(plan, extent, opened.pieces(), [&](const Part& part) {
    opened.pieces().Visit(part.span, [&](uint64_t, std::span<const std::byte> run) {
      conversion.Run(run, std::as_writable_bytes(std::span(numbers)).data());
      const uint64_t samples = run.size() / extent.sample_bytes;
      points[part.row].Add(std::span(numbers).first(samples * components), samples);
    });
  }));
  services::Envelope made = Drawn(points);
  made.span = span;
  made.samples_per_point = plan.samples_per_row;
  made.bytes_read = opened.pieces().bytes_read();
  made.damaged_pieces = opened.pieces().damaged();
  return made;
}

absl::StatusOr<services::Samples> ReadSamples(Opened& opened,
                                              const services::SamplesRequest& request) {
  const Extent& extent = opened.extent();
  TD_ASSIGN_OR_RETURN(const SampleSpan span, opened.Resolve(request.span));
  const Datatype given = request.raw ? extent.datatype : FloatsLike(extent.datatype, 32);
  TD_ASSIGN_OR_RETURN(const Conversion conversion, Conversion::Between(extent.datatype, given));
  TD_RETURN_IF_ERROR(opened.pieces().Fetch({&span, 1}));
  services::Samples made{.span = span, .datatype = format::SampleTypeOf(opened.manifest())};
  made.bytes.assign(span.count * given.bytes_per_sample(), '\0');
  const auto bytes = std::as_writable_bytes(std::span(made.bytes));
  uint64_t seen = span.first;
  opened.pieces().Visit(span, [&](uint64_t first, std::span<const std::byte> run) {
    AddMissing(seen, first, &made.missing);
    const auto to = bytes.subspan((first - span.first) * given.bytes_per_sample());
    if (request.raw) {
      std::ranges::copy(run, to.begin());
    } else {
      conversion.Run(run, to.data());
    }
    seen = first + run.size() / extent.sample_bytes;
  });
  AddMissing(seen, span.end(), &made.missing);
  made.bytes_read = opened.pieces().bytes_read();
  made.damaged_pieces = opened.pieces().damaged();
  return made;
}

}  // namespace tapedeck::storage_node::view
