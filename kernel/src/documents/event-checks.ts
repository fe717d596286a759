import { closest, didYouMean } from "../base/suggest.ts";
import { appendItem, insertEntry } from "./fixes/edits.ts";
import { anotherName, fix, withoutEntry, write } from "./fixes/repairs.ts";
import { filterFault } from "./hook-checks.ts";
import { checkParameters } from "./parameter-checks.ts";
import type { ManifestPorts } from "./ports.ts";
import type { DeclaredEvent } from "./resolved-manifest.ts";
import type { EventDeclaration } from "./schema/events.ts";
import type { ManifestHook } from "./schema/hooks.ts";
import { present, type SoundExtension } from "./sound-part.ts";
import { diagnostic, type Diagnostic } from "./text/diagnostics.ts";
import { pointerTo, type ParsedDocument } from "./text/source.ts";
import { nextTurn } from "./text/turns.ts";

/** Fields that the kernel writes into every declared event. */
const reservedEventFields: readonly string[] = ["id", "name", "timestamp", "version"];

/** Reports what is wrong with the events that an extension declares. */
export async function checkEvents(
  extension: SoundExtension,
  document: ParsedDocument,
): Promise<Diagnostic[]> {
  if (extension.events === undefined) return [];
  const declared = present(extension.events);
  const found: Diagnostic[] = [];
  const taken = new Set(declared.map(([, { name }]) => name));
  const seen = new Set<string>();
  for (const [index, event] of declared) {
    await nextTurn();
    const pointer = pointerTo("/extension/events", index);
    const { name, schema } = event;
    const at = pointerTo(pointer, "name");
    if (seen.has(name)) {
      const message = `There are two events of the name "${name}".`;
      const fixes = [write(document, at, anotherName(name, taken))];
      found.push(diagnostic("duplicate-event", document.locate(at), message, fixes));
    }
    seen.add(name);
    found.push(...notPermitted(extension, event, at, document));
    const place = {
      document,
      pointer: pointerTo(pointer, "schema"),
      subject: `The fields of the event "${name}"`,
      use: `emission of "${name}"`,
    };
    found.push(...(await checkParameters(schema, place)));
    for (const field of reservedEventFields) {
      const where = pointerTo(pointer, "schema", "properties", field);
      if (document.nodeAt(where) === undefined) continue;
      const message = `Every event has the field "${field}" already, and the kernel writes it. Give this one another name.`;
      found.push(diagnostic("reserved-event-field", document.locate(where, "key"), message));
    }
  }
  for (const [index, name] of present(extension.permissions?.emit_events)) {
    if (seen.has(name)) continue;
    const pointer = pointerTo("/extension/permissions/emit_events", index);
    const message = `Emitting "${name}" is refused: it is not among the events that the extension declares${didYouMean(name, [...seen]) || "."}`;
    const meant = closest(name, [...seen]);
    found.push(
      diagnostic("event-not-declared", document.locate(pointer), message, [
        meant === undefined ? null : write(document, pointer, meant),
        withoutEntry(document, pointer),
      ]),
    );
  }
  return found;
}

function notPermitted(
  { permissions }: SoundExtension,
  { name }: EventDeclaration,
  at: string,
  document: ParsedDocument,
): Diagnostic[] {
  if (present(permissions?.emit_events).some(([, listed]) => listed === name)) return [];
  const message = `Emitting "${name}" is refused: the permission emit_events does not list it.`;
  const list = "/extension/permissions/emit_events";
  const edit =
    document.nodeAt(list) !== undefined
      ? appendItem(document, list, name)
      : permissions === undefined
        ? insertEntry(document, "/extension", "permissions", { emit_events: [name] })
        : insertEntry(document, "/extension/permissions", "emit_events", [name]);
  return [
    diagnostic("event-not-permitted", document.locate(at), message, [
      fix(`Add ${name} to emit_events`, [edit], true),
    ]),
  ];
}

/** Reports a hook on an event that its publisher does not declare, or whose filter does not fit what it declares. */
export async function checkDeclared(
  { id, events }: SoundExtension,
  { on, filter }: ManifestHook,
  pointer: string,
  document: ParsedDocument,
  ports: ManifestPorts,
): Promise<Diagnostic[]> {
  if (on === undefined || !ports.events.isCustomEvent(on)) return [];
  const slash = on.indexOf("/");
  const publisher = on.slice(0, slash);
  const declared =
    publisher === id
      ? events && present(events).map(([, event]) => event)
      : await ports.declaredEvents?.(publisher);
  if (declared === undefined || declared === null) return [];
  const name = on.slice(slash + 1);
  const event = declared.find((one) => one.name === name);
  const names = declared.map((one: Pick<DeclaredEvent, "name">) => one.name);
  if (event === undefined) {
    const at = pointerTo(pointer, "on");
    const known = names.length === 0 ? "; it declares none." : `; it declares ${names.join(", ")}.`;
    const message = `${publisher} has no event "${name}"${didYouMean(name, names) || known}`;
    const meant = closest(name, names);
    return [
      diagnostic("event-mismatch", document.locate(at), message, [
        meant === undefined ? null : write(document, at, `${publisher}/${meant}`),
      ]),
    ];
  }
  if (filter === undefined) return [];
  // Faults that do not depend on the declaration have been reported already.
  if (!ports.events.compileFilter(filter, on).ok) return [];
  const checked = ports.events.compileFilter(filter, on, event.schema);
  return checked.ok ? [] : [filterFault(checked, pointerTo(pointer, "filter"), document, "event-mismatch")];
}
