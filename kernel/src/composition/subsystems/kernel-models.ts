import { ScriptTurns } from "../../agent-state/script-turns.ts";
import type { Asks } from "../../asks/asks.ts";
import { newId } from "../../base/ids.ts";
import type { ConfigurationManager } from "../../configuration/configuration-manager.ts";
import type { DiskTimer } from "../../journal/disk-timer.ts";
import type { Database } from "../../platform/database/database.ts";
import { homeOf } from "../../platform/files/state-folder.ts";
import type { EditorModels } from "../../services/editor-models.ts";
import type { TraceLog } from "../../trace/trace-log.ts";
import type { KernelContext } from "./kernel-context.ts";
import { modelConsent } from "../../outside/consent.ts";
import { type KernelModels, openModels } from "../../outside/open-models.ts";
import { traceOf } from "../../outside/request-trace.ts";

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
    trace: (trace) => traces.write({ ...traceOf(trace), trace_id: newId(), span_id: newId() }),
  });
}
