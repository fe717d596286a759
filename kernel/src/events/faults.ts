import { EvaluationError, ParseError, TypeError as CelTypeError } from "@marcbachmann/cel-js";
import { messageOf } from "../base/errors.ts";
import { closest, didYouMean } from "../base/suggest.ts";
import { asWritten, isReplacement } from "./corrections.ts";
import { compilePattern, filterLimits, type FilterLanguage } from "./environment.ts";
import { callOf, writtenNodes, type Call, type ExpressionNode } from "./expression.ts";
import { slipOfMethod, slipOfName, slipOfOperators, slipOfPattern, type Slip } from "./slips.ts";
import type { FilterFix } from "./spellings.ts";
import { entryFields } from "./types.ts";

/** What is wrong with a filter, and where in its text. */
export interface FilterFault {
  readonly ok: false;
  readonly message: string;
  readonly offset: number;
  readonly length: number;
  /** True if the filter is correct apart from an older spelling; `fix` corrects it. */
  readonly oldSpelling?: boolean;
  readonly fix?: FilterFix;
}

interface Circumstances {
  readonly source: string;
  readonly eventName: string;
  readonly language: FilterLanguage;
  /** Undefined if the text could not be parsed. */
  readonly root: ExpressionNode | undefined;
}

/** Turns the library's error into a sentence that says what would be right. */
export function explainFault(error: unknown, circumstances: Circumstances): FilterFault {
  const { source } = circumstances;
  if (!(error instanceof ParseError || error instanceof CelTypeError || error instanceof EvaluationError)) {
    return {
      ok: false,
      message: `The filter cannot be read: ${messageOf(error)}`,
      offset: 0,
      length: source.length,
    };
  }
  const offset = Math.min(error.range?.start ?? 0, source.length);
  const length = Math.min(error.range?.end ?? offset, source.length) - offset;
  const written = source.slice(offset, offset + length);
  const at = (message: string): FilterFault => ({ ok: false, message, offset, length });
  const slip = slipAt(error, { offset, length }, circumstances);
  if (slip !== undefined) return { ok: false, ...slip };
  switch (error.code) {
    case "unknown_variable":
      return withReplacement(
        at(unknownVariable(written, circumstances)),
        closest(written, variables(circumstances)),
      );
    case "no_such_key": {
      const message = `An entry has no field "${written}"${didYouMean(written, Object.keys(entryFields)) || `; it has ${Object.keys(entryFields).join(", ")}.`}`;
      return withReplacement(at(message), closest(written, Object.keys(entryFields)));
    }
    case "no_matching_overload":
      return noMatchingCall(offset, length, circumstances) ?? at(sentence(error.summary));
    case "limit_exceeded":
      return at(tooMuch(error.summary));
    case "unexpected_token":
      return at(
        offset >= source.length ? "The filter ends where more is expected." : sentence(error.summary),
      );
    default:
      return at(noMatchingOperator(asWritten(error.summary)));
  }
}

/** Returns the mistake at this place if it is syntax of another language. */
function slipAt(
  error: ParseError | CelTypeError | EvaluationError,
  place: { readonly offset: number; readonly length: number },
  circumstances: Circumstances,
): Slip | undefined {
  if (error instanceof ParseError && error.code !== "limit_exceeded")
    return slipOfPattern(circumstances.source) ?? slipOfOperators(circumstances.source);
  if (error.code === "unknown_variable") return slipOfName(place, circumstances);
  if (error.code === "no_such_key") return slipOfMethod(place, circumstances, true);
  return undefined;
}

/** Returns a fault if a pattern of `matches` is not a literal, too long, or not valid in RE2. */
export function faultOfPatterns(source: string, root: ExpressionNode): FilterFault | undefined {
  for (const node of writtenNodes(root)) {
    const call = callOf(node);
    const pattern = call?.arguments[0];
    if (call?.name !== "matches" || call.receiver === undefined || pattern === undefined) continue;
    const message = faultOfPattern(pattern);
    if (message !== undefined) {
      const length = Math.min(pattern.end, source.length) - pattern.start;
      return { ok: false, message, offset: pattern.start, length };
    }
  }
  return undefined;
}

function faultOfPattern(pattern: ExpressionNode): string | undefined {
  if (pattern.op !== "value" || typeof pattern.args !== "string") {
    return "The pattern of matches() is written as a literal string, so that it can be checked now.";
  }
  if (pattern.args.length > filterLimits.patternLength) {
    return `The pattern has ${pattern.args.length} characters; at most ${filterLimits.patternLength} are allowed.`;
  }
  try {
    compilePattern(pattern.args);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return `The pattern cannot be used: ${error.message}.`;
    return `The pattern is not a regular expression of RE2's syntax: ${messageOf(error).replace(/^error parsing regexp: /, "")}.`;
  }
}

/** Returns a fault if a filter reads a field of `event` that the event's declaration does not have. */
export function faultOfMembers(circumstances: Circumstances): FilterFault | undefined {
  const { root, source, language } = circumstances;
  for (const node of root === undefined ? [] : writtenNodes(root)) {
    const member = memberOfEvent(node);
    if (member === undefined || Object.hasOwn(language.fields, member.name)) continue;
    const offset = source.indexOf(member.name, member.from);
    if (offset < 0) continue;
    const fault = {
      ok: false,
      message: unknownVariable(member.name, circumstances),
      offset,
      length: member.name.length,
    } as const;
    return withReplacement(fault, closest(member.name, variables(circumstances)));
  }
  return undefined;
}

/** Returns the name in `event.name` and `event["name"]`, and from where in the text to look for it. */
function memberOfEvent({
  op,
  args,
}: ExpressionNode): { readonly name: string; readonly from: number } | undefined {
  if ((op !== "." && op !== "[]") || !Array.isArray(args)) return undefined;
  const [receiver, key] = args as unknown as readonly [ExpressionNode, unknown];
  if (receiver.op !== "id" || receiver.args !== "event") return undefined;
  const name =
    op === "." ? key : (key as ExpressionNode).op === "value" ? (key as ExpressionNode).args : null;
  return typeof name === "string" ? { name, from: receiver.end } : undefined;
}

/** Reads the library's message "no such overload: int > string". */
function noMatchingOperator(summary: string): string {
  const types = /^no such overload: (.+)$/i.exec(summary)?.[1];
  return types === undefined
    ? sentence(summary)
    : `${types} is not possible; both sides have to be of fitting types, as in entry.size > 1000 or entry.name == "x".`;
}

/** Reads the library's message "Exceeded maxDepth (24)". */
function tooMuch(summary: string): string {
  const [, limit = "", value = ""] = /^Exceeded (\w+) \((\d+)\)$/.exec(summary) ?? [];
  switch (limit) {
    case "maxDepth":
      return `The filter is nested more than ${value} levels deep; take parentheses away, or make several hooks of it.`;
    case "maxAstNodes":
      return `The filter has more than ${value} parts; make several hooks of it.`;
    case "maxListElements":
    case "maxMapEntries":
    case "maxCallArguments":
      return `The filter lists more than ${value} things in one place; make several hooks of it.`;
    default:
      return sentence(summary);
  }
}

function noMatchingCall(
  offset: number,
  length: number,
  circumstances: Circumstances,
): FilterFault | undefined {
  const { root, source, language } = circumstances;
  const call = (root === undefined ? [] : writtenNodes(root))
    .filter((node) => node.start === offset && node.end === offset + length)
    .map(callOf)
    .find((candidate) => candidate !== undefined);
  if (call === undefined) return undefined;
  const name = asWritten(call.name);
  const nameStart = source.indexOf(name, call.receiver?.end ?? call.node.start);
  if (nameStart < 0) return undefined;
  const at = { ok: false, offset: nameStart, length: name.length } as const;
  const known = language.environment
    .getDefinitions()
    .functions.filter((definition) => (definition.receiverType !== null) === (call.receiver !== undefined));
  const signatures = known
    .filter((definition) => definition.name === call.name)
    .map(({ signature }) => signature);
  if (signatures.length > 0) {
    const allowed = [...new Set(signatures)].map((signature) => asWritten(signature));
    return {
      ...at,
      message: `${name}() does not take what it is given here; it is ${allowed.slice(0, 4).join(" or ")}.`,
    };
  }
  const slip = call.receiver === undefined ? slipOfMethod(at, circumstances, false) : undefined;
  if (slip !== undefined) return { ok: false, ...slip };
  return unknownCall(
    at,
    name,
    call,
    known.map((definition) => definition.name),
  );
}

function unknownCall(
  at: { readonly ok: false; readonly offset: number; readonly length: number },
  name: string,
  call: Call,
  known: readonly string[],
): FilterFault {
  const names = known.filter((candidate) => !isReplacement(candidate));
  const kind = call.receiver === undefined ? "function" : "method";
  return withReplacement(
    { ...at, message: `There is no ${kind} "${name}"${didYouMean(name, names) || "."}` },
    closest(name, names),
  );
}

function variables({ language }: Circumstances): string[] {
  return Object.keys(language.fields);
}

function unknownVariable(name: string, circumstances: Circumstances): string {
  const known = variables(circumstances);
  const hint = didYouMean(name, known) || `; it has ${known.join(", ")}.`;
  return `${circumstances.eventName} has no field "${name}"${hint}`;
}

function withReplacement(fault: FilterFault, replacement: string | undefined): FilterFault {
  if (replacement === undefined) return fault;
  const edits = [{ offset: fault.offset, length: fault.length, newText: replacement }];
  return { ...fault, fix: { title: `Write "${replacement}"`, edits } };
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
