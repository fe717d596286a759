import { ScriptTurns } from "../../agent-state/script-turns.ts";
import type { Asks } from "../../asks/asks.ts";
import { newId } from "../../base/ids.ts";
import type { ConfigurationManager } from "../../configuration/configuration-manager.ts";
import type { EgressTrace } from "../../egress/client/answer.ts";
import type { DiskTimer } from "../../journal/disk-timer.ts";
import type { Database } from "../../platform/database/database.ts";
import { homeOf } from "../../platform/files/state-folder.ts";
import type { EditorModels } from "../../services/editor-models.ts";
import type { TraceLog } from "../../trace/trace-log.ts";
import type { KernelContext } from "./kernel-context.ts";
import { modelConsent } from "../models/consent.ts";
import { type KernelModels, openModels } from "../models/open-models.ts";

/** Opens what leads out of the machine, for one workspace's kernel. */
export async function openKernelModels(
  { environment, userFolder, stateHome, clock, log, opened }: KernelContext,
  {
    database,
    configuration,
    traces,
    asks,
    editor,
    disk,
  }: {
    readonly database: Database;
    readonly configuration: ConfigurationManager;
    readonly traces: TraceLog;
    readonly asks: Asks;
    readonly editor: EditorModels;
    readonly disk: DiskTimer;
  },
): Promise<KernelModels> {
  return openModels({
    environment,
    userFolder,
    stateHome,
    home: homeOf(environment),
    clock,
    log,
    opened,
    disk,
    document: () => configuration.configuration,
    consent: modelConsent(asks),
    editor,
    turns: await ScriptTurns.open(database),
    trace: (trace) => traces.write({ ...entryOf(trace), trace_id: newId(), span_id: newId() }),
  });
}

/** Returns what a person reads about a request: who, where to, how much. */
function entryOf(trace: EgressTrace) {
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
