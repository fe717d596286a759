import { closest, didYouMean } from "../base/suggest.ts";
import { EffectInput } from "../base/vocabulary/action.ts";
import type { ApprovalRule } from "../base/vocabulary/approval-rule.ts";
import { maxSecretNameLength, secretNamePattern, secretNameRule } from "../base/vocabulary/secret.ts";
import { fileTools, toolMatches } from "../base/vocabulary/file-tools.ts";
import { extensionIdPattern } from "../base/vocabulary/extension.ts";
import { diagnostic, type Diagnostic } from "./text/diagnostics.ts";
import { withoutEntry, write } from "./fixes/repairs.ts";
import type { EventPorts } from "./ports.ts";
import { present, type SoundExtension } from "./sound-part.ts";
import { pointerTo, type ParsedDocument } from "./text/source.ts";

/** All kinds of effects. */
export const effectKindNames: readonly string[] = [
  ...new Set(EffectInput.anyOf.map((effect) => effect.properties.kind.const)),
];

const families = [...new Set(effectKindNames.map((kind) => `${kind.slice(0, kind.indexOf("."))}.*`))];

/** Reports a kind of change that no effect has. */
function checkKind(kind: string, pointer: string, document: ParsedDocument): Diagnostic[] {
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

/** Reports rules that can never match. A misspelled denial denies nothing, silently. */
export function checkRule(
  { kind, agent, path }: ApprovalRule,
  pointer: string,
  document: ParsedDocument,
): Diagnostic[] {
  const at = (name: string) => pointerTo(pointer, name);
  const found = kind === undefined ? [] : checkKind(kind, at("kind"), document);
  if (agent !== undefined && !new RegExp(extensionIdPattern).test(agent)) {
    const message = `No extension has the id "${agent}"; write one such as "com.example.photos", or leave agent out for any.`;
    found.push(
      diagnostic("matches-nothing", document.locate(at("agent")), message, [
        withoutEntry(document, at("agent")),
      ]),
    );
  }
  if (path !== undefined && outOfReach.test(path)) {
    const message = `The pattern "${path}" matches nothing: paths are relative to the workspace, without "..", as in photos/**.`;
    const meant = path.replace(/^\/+/, "");
    found.push(
      diagnostic("matches-nothing", document.locate(at("path")), message, [
        meant === "" || outOfReach.test(meant) ? null : write(document, at("path"), meant),
      ]),
    );
  }
  return found;
}

/** True for an absolute path or one with a component that canonical paths never have; one leading "./" is ignored. */
const outOfReach = /^(?:\/|[A-Za-z]:\/)|(?:^|\/)\.\.(?:\/|$)|\/\.?\//;

/** Reports names in a manifest's permissions that cannot exist. */
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
  for (const [index, name] of present(permissions.hear_events)) {
    if (events.isCustomEvent(name) || new RegExp(`${extensionIdPattern.slice(0, -1)}/\\*$`).test(name))
      continue;
    const message = `"${name}" names no event of an extension; write "publisher.id/EventName", or "publisher.id/*" for all of one. Built-in events need no permission.`;
    found.push(diagnostic("invalid-event-name", document.locate(at("hear_events", index)), message));
  }
  for (const [index, tool] of present(permissions.call_tools)) {
    if (toolReference.test(tool) || fileTools.some(({ name }) => toolMatches(tool, name))) continue;
    const message = `"${tool}" names no tool; write "extension.id/tool", or "extension.id/*" for all of an extension.`;
    found.push(diagnostic("invalid-tool-reference", document.locate(at("call_tools", index)), message));
  }
  for (const [index, agent] of present(permissions.intercept)) {
    if (new RegExp(extensionIdPattern).test(agent)) continue;
    const message = `No extension has the id "${agent}". Write one such as "com.example.photos".`;
    found.push(diagnostic("matches-nothing", document.locate(at("intercept", index)), message));
  }
  for (const [index, name] of present(permissions.use_credentials)) {
    if (name.length <= maxSecretNameLength && secretName.test(name)) continue;
    const message = `No secret can have the name "${name}": it has ${secretNameRule}.`;
    const meant = name.toLowerCase();
    found.push(
      diagnostic("invalid-secret-name", document.locate(at("use_credentials", index)), message, [
        secretName.test(meant) ? write(document, at("use_credentials", index), meant) : null,
      ]),
    );
  }
  return found;
}

const secretName = new RegExp(secretNamePattern);
const toolReference = new RegExp(`${extensionIdPattern.slice(0, -1)}/(?:\\*|[A-Za-z][A-Za-z0-9_-]*)$`);
