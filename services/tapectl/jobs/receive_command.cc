#include <memory>
#include <string>
#include <vector>

#include "dataplane/status_macros.h"
#include "services/model/seams/inlets.h"
#include "services/site/names.h"
#include "services/site/units.h"
#include "services/tapectl/jobs/job_options.h"
#include "services/tapectl/jobs/stage_option.h"
#include "services/tapectl/program/commands.h"
#include "services/tapectl/program/field_options.h"

namespace tapedeck::services::tapectl {
namespace {

struct ReceiveOptions : JobOptions {
  std::string name;
  Inlet inlet{.datatype = "cf32_le", .block_bytes = 1 << 20};
  int64_t wait_ns = kDefaultInletWaitNs;
  bool replace = false;
  std::vector<std::string> rails;
};

absl::Status Receive(Program& program, const ReceiveOptions& options) {
  if (options.replace && options.end.name != "file") {
    return absl::InvalidArgumentError("--replace needs --sink file:PATH");
  }
  InterruptWatch interrupt(kWhileAsking);
  ReceiveSpec spec{.transfer = options.transfer.to,
                   .inlet = options.inlet,
                   .sink = options.end,
                   .wait_ns = options.wait_ns};
  spec.transfer.rails = options.rails;
  spec.transfer.device = options.device;
  TD_ASSIGN_OR_RETURN(spec.inlet.name, InletNameOf(options.name));
  spec.transfer.target = spec.inlet.name;
  TD_RETURN_IF_ERROR(AddTransforms(options, spec.transfer.transforms));
  if (options.replace) TD_RETURN_IF_ERROR(SetParameter(spec.sink, "replace", true));
  const auto inlets = program.Inlets();
  TD_ASSIGN_OR_RETURN(const Job started, inlets->StartReceive(spec));
  const auto jobs = program.Jobs();
  return LeaveOrFollow(program, interrupt, *jobs, {started}, options, Impatience::kCancel);
}

void AddInletOptions(Command command, Inlet& inlet) {
  command.AddOption("--datatype", inlet.datatype, "SigMF datatype of the samples").ShowDefault();
  command.AddParsed("--block-bytes", inlet.block_bytes, ParseBytes,
                    "Bytes of a block, a multiple of 4096 up to 8MiB; default 1MiB");
  command.AddParsed("--sample-rate", inlet.sample_rate, ParseRate,
                    "Samples per second, e.g. 2.4e6; default unknown");
  command
      .AddParsed("--op", inlet.op, model::EnumNamed<dataplane::TransferOp>,
                 "READ, WRITE or SEND, if the sender names none; default READ")
      .Suggest(WordsOf<dataplane::TransferOp>());
}

}  // namespace

void AddReceiveCommand(Command tapectl, Program& program) {
  auto options = std::make_shared<ReceiveOptions>();
  const Command receive =
      tapectl.AddCommand("receive", "Receive a stream that another worker sends with record --to");
  receive.AddOption("INLET", options->name, "Name of the inlet, as the sender gives it").Required();
  receive
      .AddParsed("--sink", options->end, ParseEnd,
                 "verify, null, file:PATH, or another sink of the worker")
      .Required();
  receive.AddFlag("--replace", options->replace,
                  "Replace an existing file once the new one is complete");
  AddInletOptions(receive, options->inlet);
  receive.AddParsed("--wait", options->wait_ns, ParseDurationNs,
                    "Time to wait for the stream, at most 24h; default 60s");
  AddJobOptions(receive, *options);
  receive
      .AddOption("--rails", options->rails,
                 "Rails of the worker, e.g. p0; default all except kind ipc")
      .SeparatedBy(',');
  receive.AddOption("--device", options->device,
                    "Device of the worker, e.g. cuda:1; default the one with the fewest jobs");
  SetRun<ReceiveOptions>(receive, program, "receive", options, Receive);
}

}  // namespace tapedeck::services::tapectl
