import { basename, join } from "../platform/files/paths.ts";
import type { AgentDefinition } from "../base/vocabulary/agent-definition.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import type { Configuration, ExtensionConfiguration } from "../documents/configuration.ts";
import { effectiveLimits } from "../documents/limits.ts";
import type { CheckedManifest } from "../documents/manifest.ts";
import { valueAt } from "../documents/text/source.ts";
import { plainLine } from "../base/plain-text.ts";
import type { DefinitionContext } from "./definition-context.ts";
import { idsOfFaulty, type ExtensionOnDisk } from "./find-extensions.ts";
import type { LoadedProgram } from "./programs.ts";

/** An extension whose manifest cannot be used. It is shown with its errors and does nothing. */
export interface BrokenExtension {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
  readonly problems: NonNullable<AgentDefinition["problems"]>;
  /** A sentence that names the file and line. */
  readonly fault: string;
}

/** Characters of a broken manifest's id and name that are shown. */
const shownCharacters = 200;

/** Describes an extension by what can still be read of its manifest, else by how it is named. */
export function brokenExtension(
  extension: ExtensionOnDisk,
  configuration: Pick<ExtensionConfiguration, "id" | "enabled"> | null,
  fault: string,
): BrokenExtension {
  const read = (field: string): string | undefined => {
    const value = valueAt(extension.checked.document.value, `/extension/${field}`);
    return typeof value === "string" && value.trim() !== ""
      ? plainLine(value).slice(0, shownCharacters)
      : undefined;
  };
  const [written] = idsOfFaulty(extension);
  const id = configuration?.id ?? plainLine(written ?? basename(extension.named)).slice(0, shownCharacters);
  return {
    id,
    name: read("name") ?? id,
    enabled: configuration?.enabled ?? true,
    problems: manifestProblems(extension.manifest.file, extension.checked) ?? {
      count: 1,
      first: { message: fault },
      isUnusable: true,
    },
    fault,
  };
}

/** Returns the errors of a manifest; null if it has none. */
export function manifestProblems(
  file: string,
  { diagnostics }: Pick<CheckedManifest, "diagnostics">,
): NonNullable<AgentDefinition["problems"]> | null {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (first === undefined) return null;
  const place = { path: file, line: first.range.start.line + 1 };
  return { count: errors.length, first: { message: plainLine(first.message), place }, isUnusable: true };
}

/**
 * Returns the errors of a program's source; null if it has none. An accepted program that is still available
 * continues to run.
 */
export function programProblems(
  folder: string,
  { program, fault, faults }: LoadedProgram,
): NonNullable<AgentDefinition["problems"]> | null {
  if (program !== null || faults === undefined) return null;
  const { count, file, line, message } = faults;
  const place = { path: join(folder, file), line: Math.max(1, line) };
  return { count, first: { message: plainLine(message || fault), place }, isUnusable: false };
}

/** Returns the agent that stands for a broken extension. It may do nothing and is never started. */
export function brokenDefinition(
  { id, name, enabled, problems, fault }: BrokenExtension,
  configuration: Configuration,
  context: DefinitionContext,
): AgentDefinition {
  const authority: Authority = {
    extension: id,
    requested: {},
    effective: {},
    denied: [],
    locations: [],
    protectedPaths: context.protectedPaths,
    forbiddenPaths: context.forbiddenPaths,
    memory: false,
    namespaces: {},
  };
  return {
    id,
    name,
    version: "",
    enabled,
    activation: "on_event",
    hooks: [],
    tools: [],
    authority,
    limits: effectiveLimits({ resources: {} }, configuration),
    config: {},
    concurrency: 1,
    memory: false,
    memoryRetentionDays: null,
    memoryPrune: null,
    traceLevel: configuration.trace.level,
    body: "guest",
    bundleDigest: null,
    fault,
    problems,
  };
}
