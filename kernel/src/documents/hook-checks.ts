import { interceptedEvents } from "../base/vocabulary/mind-events.ts";
import { closest, didYouMean } from "../base/suggest.ts";
import { coversEvent } from "../policy/hearing.ts";
import { appendItem, insertEntry } from "./fixes/edits.ts";
import { fix, withoutEntry, write } from "./fixes/repairs.ts";
import type { FilterCheck, ManifestPorts } from "./ports.ts";
import { durationMs } from "./schema/durations.ts";
import type { ManifestHook } from "./schema/hooks.ts";
import { present, type SoundExtension } from "./sound-part.ts";
import type { DiagnosticCode } from "./text/codes.ts";
import { diagnostic, type Diagnostic, type Fix } from "./text/diagnostics.ts";
import { pointerTo, valueAt, type ParsedDocument } from "./text/source.ts";

const maxJitterMs = 60 * 60 * 1000;
const scheduleFields = [
  "timezone",
  "catch_up",
  "active_hours",
  "overlap",
  "jitter",
  "on_device_with_capability",
] as const;

/** Reports what is wrong with one hook apart from its handler's name. */
export function checkHook(
  extension: SoundExtension,
  hook: ManifestHook,
  pointer: string,
  document: ParsedDocument,
  ports: ManifestPorts,
): Diagnostic[] {
  const { on, filter, schedule, timezone } = hook;
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
    const message = `The hook "${hook.handler ?? hook.prompt ?? ""}" needs on, the event it waits for, or schedule.`;
    const event = insertEntry(document, pointer, "on", "EntryCreated");
    return [
      diagnostic(
        "hook-binding",
        document.locate(pointerTo(pointer, isWritten("handler") ? "handler" : "prompt"), "key"),
        message,
        [
          fix('Add "on"', [event]),
          fix('Add "schedule"', [insertEntry(document, pointer, "schedule", "@daily")]),
        ],
      ),
    ];
  }
  const bound = checkBinding(extension, hook, pointer, document);
  if (schedule !== undefined) {
    const { compileSchedule, nowMs } = ports.events;
    const compiled = compileSchedule(schedule, timezone, nowMs, hook.active_hours);
    const found = compiled.ok
      ? bound
      : [...bound, diagnostic("invalid-schedule", at(compiled.part), compiled.message)];
    if (hook.jitter !== undefined && durationMs(hook.jitter) > maxJitterMs)
      found.push(diagnostic("invalid-schedule", at("jitter"), `jitter is at most 1h, not ${hook.jitter}.`));
    if (filter !== undefined)
      found.push(
        diagnostic("hook-binding", key("filter"), "A schedule has no filter: there is no event to filter.", [
          without("filter"),
        ]),
      );
    return found;
  }
  if (on === undefined) return [];
  const found: Diagnostic[] = [...bound];
  for (const name of scheduleFields)
    if (hook[name] !== undefined)
      found.push(
        diagnostic(
          "hook-binding",
          key(name),
          `${name} belongs to a schedule, and this hook waits for an event.`,
          [without(name)],
        ),
      );
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

/** Reports a hook that has not exactly one of handler and prompt, or a field that belongs to another kind of hook. */
function checkBinding(
  { mind, permissions }: SoundExtension,
  { on, schedule, intercept }: ManifestHook,
  pointer: string,
  document: ParsedDocument,
): Diagnostic[] {
  const isWritten = (name: string) => valueAt(document.value, pointerTo(pointer, name)) !== undefined;
  const wrong = (name: string, message: string): Diagnostic =>
    diagnostic("hook-binding", document.locate(pointerTo(pointer, name), "key"), message, [
      withoutEntry(document, pointerTo(pointer, name)),
    ]);
  const [hasHandler, hasPrompt] = [isWritten("handler"), isWritten("prompt")];
  if (!hasHandler && !hasPrompt) {
    const message = "The hook needs handler, a function of the program, or, for a schedule, prompt.";
    const what = isWritten("on") ? "on" : "schedule";
    return [
      diagnostic("missing-field", document.locate(pointerTo(pointer, what), "key"), message, [
        fix('Add "handler"', [insertEntry(document, pointer, "handler", "myHandler")]),
      ]),
    ];
  }
  const found: Diagnostic[] = [];
  if (hasHandler && hasPrompt)
    found.push(wrong("prompt", "A hook has either handler or prompt; make two hooks of this one."));
  else if (hasPrompt && schedule === undefined)
    found.push(
      wrong("prompt", "prompt belongs to a schedule, and this hook waits for an event. Name a handler."),
    );
  else if (hasPrompt && mind === undefined && !isMindWritten(document))
    found.push(
      wrong("prompt", "prompt starts a conversation with the extension's mind, and it has none. Add mind."),
    );
  if (isWritten("target") && !hasPrompt)
    found.push(wrong("target", "target belongs to prompt, which this hook does not have."));
  if (on === undefined) {
    for (const name of ["intercept", "order"])
      if (isWritten(name))
        found.push(wrong(name, `${name} belongs to an event, and this hook waits for a time.`));
    return found;
  }
  const names: readonly string[] = interceptedEvents;
  if (intercept === true && !names.includes(on))
    found.push(
      wrong("intercept", `${on} is told when it has happened. Only ${names.join(", ")} can be intercepted.`),
    );
  if (isWritten("order") && intercept !== true)
    found.push(wrong("order", "order is that of hooks with intercept: true, and this hook has none."));
  if (!names.includes(on)) return found;
  if (intercept !== true) {
    const message = `${on} is told only to hooks that are asked before it takes effect. Add intercept: true.`;
    found.push(
      diagnostic("hook-binding", document.locate(pointerTo(pointer, "on")), message, [
        isWritten("intercept")
          ? write(document, pointerTo(pointer, "intercept"), true)
          : fix('Add "intercept: true"', [insertEntry(document, pointer, "intercept", true)], true),
      ]),
    );
  } else if (present(permissions?.intercept).length === 0) {
    const message = `This hook is never asked: under permissions, intercept names no agent. Add intercept: [<agent id>].`;
    found.push(diagnostic("not-intercepting", document.locate(pointerTo(pointer, "on")), message));
  }
  return found;
}

const isMindWritten = (document: ParsedDocument): boolean =>
  valueAt(document.value, "/extension/mind") !== undefined;

/** Reports a hook on another extension's event that `hear_events` does not cover. */
export function checkHeard(
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
  const message = `${handler ?? "The hook"} is never called: ${on} is an event of another extension, and hear_events does not list it.`;
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

export function filterFault(
  fault: FilterCheck & { ok: false },
  pointer: string,
  document: ParsedDocument,
  code: DiagnosticCode = fault.oldSpelling === true ? "old-spelling" : "invalid-filter",
): Diagnostic {
  const range = document.locateWithin(pointer, fault.offset, fault.length);
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
