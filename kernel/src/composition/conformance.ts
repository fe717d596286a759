import { LaresError } from "../base/errors.ts";
import { silentLog } from "../base/log.ts";
import type { Permissions } from "../base/vocabulary/permissions.ts";
import type { ExtensionFinder } from "../configuration/find-extensions.ts";
import { createProgramLoader, type Program } from "../configuration/programs.ts";
import type { Subject, SubjectHook, SubjectManifest, SubjectTool } from "../conformance/ports.ts";
import { jsonExample } from "../conformance/json-example.ts";
import type { RuleResult } from "../conformance/results.ts";
import { runConformance } from "../conformance/scenarios/run.ts";
import { defaultAgentLimits } from "../documents/limits.ts";
import type { ResolvedManifest } from "../documents/resolved-manifest.ts";
import { exampleEvent } from "../events/event-example.ts";
import { systemClock } from "../platform/clock.ts";
import { basename, dirname, join } from "../platform/files/paths.ts";
import { abiBounds } from "../sandbox/abi/v1/bounds.ts";
import { guestPreamble } from "../sandbox/guest/preamble.ts";
import { createSandboxHost } from "../sandbox/host/sandbox-host.ts";
import { ArgumentChecker } from "../tools/argument-checker.ts";
import { gitIgnored } from "../workspace/git-ignored.ts";
import { bundle, readGuestRuntime } from "./subsystems/resources.ts";

/** Waits in milliseconds that the kernel's own bounds do not give. */
const waits = { initializeMs: 20_000, longestAnswerMs: 30_000, ruleMs: 120_000 } as const;

/** Tools and actions for which arguments are made; more than a rule tries, because some may have none. */
const maxPrepared = 64;

interface ConformanceOptions {
  readonly onRule: (rule: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Tries the program of an extension's folder, or a module, against guest ABI v1 in a sandbox host of its own. `path` is
 * absolute: a folder with a manifest, or a file. Throws NotFound if there is no program, and InvalidDocument if the
 * manifest or the program cannot be read.
 */
export async function conformanceOf(
  finder: ExtensionFinder,
  path: { readonly folder: string; readonly file: string | null },
  { onRule, signal }: ConformanceOptions,
): Promise<RuleResult[]> {
  await using sandbox = createSandboxHost<Program>({
    clock: systemClock,
    log: silentLog,
    javascript: { runtime: readGuestRuntime, preamble: guestPreamble },
  });
  const loader = createProgramLoader({ bundle, checkModule: async () => null, gitIgnored });
  const { folder, main, manifest } = await programAt(finder, path.folder, path.file);
  const { program, fault } = await loader.load(folder, main, false);
  if (program === null || program.kind === "mind")
    throw new LaresError("InvalidDocument", fault ?? "It has no program.");
  const limits = { ...defaultAgentLimits, ...manifest?.resources };
  // A rule may need a fresh guest, so the next one is prepared while a rule is tried.
  sandbox.prewarm(limits.max_memory_mb);
  await using checker = new ArgumentChecker();
  const subject: Subject = {
    extension: { id: manifest?.id ?? "local.program", version: manifest?.version ?? "0.0.0" },
    permissions: manifest?.permissions ?? ({} satisfies Permissions),
    limits,
    manifest: manifest === null ? null : await described(manifest, checker, signal),
    start: () => sandbox.start(program, { agent: "conformance", maxMemoryMb: limits.max_memory_mb }),
  };
  return await runConformance(subject, {
    clock: systemClock,
    onRule,
    signal,
    patience: {
      promptMs: abiBounds.pingTimeoutMs,
      initializeMs: waits.initializeMs,
      answerMs: Math.min(limits.max_wall_ms_per_event, waits.longestAnswerMs),
      exitMs: abiBounds.shutdownGraceMs,
      ruleMs: waits.ruleMs,
    },
  });
}

interface FoundProgram {
  readonly folder: string;
  readonly main: string;
  readonly manifest: ResolvedManifest | null;
}

/** A module that no manifest names is tried without a manifest. */
async function programAt(
  finder: ExtensionFinder,
  folder: string,
  file: string | null,
): Promise<FoundProgram> {
  const extension = await finder.byPath(folder, join(folder, "lares.yaml"));
  const manifest = extension?.checked.value ?? null;
  if (extension !== null && manifest === null && file === null)
    throw new LaresError("InvalidDocument", "The manifest cannot be read; `lares check` says why.");
  if (file !== null && (manifest === null || join(folder, manifest.main ?? "") !== file))
    return { folder: dirname(file), main: basename(file), manifest: null };
  if (extension === null || manifest === null || manifest.main === null)
    throw new LaresError("NotFound", "It has no program. Name a .wasm file, or the folder of an extension.");
  return { folder: extension.folder, main: manifest.main, manifest };
}

async function described(
  { hooks, tools, commands = [], actions = [] }: ResolvedManifest,
  checker: Pick<ArgumentChecker, "verdictOf">,
  signal: AbortSignal,
): Promise<SubjectManifest> {
  const prepared = async (
    callable: readonly Pick<ResolvedManifest["tools"][number], "name" | "handler" | "parameters">[],
  ): Promise<SubjectTool[]> => {
    const described: SubjectTool[] = [];
    for (const [index, { name, handler, parameters }] of callable.entries()) {
      signal.throwIfAborted();
      const args = index < maxPrepared ? await argumentsFor(name, parameters, checker) : null;
      described.push({ name, handler, arguments: args });
    }
    return described;
  };
  return {
    hooks: hooks.flatMap((hook): SubjectHook[] => {
      if (hook.kind === "event") {
        const isQuestion = hook.interceptOrder !== undefined;
        return [{ handler: hook.handler, event: exampleEvent(hook.on), isQuestion }];
      }
      if (hook.prompt !== undefined) return [];
      return [
        {
          handler: hook.handler,
          event: { ...exampleEvent("ScheduleFired"), schedule: hook.schedule },
          isQuestion: false,
        },
      ];
    }),
    tools: await prepared([
      ...tools,
      ...commands.flatMap(({ name, handler, parameters = { type: "object" } }) =>
        handler === undefined ? [] : [{ name, handler: `command:${handler}`, parameters }],
      ),
    ]),
    actions: await prepared(actions),
  };
}

/** Returns arguments that fit the schema; null if none could be made. The schema may take any time to check, so a process of its own does it. */
async function argumentsFor(
  tool: string,
  parameters: Record<string, unknown>,
  checker: Pick<ArgumentChecker, "verdictOf">,
): Promise<unknown> {
  const args = jsonExample({ type: "object", ...parameters });
  const { kind } = await checker.verdictOf("conformance", tool, parameters, args);
  // A schema may use what the strict compiler refuses; the example is then good enough.
  return kind === "fits" || kind === "bad schema" ? args : null;
}
