import type { EgressTrace } from "../egress/client/answer.ts";

/** Returns what a person reads about a request: who, where to, how much. */
export function traceOf(trace: EgressTrace) {
  const { who, method, host, path, status, failure, unfilled, sentBytes, receivedBytes, durationMs } = trace;
  const outcome = failure === null ? String(status ?? "no answer") : failure.class;
  // Otherwise an author would see only that the server refuses the request.
  const hint =
    unfilled.length === 0
      ? ""
      : `. It was sent without the value of ${unfilled.map((name) => `"${name}"`).join(", ")}: lares secrets shows to which hosts, and where in a request, a value is sent.`;
  return {
    level: failure === null && hint === "" ? ("info" as const) : ("warn" as const),
    agent: who,
    message: `${method} ${host}${path}: ${outcome}${hint}`,
    // A narrow terminal shows the first of them: what the message does not say.
    fields: {
      sent_bytes: sentBytes,
      received_bytes: receivedBytes,
      duration_ms: Math.round(durationMs),
      method,
      host,
      path,
      status,
      ...(unfilled.length === 0 ? {} : { unfilled }),
      ...(trace.viaProxy ? { via_proxy: true } : {}),
      ...(trace.redirects.length === 0 ? {} : { redirects: trace.redirects }),
      ...(failure === null ? {} : { failure: failure.class }),
    },
  };
}
