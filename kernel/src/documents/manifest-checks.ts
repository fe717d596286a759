import { compileGlob } from "../base/glob.ts";
import { closest, didYouMean } from "../base/suggest.ts";
import { diagnostic, type Diagnostic, type Fix } from "./text/diagnostics.ts";
import { coversEvent } from "../policy/hearing.ts";
import { appendItem, insertEntry } from "./fixes/edits.ts";
import { anotherName, asVersion, fix, withoutEntry, write } from "./fixes/repairs.ts";
import { checkHosts } from "./host-checks.ts";
import { checkPermissionNames } from "./names-in-permissions.ts";
import { defaultPrograms } from "./resolved-manifest.ts";
import type { FilterCheck, ManifestPorts, ProgramExports } from "./ports.ts";
import { checkParameters } from "./parameter-checks.ts";
import type { ManifestHook } from "./schema/manifest.ts";
import { present, type SoundExtension } from "./sound-part.ts";
import { pointerTo, valueAt, type ParsedDocument } from "./text/source.ts";
import { nextTurn } from "./text/turns.ts";
import { isOlder, isVersion } from "./versions.ts";

/** Returns the errors in a manifest that its schema cannot express. `main` is the program that was named or found. */
export async function checkManifestSemantics(
  extension: SoundExtension,
  main: string | null,
  document: ParsedDocument,
  ports: ManifestPorts,
): Promise<Diagnostic[]> {
  const found: Diagnostic[] = [];
  const hooks = present(extension.hooks);
  const firstOf = new Map<string, number>();
  for (const [index, hook] of hooks) {
    await nextTurn();
    const pointer = pointerTo("/extension/hooks", index);
    found.push(
      ...checkHook(hook, pointer, document, ports),
      ...checkHeard(extension, hook, pointer, document, ports),
    );
    const written = JSON.stringify(hook);
    const same = firstOf.get(written);
    if (same === undefined) firstOf.set(written, index);
    else {
      const message = `This hook is the same as hooks[${same}]: ${hook.handler} would run twice for one event.`;
      found.push(
        diagnostic("duplicate-hook", document.locate(pointerTo(pointer, "handler")), message, [
          withoutEntry(document, pointer, "this hook"),
        ]),
      );
    }
  }
  found.push(...(await checkTools(extension, document)));
  const exported = main === null ? null : await ports.programExports?.(main);
  found.push(...checkExports(extension, document, exported ?? null));
  found.push(...(await checkProgram(extension, main, document, ports)));
  found.push(...checkFields(extension, document, ports));
  found.push(...checkPermissionNames(extension, document, ports.events));
  found.push(
    ...checkHosts(extension.resources?.allowed_hosts, "/extension/resources/allowed_hosts", document),
  );
  return found;
}

function checkHook(
  hook: ManifestHook,
  pointer: string,
  document: ParsedDocument,
  ports: ManifestPorts,
): Diagnostic[] {
  const { on, filter, schedule, timezone, catch_up: catchUp } = hook;
  const at = (...keys: string[]) => document.locate(pointerTo(pointer, ...keys));
  const isWritten = (name: string) => valueAt(document.value, pointerTo(pointer, name)) !== undefined;
  const key = (name: string) => document.locate(pointerTo(pointer, name), "key");
  const without = (name: string) => withoutEntry(document, pointerTo(pointer, name));
  if (isWritten("on") && isWritten("schedule")) {
    return [
      diagnostic(
        "hook-binding",
        key("schedule"),
        "A hook has either on or schedule; make two hooks of this one.",
        [without("schedule"), without("on")],
      ),
    ];
  }
  if (!isWritten("on") && !isWritten("schedule")) {
    const message = `The hook "${hook.handler}" needs on, the event it waits for, or schedule.`;
    const event = insertEntry(document, pointer, "on", "EntryCreated");
    return [
      diagnostic("hook-binding", document.locate(pointerTo(pointer, "handler"), "key"), message, [
        fix('Add "on"', [event]),
        fix('Add "schedule"', [insertEntry(document, pointer, "schedule", "@daily")]),
      ]),
    ];
  }
  if (schedule !== undefined) {
    const compiled = ports.events.compileSchedule(schedule, timezone, ports.events.nowMs);
    const found = compiled.ok ? [] : [diagnostic("invalid-schedule", at(compiled.part), compiled.message)];
    if (filter !== undefined)
      found.push(
        diagnostic("hook-binding", key("filter"), "A schedule has no filter: there is no event to filter.", [
          without("filter"),
        ]),
      );
    return found;
  }
  if (on === undefined) return [];
  const found: Diagnostic[] = [];
  for (const name of ["timezone", "catch_up"] as const) {
    const present = name === "timezone" ? timezone : catchUp;
    if (present !== undefined)
      found.push(
        diagnostic(
          "hook-binding",
          key(name),
          `${name} belongs to a schedule, and this hook waits for an event.`,
          [without(name)],
        ),
      );
  }
  const { eventNames, isCustomEvent } = ports.events;
  if (!eventNames.includes(on) && !isCustomEvent(on)) {
    const meant = closest(on, eventNames);
    const hint =
      didYouMean(on, eventNames) || `; there are ${eventNames.join(", ")}, and publisher.id/EventName.`;
    const fixes = meant === undefined ? [] : [write(document, pointerTo(pointer, "on"), meant)];
    found.push(diagnostic("unknown-event", at("on"), `There is no event "${on}"${hint}`, fixes));
  } else if (filter !== undefined) {
    const checked = ports.events.compileFilter(filter, on);
    if (!checked.ok) found.push(filterFault(checked, pointerTo(pointer, "filter"), document));
  }
  return found;
}

/** Reports a hook on another extension's event that `hear_events` does not cover. */
function checkHeard(
  { id, permissions }: SoundExtension,
  { on, handler }: ManifestHook,
  pointer: string,
  document: ParsedDocument,
  ports: ManifestPorts,
): Diagnostic[] {
  if (on === undefined || id === undefined || !ports.events.isCustomEvent(on)) return [];
  const publisher = on.slice(0, on.indexOf("/"));
  const heard = present(permissions?.hear_events).map(([, name]) => name);
  if (publisher === id || coversEvent(heard, on)) return [];
  const message = `${handler} is never called: ${on} is an event of another extension, and hear_events does not list it.`;
  const list = "/extension/permissions/hear_events";
  const add = (value: string): Fix | null =>
    fix(`Add ${value} to hear_events`, [
      document.nodeAt(list) !== undefined
        ? appendItem(document, list, value)
        : permissions === undefined
          ? insertEntry(document, "/extension", "permissions", { hear_events: [value] })
          : insertEntry(document, "/extension/permissions", "hear_events", [value]),
    ]);
  return [
    diagnostic("event-not-heard", document.locate(pointerTo(pointer, "on")), message, [
      add(on),
      add(`${publisher}/*`),
    ]),
  ];
}

function filterFault(
  fault: FilterCheck & { ok: false },
  pointer: string,
  document: ParsedDocument,
): Diagnostic {
  const range = document.locateWithin(pointer, fault.offset, fault.length);
  const code = fault.oldSpelling === true ? "old-spelling" : "invalid-filter";
  if (fault.fix === undefined) return diagnostic(code, range, fault.message);
  const edits = fault.fix.edits.map(({ offset, length, newText }) => ({
    range: document.locateWithin(pointer, offset, length),
    newText,
  }));
  // If the place within the text is not known, the edit would overwrite the whole value with a part.
  const whole = JSON.stringify(document.locate(pointer));
  const placed = edits.every((edit) => JSON.stringify(edit.range) !== whole);
  const mended: Fix = { title: fault.fix.title, edits, isPreferred: true };
  return diagnostic(code, range, fault.message, placed ? [mended] : []);
}

async function checkTools(extension: SoundExtension, document: ParsedDocument): Promise<Diagnostic[]> {
  const found: Diagnostic[] = [];
  const names = new Set<string>();
  const tools = present(extension.tools);
  const taken = new Set(tools.map(([, { name }]) => name));
  for (const [index, tool] of tools) {
    await nextTurn();
    const pointer = pointerTo("/extension/tools", index);
    if (names.has(tool.name)) {
      found.push(
        diagnostic(
          "duplicate-tool",
          document.locate(pointerTo(pointer, "name")),
          `There are two tools of the name "${tool.name}".`,
          [write(document, pointerTo(pointer, "name"), anotherName(tool.name, taken))],
        ),
      );
    }
    names.add(tool.name);
    if (tool.parameters === undefined) continue;
    const place = { document, pointer: pointerTo(pointer, "parameters"), tool: tool.name };
    found.push(...(await checkParameters(tool.parameters, place)));
  }
  return found;
}

function checkExports(
  extension: SoundExtension,
  document: ParsedDocument,
  exported: ProgramExports | null,
): Diagnostic[] {
  if (exported === null) return [];
  const check = (
    kind: "hooks" | "tools",
    index: number,
    handler: string,
    names: readonly string[] | null,
  ): Diagnostic[] => {
    if (names === null) return [];
    if (names.includes(handler)) return [];
    const range = document.locate(pointerTo("/extension", kind, index, "handler"));
    const hint =
      didYouMean(handler, names) ||
      (names.length === 0 ? `; it has no ${kind}.` : `; it has ${names.join(", ")}.`);
    const meant = closest(handler, names);
    const fixes =
      meant === undefined ? [] : [write(document, pointerTo("/extension", kind, index, "handler"), meant)];
    return [
      diagnostic(
        "handler-not-exported",
        range,
        `The program has no "${handler}" among its ${kind}${hint}`,
        fixes,
      ),
    ];
  };
  return [
    ...(extension.hooks ?? []).flatMap(({ handler }, index) =>
      check("hooks", index, handler, exported.handlers),
    ),
    ...(extension.tools ?? []).flatMap(({ handler }, index) =>
      check("tools", index, handler, exported.tools),
    ),
  ];
}

async function checkProgram(
  extension: SoundExtension,
  main: string | null,
  document: ParsedDocument,
  ports: ManifestPorts,
): Promise<Diagnostic[]> {
  if (extension.main === undefined) {
    const needed = [...(extension.hooks ?? []), ...(extension.tools ?? [])].length > 0;
    if (main !== null || !needed) return [];
    const message = `There are hooks or tools but no program: main is not set, and none of ${defaultPrograms.join(", ")} exists.`;
    return [diagnostic("no-program", document.locate("/extension", "key"), message)];
  }
  const range = document.locate("/extension/main");
  const fixes: (Fix | null)[] = [];
  for (const name of defaultPrograms) {
    if (name !== extension.main && (await ports.fileExists(name)))
      fixes.push(write(document, "/extension/main", name));
  }
  const path = extension.main.replace(/^\.\//, "");
  if (/^(?:[/\\]|[A-Za-z]:)/.test(path) || path.includes("\\") || path.split("/").includes("..")) {
    return [
      diagnostic(
        "invalid-program",
        range,
        `main is "${extension.main}"; a program lies in the manifest's folder, and its path is relative with "/".`,
        fixes,
      ),
    ];
  }
  if (!/\.(?:ts|js|wasm)$/.test(path)) {
    return [
      diagnostic(
        "invalid-program",
        range,
        `main is "${extension.main}"; a program is a .ts, .js or .wasm file.`,
        fixes,
      ),
    ];
  }
  if (await ports.fileExists(path)) return [];
  return [
    diagnostic("program-not-found", range, `main names "${extension.main}", which does not exist.`, fixes),
  ];
}

function checkFields(
  extension: SoundExtension,
  document: ParsedDocument,
  ports: ManifestPorts,
): Diagnostic[] {
  const found: Diagnostic[] = [];
  const { version } = extension;
  if (version !== undefined && !isVersion(version)) {
    const meant = asVersion(version);
    found.push(
      diagnostic(
        "invalid-version",
        document.locate("/extension/version"),
        `The version "${version}" is not of the form 1.2.3.`,
        [meant === null ? null : write(document, "/extension/version", meant)],
      ),
    );
  }
  const { read_entries: readEntries } = extension.permissions ?? {};
  if (typeof readEntries === "object" && readEntries.filter !== undefined) {
    const glob = compileGlob(readEntries.filter);
    if (!glob.ok)
      found.push(
        diagnostic(
          "invalid-glob",
          document.locate("/extension/permissions/read_entries/filter"),
          glob.message,
        ),
      );
  }
  const { min_core_version: oldest, features = [] } = extension.requirements ?? {};
  if (oldest !== undefined && (!isVersion(oldest) || isOlder(ports.kernelVersion, oldest))) {
    const message = `This extension requires version ${oldest}; this kernel is ${ports.kernelVersion}.`;
    found.push(
      diagnostic("requirement-not-met", document.locate("/extension/requirements/min_core_version"), message),
    );
  }
  for (const [index, feature] of present(features)) {
    const message = `This extension requires "${feature}", which this kernel does not have.`;
    found.push(
      diagnostic(
        "requirement-not-met",
        document.locate(pointerTo("/extension/requirements/features", index)),
        message,
      ),
    );
  }
  for (const [index, { sha256 }] of present(extension.models)) {
    if (sha256 === undefined || /^(?:sha256:)?[0-9a-f]{64}$/.test(sha256)) continue;
    const pointer = pointerTo("/extension/models", index, "sha256");
    const isDigits = /^(?:sha256:)?[0-9a-f]{64}$/i.test(sha256);
    const message = `"${sha256}" is not a SHA-256. Write 64 hexadecimal digits in lower case.`;
    found.push(
      diagnostic("invalid-hash", document.locate(pointer), message, [
        isDigits ? write(document, pointer, sha256.toLowerCase()) : null,
      ]),
    );
  }
  return found;
}
