import { checkManifestSemantics } from "./manifest-checks.ts";
import { hasErrors, inOrder, type Diagnostic } from "./text/diagnostics.ts";
import { formatOf, parseInTurns } from "./text/parse.ts";
import type { ManifestPorts } from "./ports.ts";
import { defaultPrograms, type ResolvedHook, type ResolvedManifest } from "./resolved-manifest.ts";
import { Manifest } from "./schema/manifest.ts";
import { valueAt, type ParsedDocument } from "./text/source.ts";
import type { SoundExtension } from "./sound-part.ts";
import { uncheckable } from "./text/uncheckable.ts";
import { validate } from "./validate.ts";

export interface CheckedManifest {
  /** Null if the document does not have a manifest's form. Also set if there are other errors, for display. */
  readonly value: ResolvedManifest | null;
  readonly diagnostics: readonly Diagnostic[];
  /** True if the extension can be used. */
  readonly usable: boolean;
  readonly document: ParsedDocument;
}

/** Reads, validates and resolves `extension.yaml` or `extension.toml`. Never throws because of the text. */
export async function checkManifest(
  text: string,
  file: string,
  ports: ManifestPorts,
): Promise<CheckedManifest> {
  const document = await parseInTurns(text, formatOf(file) ?? "yaml");
  if (hasErrors(document.diagnostics)) return failed(document, document.diagnostics);
  try {
    return await checkParsed(document, ports);
  } catch (error) {
    return failed(document, [uncheckable(error, document)]);
  }
}

async function checkParsed(document: ParsedDocument, ports: ManifestPorts): Promise<CheckedManifest> {
  const { faults, sound } = await validate(Manifest, document);
  // Schema errors do not suppress the other checks.
  const extension = valueAt(sound, "/extension") as SoundExtension | undefined;
  if (extension === undefined) return failed(document, [...document.diagnostics, ...faults]);
  const main = extension.main ?? (await firstExisting(ports));
  const semantics = await checkManifestSemantics(extension, main, document, ports);
  const diagnostics = inOrder([...document.diagnostics, ...faults, ...semantics]);
  if (faults.length > 0) return failed(document, diagnostics);
  const value = resolve(document.value as Manifest, main);
  return { value, diagnostics, usable: !hasErrors(diagnostics), document };
}

function failed(document: ParsedDocument, diagnostics: readonly Diagnostic[]): CheckedManifest {
  return { value: null, diagnostics: inOrder(diagnostics), usable: false, document };
}

async function firstExisting(ports: ManifestPorts): Promise<string | null> {
  for (const name of defaultPrograms) if (await ports.fileExists(name)) return name;
  return null;
}

function resolve({ extension }: Manifest, main: string | null): ResolvedManifest {
  const { agent = {} } = extension;
  return {
    id: extension.id,
    name: extension.name,
    version: extension.version,
    description: extension.description ?? "",
    ...(extension.author === undefined ? {} : { author: extension.author }),
    ...(extension.license === undefined ? {} : { license: extension.license }),
    main,
    permissions: extension.permissions ?? {},
    resources: extension.resources ?? {},
    agent: {
      enableMemory: agent.enable_memory ?? true,
      ...(agent.memory_retention_days === undefined
        ? {}
        : { memoryRetentionDays: agent.memory_retention_days }),
      ...(agent.memory_prune === undefined
        ? {}
        : {
            memoryPrune: {
              belowImportance: agent.memory_prune.below_importance,
              olderThanDays: agent.memory_prune.older_than_days,
            },
          }),
      ...(agent.trace_level === undefined ? {} : { traceLevel: agent.trace_level }),
      activation: agent.activation ?? "on_event",
    },
    hooks: (extension.hooks ?? []).flatMap(resolveHook),
    tools: (extension.tools ?? []).map((tool) => ({
      ...tool,
      parameters: tool.parameters ?? { type: "object" },
    })),
    models: extension.models ?? [],
  };
}

/** Returns an empty value for a hook that has no event, which is already reported. */
function resolveHook(hook: NonNullable<Manifest["extension"]["hooks"]>[number]): ResolvedHook[] {
  const { on, filter, schedule, timezone, catch_up: catchUp = "skip", handler } = hook;
  if (on !== undefined && schedule === undefined) {
    return [{ kind: "event", on, handler, ...(filter === undefined ? {} : { filter }) }];
  }
  if (schedule !== undefined && on === undefined) {
    return [
      { kind: "schedule", schedule, handler, catchUp, ...(timezone === undefined ? {} : { timezone }) },
    ];
  }
  return [];
}
