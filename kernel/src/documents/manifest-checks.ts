import { compileGlob } from "../base/glob.ts";
import { closest, didYouMean } from "../base/suggest.ts";
import { diagnostic, type Diagnostic, type Fix } from "./text/diagnostics.ts";
import { anotherName, asVersion, withoutEntry, write } from "./fixes/repairs.ts";
import { checkActions } from "./action-checks.ts";
import { checkCommands } from "./command-checks.ts";
import { checkDeclaredModels } from "./declared-model-checks.ts";
import { checkDeclared, checkEvents } from "./event-checks.ts";
import { checkHook, checkHeard } from "./hook-checks.ts";
import { checkHosts } from "./host-checks.ts";
import { checkMind } from "./mind-checks.ts";
import { checkPermissionNames } from "./names-in-permissions.ts";
import { leavesFolder } from "./plain-path.ts";
import { defaultPrograms } from "./resolved-manifest.ts";
import type { ManifestPorts, ProgramExports } from "./ports.ts";
import { checkParameters, parametersOf } from "./parameter-checks.ts";
import { present, type SoundExtension } from "./sound-part.ts";
import { pointerTo, type ParsedDocument } from "./text/source.ts";
import { checkTypeReferences, checkTypes } from "./type-checks.ts";
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
      ...checkHook(extension, hook, pointer, document, ports),
      ...checkHeard(extension, hook, pointer, document, ports),
      ...(await checkDeclared(extension, hook, pointer, document, ports)),
    );
    const written = JSON.stringify(hook);
    const same = firstOf.get(written);
    if (same === undefined) firstOf.set(written, index);
    else {
      const message = `This hook is the same as hooks[${same}]: ${hook.handler ?? hook.prompt} would run twice for one event.`;
      const what = hook.handler === undefined ? "prompt" : "handler";
      found.push(
        diagnostic("duplicate-hook", document.locate(pointerTo(pointer, what)), message, [
          withoutEntry(document, pointer, "this hook"),
        ]),
      );
    }
  }
  found.push(...(await checkEvents(extension, document)));
  found.push(...(await checkTools(extension, document)));
  found.push(...(await checkCommands(extension, document)));
  found.push(...(await checkActions(extension, document)));
  found.push(...(await checkTypes(extension, document)));
  found.push(...(await checkMind(extension, document, ports)));
  const exported = main === null ? null : await ports.programExports?.(main);
  found.push(...checkExports(extension, document, exported ?? null));
  found.push(...(await checkProgram(extension, main, document, ports)));
  found.push(...checkFields(extension, document, ports));
  found.push(...checkDeclaredModels(extension.models, "/extension/models", document));
  found.push(...checkPermissionNames(extension, document, ports.events));
  found.push(...(await checkTypeReferences(extension, document, ports)));
  found.push(
    ...checkHosts(extension.resources?.allowed_hosts, "/extension/resources/allowed_hosts", document),
  );
  return found;
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
    const place = { document, pointer: pointerTo(pointer, "parameters"), ...parametersOf(tool.name) };
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
    kind: "hooks" | "tools" | "actions",
    index: number,
    handler: string | undefined,
    names: readonly string[] | null,
  ): Diagnostic[] => {
    if (names === null || handler === undefined) return [];
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
    ...(extension.actions ?? []).flatMap(({ handler }, index) =>
      check("actions", index, handler, exported.actions ?? null),
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
    const { hooks, tools, commands, actions } = extension;
    const called = [...present(hooks), ...present(tools), ...present(commands), ...present(actions)];
    const needed = called.some(([, { handler }]) => handler !== undefined);
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
  if (leavesFolder(path)) {
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
  return found;
}
