#include "services/tapectl/shell/headings.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr absl::string_view kJob = "--fft --transform --slots --rails --op --device --detach";

// In the order in which the help shows them.
constexpr Heading kHeadings[] = {
    {"", "Connection", "--profile --storage --worker --timeout --tls-cert --tls-key --tls-ca"},
    {"", "Output", "--output --wide"},
    {"lun create", "Where", "--store --member --copies"},
    {"lun create", "Space", "--capacity --full-policy --max-age --max-fill"},
    {"lun create", "Prewritten files", "--prewrite-files --prewrite-bytes"},
    {"lun create", "Description", "--description --label"},
    {"channel create", "Samples", "--datatype --sample-rate --block-bytes"},
    {"channel create", "Transfer", "--transfer-op --commit"},
    {"channel create", "Triggers and segments", "--pre-trigger --post-trigger --segment"},
    {"channel create", "Tiers", "--move-to --after --move-rate"},
    {"channel create", "Description", "--description --label"},
    {"channel update", "Samples", "--datatype --sample-rate --block-bytes"},
    {"channel update", "Transfer", "--transfer-op --commit"},
    {"channel update", "Triggers and segments", "--pre-trigger --post-trigger --segment"},
    {"channel update", "Tiers", "--move-to --after --move-rate"},
    {"channel update", "Description", "--description --label"},
    {"record", "What", "--source --seed --loop"},
    {"record", "Where", "--to --also --also-transform --copies --standby --resume-for"},
    {"record", "Time", "--blocks --duration --at"},
    {"record", "Groups", "--group --member --start-in"},
    {"record", "Job", kJob},
    {"play", "What", "--segment --stream --follow"},
    {"play", "Range", "--from-sample --to-sample --from-block --from-time --loop --loop-count"},
    {"play", "Where", "--sink --replace"},
    {"play", "Pace", "--rate --behind --at"},
    {"play", "Groups", "--group --member --start-in"},
    {"play", "Job", kJob},
    {"receive", "What", "--datatype --sample-rate --block-bytes --wait"},
    {"receive", "Where", "--sink --replace"},
    {"receive", "Job", kJob},
};

}  // namespace

std::span<const Heading> HeadingsOfOptions() { return kHeadings; }

}  // namespace tapedeck::services::tapectl
