import { named } from "../base/named.ts";
import { quotedText, visibleText } from "../base/visible-text.ts";
import type { EffectKind } from "../base/vocabulary/action.ts";
import type { ApprovalRule, RememberedRule } from "../base/vocabulary/approval-rule.ts";

/** The number of rules that the title of a decision spells out; further ones are only counted. */
const spelledOut = 3;

const verbs: Readonly<Record<ApprovalRule["decide"], string>> = {
  allow: "Allow",
  ask: "Ask about",
  deny: "Refuse",
};

const nouns: Readonly<Record<EffectKind, string>> = {
  "file.write": "writes",
  "file.edit": "edits",
  "file.move": "moves",
  "file.delete": "deletions",
  "folder.create": "new folders",
  "tag.add": "added tags",
  "tag.remove": "removed tags",
  "field.set": "fields",
  "sidecar.write": "sidecars",
};

/**
 * Returns what a rule matches: `edits in "notes/" and its folders by dev.example.notes`. Text cannot end its quotes.
 */
export function ruleWords(rule: ApprovalRule): string {
  return `${changesOf(rule)}${rule.agent === undefined ? " by any agent" : ` by ${visibleText(named(rule.agent))}`}`;
}

/** Returns the title of a decision in one line: `Allow edits of "notes/a.md" by dev.example.notes`. */
export function decisionTitle(rules: readonly RememberedRule[]): string {
  const parts = rules.slice(0, spelledOut).map((rule) => `${verbs[rule.decide]} ${ruleWords(rule)}`);
  const ends = rules.some(({ until }) => until === "close") ? ", until you close Lares" : "";
  return `${joined(parts, rules.length)}${ends}`;
}

/** Returns what rules for one agent match, without naming the agent. */
export function changesOfAll(rules: readonly ApprovalRule[]): string {
  return joined(rules.slice(0, spelledOut).map(changesOf), rules.length);
}

function joined(parts: readonly string[], total: number): string {
  const left = total - parts.length;
  return left === 0 ? parts.join("; ") : `${parts.join("; ")}; and ${left} more`;
}

function changesOf({ kind, path }: ApprovalRule): string {
  const noun = kind === undefined || kind === "*" ? "all changes" : nounOf(kind);
  return path === undefined ? noun : `${noun} ${placeOf(path)}`;
}

function nounOf(kind: string): string {
  if (Object.hasOwn(nouns, kind)) return nouns[kind as EffectKind];
  return kind.endsWith(".*")
    ? `all changes of kind ${quotedText(kind)}`
    : `changes of kind ${quotedText(kind)}`;
}

function placeOf(glob: string): string {
  const exact = literalOf(glob);
  if (exact !== null) return `of ${quotedText(exact)}`;
  const [one, other, ...more] = /^\{.*\}$/s.test(glob) ? splitBraces(glob.slice(1, -1)) : [glob];
  const folders = [one, other].map((part) => (part === undefined ? null : folderOf(part)));
  if (more.length === 0 && folders[0] !== null && folders[0] !== undefined) {
    if (other === undefined) return `in ${folders[0]}`;
    if (folders[1] !== null && folders[1] !== undefined)
      return `within and between ${folders[0]} and ${folders[1]}`;
  }
  return `matching ${quotedText(glob)}`;
}

/** Returns the path that the glob stands for if it has no wildcard; otherwise null. */
function literalOf(glob: string): string | null {
  const bare = glob.replace(/\\./gs, "");
  return /[*?[\]{},]/.test(bare) ? null : glob.replace(/\\(.)/gs, "$1");
}

function folderOf(glob: string): string | null {
  if (glob === "*") return "the top folder of the workspace";
  if (!glob.endsWith("/**")) return null;
  const folder = literalOf(glob.slice(0, -"/**".length));
  return folder === null ? null : `${quotedText(`${folder}/`)} and its folders`;
}

/** Splits the inside of one pair of braces at its commas; a comma after a backslash is literal. */
function splitBraces(text: string): string[] {
  const parts: string[] = [];
  let part = "";
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") part += text.slice(at, ++at + 1);
    else if (text[at] === ",") {
      parts.push(part);
      part = "";
    } else part += text[at];
  }
  return [...parts, part];
}
