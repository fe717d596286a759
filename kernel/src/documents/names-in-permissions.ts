import { closest, didYouMean } from "../base/suggest.ts";
import { EffectInput } from "../base/vocabulary/action.ts";
import { extensionIdPattern } from "../base/vocabulary/extension.ts";
import { diagnostic, type Diagnostic } from "./diagnostics.ts";
import { write } from "./language/repairs.ts";
import type { SoundExtension } from "./manifest-checks.ts";
import type { EventPorts } from "./ports.ts";
import { present } from "./sound-part.ts";
import { pointerTo, type ParsedDocument } from "./source.ts";

/** Every kind of effect there is. */
export const effectKindNames: readonly string[] = [
  ...new Set(EffectInput.anyOf.map((effect) => effect.properties.kind.const)),
];

const families = [...new Set(effectKindNames.map((kind) => `${kind.slice(0, kind.indexOf("."))}.*`))];

/** Told of where a rule or a permission names a kind of change that no effect has: it would match nothing, in silence. */
export function checkKind(kind: string, pointer: string, document: ParsedDocument): Diagnostic[] {
  const known = [...effectKindNames, ...families, "*"];
  if (known.includes(kind)) return [];
  const meant = closest(kind, known);
  const hint = didYouMean(kind, known) || `; there are ${known.join(", ")}.`;
  return [
    diagnostic("unknown-kind", document.locate(pointer), `There is no change of the kind "${kind}"${hint}`, [
      meant === undefined ? null : write(document, pointer, meant),
    ]),
  ];
}

/** Names in a manifest's permissions that nothing can ever have. */
export function checkPermissionNames(
  { id, permissions = {} }: SoundExtension,
  document: ParsedDocument,
  events: EventPorts,
): Diagnostic[] {
  const at = (list: string, index: number) => pointerTo("/extension/permissions", list, index);
  const found = present(permissions.propose_actions).flatMap(([index, kind]) =>
    checkKind(kind, at("propose_actions", index), document),
  );
  for (const [index, name] of present(permissions.emit_events)) {
    if (id === undefined || events.isCustomEvent(`${id}/${name}`)) continue;
    const message = `No hook can wait for an event of the name "${name}": it is written as in PersonIdentified, without the publisher.`;
    found.push(diagnostic("invalid-event-name", document.locate(at("emit_events", index)), message));
  }
  for (const [index, tool] of present(permissions.call_tools)) {
    if (toolReference.test(tool)) continue;
    const message = `"${tool}" names no tool; write "extension.id/tool", or "extension.id/*" for all of an extension.`;
    found.push(diagnostic("invalid-tool-reference", document.locate(at("call_tools", index)), message));
  }
  return found;
}

const toolReference = new RegExp(`${extensionIdPattern.slice(0, -1)}/(?:\\*|[A-Za-z][A-Za-z0-9_-]*)$`);
