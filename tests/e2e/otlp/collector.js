// A collector of traces for tests: takes OTLP over gRPC with OpenTelemetry's own messages and writes each span as a line of
// JSON.
//   node collector.js PORT FILE [mute]      mute: takes calls and never answers
'use strict';

const fs = require('node:fs');
const grpc = require('@grpc/grpc-js');
const messages = require('@opentelemetry/otlp-transformer/build/src/generated/root').opentelemetry.proto;

const Request = messages.collector.trace.v1.ExportTraceServiceRequest;
const Response = messages.collector.trace.v1.ExportTraceServiceResponse;
const [, , port, file, mode] = process.argv;

const hex = (bytes) => Buffer.from(bytes || []).toString('hex');
const valueOf = (value) => {
  const one = messages.common.v1.AnyValue.toObject(value, { longs: Number });
  return Object.values(one)[0];
};
const objectOf = (attributes) => Object.fromEntries(attributes.map((each) => [each.key, valueOf(each.value)]));

function lineOf(resource, span) {
  return {
    service: resource['service.name'],
    resource,
    trace: hex(span.traceId),
    span: hex(span.spanId),
    parent: hex(span.parentSpanId),
    state: span.traceState,
    name: span.name,
    kind: messages.trace.v1.Span.SpanKind[span.kind],
    start: Number(span.startTimeUnixNano),
    end: Number(span.endTimeUnixNano),
    attributes: objectOf(span.attributes),
    events: span.events.map((event) => ({ name: event.name, attributes: objectOf(event.attributes) })),
    error: span.status && span.status.code === messages.trace.v1.Status.StatusCode.STATUS_CODE_ERROR,
    message: (span.status && span.status.message) || '',
  };
}

function exportSpans(call, answer) {
  if (mode === 'mute') return;
  for (const program of call.request.resourceSpans) {
    const resource = objectOf(program.resource.attributes);
    for (const scope of program.scopeSpans) {
      for (const span of scope.spans) fs.appendFileSync(file, `${JSON.stringify(lineOf(resource, span))}\n`);
    }
  }
  answer(null, Response.create());
}

const server = new grpc.Server();
server.addService(
  {
    export: {
      path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
      requestStream: false,
      responseStream: false,
      requestDeserialize: (bytes) => Request.decode(bytes),
      responseSerialize: (response) => Buffer.from(Response.encode(response).finish()),
    },
  },
  { export: exportSpans },
);
server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
