import { compileGlob } from "../base/glob.ts";
import { closest, didYouMean } from "../base/suggest.ts";
import { permissionNames, type PermissionName } from "../base/vocabulary/permissions.ts";
import { diagnostic, hasErrors, inOrder, type Diagnostic } from "./text/diagnostics.ts";
import { durationPattern, parseDuration } from "./schema/durations.ts";
import { checkDeclaredModels } from "./declared-model-checks.ts";
import { appendItem } from "./fixes/edits.ts";
import { fix, set, withoutEntry, write } from "./fixes/repairs.ts";
import { checkEgress } from "./host-checks.ts";
import { checkRule } from "./names-in-permissions.ts";
import { formatOf, parseInTurns } from "./text/parse.ts";
import { checkLeakRules } from "./leak-rules.ts";
import { checkModels } from "./model-checks.ts";
import type { FolderState, FoundExtension, LaresPorts } from "./ports.ts";
import { Lares, type ExtensionEntry, type LaresDocument } from "./schema/lares.ts";
import { present } from "./sound-part.ts";
import { pointerTo, valueAt, type ParsedDocument } from "./text/source.ts";
import { nextTurn } from "./text/turns.ts";
import { uncheckable } from "./text/uncheckable.ts";
import { validate } from "./validate.ts";

interface CheckedLares {
  /** As written; null if the document does not have the required form. */
  readonly value: LaresDocument | null;
  readonly diagnostics: readonly Diagnostic[];
  /** True if the document can be used. */
  readonly usable: boolean;
  readonly document: ParsedDocument;
}

/** Reads and validates `lares.yaml` or `lares.toml`. Never throws because of the text. */
export async function checkLares(text: string, file: string, ports: LaresPorts): Promise<CheckedLares> {
  const document = await parseInTurns(text, formatOf(file) ?? "yaml");
  if (hasErrors(document.diagnostics)) return failed(document, document.diagnostics);
  try {
    return await checkParsed(document, ports);
  } catch (error) {
    return failed(document, [uncheckable(error, document)]);
  }
}

function failed(document: ParsedDocument, diagnostics: readonly Diagnostic[]): CheckedLares {
  return { value: null, diagnostics: inOrder(diagnostics), usable: false, document };
}

async function checkParsed(document: ParsedDocument, ports: LaresPorts): Promise<CheckedLares> {
  // A file with only comments is a valid configuration that sets nothing.
  const empty = document.value === null;
  const { faults, sound } = empty ? { faults: [], sound: {} } : await validate(Lares, document);
  if (typeof sound !== "object" || sound === null || Array.isArray(sound)) return failed(document, faults);
  // Schema errors do not suppress the other checks.
  const value = sound as LaresDocument;
  const semantics = [
    ...checkDurations(value, document),
    ...(await checkRules(value, document)),
    ...(await checkGlobs(value, document)),
    ...checkNamespaces(value, document),
    ...checkModels(value, document),
    ...checkEgress(value, document),
    ...checkLeakRules(value, document),
    ...checkReach(value, document, ports),
    ...checkDeprecated(value, document),
    ...(await checkExtensions(value.extensions ?? [], document, ports)),
  ];
  if (faults.length > 0) return failed(document, [...document.diagnostics, ...faults, ...semantics]);
  const diagnostics = inOrder([...document.diagnostics, ...semantics]);
  return { value, diagnostics, usable: !hasErrors(diagnostics), document };
}

/** Returns the pointers of the settings that count in the user's own document only: they allow network access or execution, or describe the device. */
export function userOnlySettings(value: LaresDocument): string[] {
  const found: string[] = [];
  if (typeof value.memory?.embedder === "object") found.push("/memory/embedder");
  // The map counts as one setting: if one entry allows network access, the whole map is listed.
  const overrides = Object.values(value.memory?.extensions ?? {});
  if (overrides.some(({ embedder }) => typeof embedder === "object")) found.push("/memory/extensions");
  for (const section of ["models", "egress", "device"] as const)
    if (value[section] !== undefined) found.push(`/${section}`);
  return found;
}

function checkReach(value: LaresDocument, document: ParsedDocument, ports: LaresPorts): Diagnostic[] {
  if (ports.layer !== "workspace") return [];
  return userOnlySettings(value).map((pointer) => {
    const name = pointer.slice(1).replaceAll("/", ".");
    const reason =
      name === "device" ? "describes a person's machine" : "can reach out of this machine or execute";
    const message = `${name} ${reason}; it counts in your own lares.yaml only and is ignored here.`;
    return diagnostic("user-only", document.locate(pointer, "key"), message, [
      withoutEntry(document, pointer, name),
    ]);
  });
}

function checkDeprecated({ ai }: LaresDocument, document: ParsedDocument): Diagnostic[] {
  if (ai === undefined) return [];
  const message = "ai is ignored: no version reads it. Providers of language models belong under models.";
  return [
    diagnostic("deprecated-field", document.locate("/ai", "key"), message, [
      withoutEntry(document, "/ai", "ai"),
    ]),
  ];
}

const durations = [
  "/approvals/expire_after",
  "/limits/idle_unload",
  "/kernel/linger",
  "/trace/keep",
] as const;

function checkDurations(value: LaresDocument, document: ParsedDocument): Diagnostic[] {
  const given = [
    value.approvals?.expire_after,
    value.limits?.idle_unload,
    value.kernel?.linger,
    value.trace?.keep,
  ];
  return given.flatMap((text, index) => {
    if (text === undefined || !new RegExp(durationPattern).test(text)) return [];
    const duration = parseDuration(text);
    return duration.ok
      ? []
      : [diagnostic("invalid-duration", document.locate(durations[index] ?? ""), duration.message)];
  });
}

async function checkRules(value: LaresDocument, document: ParsedDocument): Promise<Diagnostic[]> {
  const found: Diagnostic[] = [];
  for (const [index, rule] of present(value.approvals?.rules)) {
    await nextTurn();
    const pointer = pointerTo("/approvals/rules", index);
    if (rule.path !== undefined) found.push(...checkGlob(rule.path, pointerTo(pointer, "path"), document));
    found.push(...checkRule(rule, pointer, document));
  }
  return found;
}

async function checkGlobs(value: LaresDocument, document: ParsedDocument): Promise<Diagnostic[]> {
  const found: Diagnostic[] = [];
  const lists = [
    ["/index/ignore", value.index?.ignore],
    ["/conversations/untrusted", value.conversations?.untrusted],
  ] as const;
  for (const [list, patterns] of lists) {
    for (const [index, pattern] of present(patterns)) {
      await nextTurn();
      found.push(...checkGlob(pattern, pointerTo(list, index), document));
    }
  }
  return found;
}

function checkGlob(pattern: string, pointer: string, document: ParsedDocument): Diagnostic[] {
  const glob = compileGlob(pattern);
  return glob.ok ? [] : [diagnostic("invalid-glob", document.locate(pointer), glob.message)];
}

function checkNamespaces(value: LaresDocument, document: ParsedDocument): Diagnostic[] {
  const found: Diagnostic[] = [];
  const owners = new Map<string, string>();
  for (const list of ["shared_namespaces", "import_namespaces"] as const) {
    for (const [index, { name, workspace, read_write: writable }] of present(value[list])) {
      const pointer = pointerTo("", list, index);
      const isImport = list === "import_namespaces";
      if (isImport && valueAt(document.value, pointerTo(pointer, "workspace")) === undefined) {
        const message = `The import ${name} has to say whose memory it is: workspace: <path of that workspace>.`;
        found.push(diagnostic("invalid-namespace", document.locate(pointer), message));
      }
      if (!isImport && workspace !== undefined) {
        const message = `${name} is this workspace's own memory; to read another's, put it under import_namespaces.`;
        found.push(
          diagnostic("invalid-namespace", document.locate(pointerTo(pointer, "workspace"), "key"), message, [
            withoutEntry(document, pointerTo(pointer, "workspace")),
          ]),
        );
      }
      if (isImport && writable === true) {
        const message = `Another workspace's memory is only ever read; read_write of ${name} is ignored.`;
        found.push(
          diagnostic("import-read-only", document.locate(pointerTo(pointer, "read_write"), "key"), message, [
            withoutEntry(document, pointerTo(pointer, "read_write")),
          ]),
        );
      }
      const owner = owners.get(name);
      if (owner !== undefined) {
        const message = `${owner} is named "${name}" already; agents could not tell the two apart.`;
        found.push(diagnostic("duplicate-namespace", document.locate(pointerTo(pointer, "name")), message));
      }
      owners.set(name, owner ?? `${list}[${index}]`);
    }
  }
  return found;
}

async function checkExtensions(
  entries: readonly ExtensionEntry[],
  document: ParsedDocument,
  ports: LaresPorts,
): Promise<Diagnostic[]> {
  const found: Diagnostic[] = [];
  const owners = new Map<string, number>();
  const granted = grantedLocations(present(entries).map(([, entry]) => entry));
  for (const [index, entry] of present(entries)) {
    await nextTurn();
    const pointer = pointerTo("/extensions", index);
    found.push(
      ...checkGrantNames(entry, pointer, document),
      ...checkDeclaredModels(entry.models, pointerTo(pointer, "models"), document),
      ...(await checkLocations(entry, pointer, document, ports)),
    );
    const isWritten = (name: "path" | "id") =>
      valueAt(document.value, pointerTo(pointer, name)) !== undefined;
    if (isWritten("path") === isWritten("id")) {
      const message =
        "An entry of extensions has either path, the extension's folder, or id, which is looked for.";
      found.push(
        diagnostic("extension-reference", document.locate(pointer), message, [
          entry.id === undefined ? null : withoutEntry(document, pointerTo(pointer, "id")),
          entry.path === undefined ? null : withoutEntry(document, pointerTo(pointer, "path")),
        ]),
      );
      continue;
    }
    // Present, but refused because of its form.
    if (entry.path === undefined && entry.id === undefined) continue;
    const named = pointerTo(pointer, entry.path === undefined ? "id" : "path");
    const extension = await ports.findExtension?.(referenceOf(entry), granted);
    if (extension !== undefined) found.push(...checkFound(entry, extension, pointer, named, document));
    const id = extension?.state === "found" ? extension.manifest.id : (entry.id ?? entry.path ?? "");
    const owner = owners.get(id);
    if (owner !== undefined) {
      const message = `extensions[${owner}] is "${id}" already; put both entries' grants into one.`;
      found.push(
        diagnostic("duplicate-extension", document.locate(named), message, [
          withoutEntry(document, pointer, "this entry"),
        ]),
      );
    }
    owners.set(id, owner ?? index);
  }
  return found;
}

/** Returns the canonical locations of these entries without duplicates. */
function grantedLocations(entries: readonly ExtensionEntry[]): string[] {
  const locations = entries.flatMap(({ grants }) => present(grants?.locations).map(([, one]) => one));
  return [...new Set(locations.map(canonicalLocation).filter((location) => location !== null))];
}

function referenceOf(entry: ExtensionEntry): { path?: string; id?: string } {
  return {
    ...(entry.path === undefined ? {} : { path: entry.path }),
    ...(entry.id === undefined ? {} : { id: entry.id }),
  };
}

function checkFound(
  entry: ExtensionEntry,
  extension: FoundExtension,
  pointer: string,
  named: string,
  document: ParsedDocument,
): Diagnostic[] {
  if (extension.state === "missing") {
    const looked =
      extension.lookedIn.length === 0 ? "" : ` It was looked for in ${extension.lookedIn.join(", ")}.`;
    const what =
      entry.path === undefined
        ? `no extension "${entry.id}"`
        : `no extension.yaml or extension.toml in "${entry.path}"`;
    const written = entry.id ?? entry.path ?? "";
    const meant = closest(written, extension.candidates ?? []);
    const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
    return [
      diagnostic("extension-not-found", document.locate(named), `There is ${what}.${looked}${hint}`, [
        meant === undefined ? null : write(document, named, meant),
      ]),
    ];
  }
  if (extension.state === "misplaced")
    return [diagnostic("extension-holds-files", document.locate(named), extension.reason)];
  if (extension.state === "invalid") {
    return [
      diagnostic(
        "extension-invalid",
        document.locate(named),
        extension.isForeign
          ? `${extension.file} is another product's manifest: one of Lares has "extension" at its top.`
          : `The manifest ${extension.file} has errors; see there.`,
      ),
    ];
  }
  const { allow, deny = [] } = entry.grants ?? {};
  if (allow === undefined || allow.includes("*")) return [];
  const asked = Object.keys(extension.manifest.permissions) as PermissionName[];
  return asked
    .filter((name) => !allow.includes(name) && !deny.includes(name))
    .map((name) => {
      const message = `"${extension.manifest.id}" asks for ${name}, which allow leaves out; add it, or say so with deny: [${name}].`;
      const grants = pointerTo(pointer, "grants");
      const denial =
        entry.grants?.deny === undefined
          ? set(document, grants, "deny", [name])
          : appendItem(document, `${grants}/deny`, name);
      return diagnostic(
        "permission-not-granted",
        document.locate(pointerTo(pointer, "grants", "allow"), "key"),
        message,
        [
          fix(`Allow ${name}`, [appendItem(document, `${grants}/allow`, name)]),
          fix(`Deny ${name}`, [denial]),
        ],
      );
    });
}

function checkGrantNames(entry: ExtensionEntry, pointer: string, document: ParsedDocument): Diagnostic[] {
  return (["allow", "deny"] as const).flatMap((list) =>
    (entry.grants?.[list] ?? []).flatMap((name, index) => {
      if (name === "*" || (permissionNames as readonly string[]).includes(name)) return [];
      const hint =
        didYouMean(name, permissionNames) || `; there are ${permissionNames.join(", ")}, and "*" for all.`;
      const range = document.locate(pointerTo(pointer, "grants", list, index));
      const item = pointerTo(pointer, "grants", list, index);
      const meant = closest(name, permissionNames);
      return [
        diagnostic("unknown-permission", range, `There is no permission "${name}"${hint}`, [
          meant === undefined ? null : write(document, item, meant),
          withoutEntry(document, item, `"${name}"`),
        ]),
      ];
    }),
  );
}

async function checkLocations(
  entry: ExtensionEntry,
  pointer: string,
  document: ParsedDocument,
  ports: LaresPorts,
): Promise<Diagnostic[]> {
  const found: Diagnostic[] = [];
  for (const [index, location] of present(entry.grants?.locations)) {
    const item = pointerTo(pointer, "grants", "locations", index);
    const range = document.locate(item);
    const fixes = [withoutEntry(document, item, `"${location}"`)];
    const canonical = canonicalLocation(location);
    const state: FolderState | undefined =
      canonical === null ? "outside" : await ports.folderState?.(canonical);
    if (state === "outside") {
      const message = `The location "${location}" leads out of the workspace; a location is a folder in it, such as "photos" or ".".`;
      found.push(diagnostic("location-outside", range, message, fixes));
    } else if (state === "missing" || state === "other") {
      const message = `The location "${location}" ${state === "missing" ? "does not exist" : "is not a folder"}.`;
      found.push(diagnostic("location-not-found", range, message, fixes));
    }
  }
  return found;
}

/**
 * Returns a location as grants store it, in the spelling that was written: "/" separators, no "./", no trailing
 * slash, "." for the whole workspace. Returns null if it is outside the workspace.
 */
export function canonicalLocation(location: string): string | null {
  if (/^(?:[/\\~]|[A-Za-z]:)/.test(location) || location.includes("\\") || location.includes("\0"))
    return null;
  const parts = location.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return null;
  return parts.length === 0 ? "." : parts.join("/");
}
