import { isJsonObject } from "../base/json.ts";
import type { Action } from "../base/vocabulary/action.ts";
import type { InterceptedCall, MindPlace, ShownContext } from "../base/vocabulary/interception.ts";
import type { ModelToolResult } from "../base/vocabulary/model.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import { hiddenNameIn, type HearingIndex, mayIntercept } from "../policy/hearing.ts";
import { canonicalPath } from "../policy/paths.ts";
import { callsToolsOf, passesTo, reachedFrom } from "../policy/passing.ts";
import { isVisible, readsAllOf } from "../policy/scope.ts";

/** Characters of the messages in one event; a line to a guest has at most 1 MiB. */
const maxMessageCharacters = 250_000;

/**
 * The part of a mind's work that one agent may see. Names and contents of files that the agent cannot see are left out, and
 * so are all results of agents that may read more: a content need not name the file it came from. A model's own text is not
 * left out, since its origin cannot be known.
 */
export class Seen {
  readonly #authority: Authority;
  readonly #index: HearingIndex;
  readonly #all: readonly Authority[];
  readonly #place: SeenPlace;
  #sends: boolean | null = null;
  /** Whether something that an agent says may be told, by its id. */
  readonly #told = new Map<string, boolean>();

  /** `all`: the authorities of all agents that are enabled. `place`: where in a mind it happens. */
  constructor(authority: Authority, index: HearingIndex, all: readonly Authority[], place: SeenPlace) {
    this.#authority = authority;
    this.#index = index;
    this.#all = all;
    this.#place = place;
  }

  /** `changedBy`: interceptors that have changed the person's text. */
  input(text: string, changedBy: readonly string[]): Record<string, unknown> {
    const withheld =
      changedBy.length > 0 && (this.#sendsForeign() || changedBy.some((agent) => !this.#maySee(agent)));
    return { text: withheld ? "" : text, withheld };
  }

  /** Whatever a model writes may repeat what it has read. `by`: the interceptor that changed the person's message. */
  message(text: string, { by, origin }: { by: string | undefined; origin: string }): Record<string, unknown> {
    if (by !== undefined) return this.input(text, [by]);
    if (origin === "person") return this.input(text, []);
    const withheld = this.#place.holdsForeign && this.#sendsForeign();
    return { text: withheld ? "" : text, withheld };
  }

  call({ call, tool, arguments: args }: InterceptedCall): Record<string, unknown> {
    const withheld = (this.#place.holdsForeign && this.#sendsForeign()) || this.#hidesCall(tool, args);
    return { call, tool, arguments: withheld || !isJsonObject(args) ? {} : args, withheld };
  }

  /** `changedBy`: interceptors that have changed the result. */
  result(
    call: InterceptedCall,
    result: ToolResult,
    changedBy: readonly string[] = [],
  ): Record<string, unknown> {
    const seen = this.call(call);
    const isHidden =
      seen["withheld"] === true ||
      this.#sendsForeign() ||
      !this.#maySeeProducer(call.tool) ||
      changedBy.some((agent) => !this.#maySee(agent)) ||
      this.#hides(textsOf(result)) ||
      (call.tool.startsWith("files/") && this.#hides(quotedIn(wordsOf(result))));
    return {
      ...seen,
      withheld: isHidden,
      result: isHidden ? { status: result.status } : told(result),
    };
  }

  action({
    effects,
    on_behalf_of: _behalf,
    callers: _callers,
    sources: _sources,
    ...action
  }: Action): Record<string, unknown> {
    let left = maxMessageCharacters;
    const isSent = this.#sendsForeign();
    const seen = effects.map(({ diff, ...effect }) => {
      const isSeen =
        !isSent && this.#sees(effect.path) && (effect.from === undefined || this.#sees(effect.from));
      if (!isSeen) return { kind: effect.kind };
      left -= diff?.length ?? 0;
      return diff === undefined || left < 0 ? effect : { ...effect, diff };
    });
    const withheld = seen.some((effect) => !("path" in effect));
    // Both are written about the files.
    const words = withheld ? { title: "", reason: "" } : {};
    return { action: { ...action, ...words, effects: seen }, withheld };
  }

  context({ messages, begins, changed }: ShownContext): Record<string, unknown> {
    if (this.#place.holdsForeign && this.#sendsForeign()) return { messages: [], withheld: true };
    const calls = new Map<string, MadeCall>();
    const foreign = changed.filter(({ by }) => !this.#maySee(by));
    const changedCalls = new Set(foreign.flatMap(({ call }) => call ?? []));
    // A message does not say who made it.
    const areMessagesHidden = foreign.some(({ call }) => call === undefined);
    const hidesMind = !this.#maySee(this.#place.agent);
    let withheld = false;
    const hide = (isHidden: boolean): boolean => {
      withheld ||= isHidden;
      return isHidden;
    };
    const all = messages.map((message, at): unknown => {
      switch (message.role) {
        case "system":
          return { role: "system", text: hide(hidesMind) ? "" : message.text };
        case "user":
          return {
            role: "user",
            parts: message.parts.map((part) => {
              if (part.type === "image") return { type: "image", media_type: part.media_type };
              // A summary carries texts over from results.
              const isHidden =
                areMessagesHidden || (hidesMind && at < begins) || this.#hidesQuoted(part.text, calls);
              return { type: "text", text: hide(isHidden) ? "" : part.text };
            }),
          };
        case "assistant":
          return {
            role: "assistant",
            parts: message.parts.map((part) => {
              if (part.type !== "tool_call") return { type: part.type, text: part.text };
              const { call, tool, arguments: args } = part;
              const isHidden = hide(this.#hidesCall(tool, args));
              calls.set(call, {
                tool,
                isResultHidden: isHidden || changedCalls.has(call) || !this.#maySeeProducer(tool),
              });
              return { type: "tool_call", call, tool, arguments: isHidden ? {} : args };
            }),
          };
        case "tool":
          return {
            role: "tool",
            parts: message.parts.map((part) =>
              hide(this.#hidesResult(part, calls)) ? { ...part, text: "" } : part,
            ),
          };
      }
    });
    return { messages: newest(all), withheld };
  }

  #hidesCall(tool: string, args: unknown): boolean {
    if (tool.startsWith("files/") && isJsonObject(args))
      for (const key of ["path", "from", "to"]) {
        const path = args[key];
        if (typeof path === "string" && path !== "." && !this.#sees(path)) return true;
      }
    return this.#hides(args);
  }

  #hidesResult({ call, text }: ModelToolResult, calls: ReadonlyMap<string, MadeCall>): boolean {
    const made = calls.get(call);
    if (made === undefined || made.isResultHidden) return true;
    try {
      const value: unknown = JSON.parse(text);
      return this.#hides(value) || (made.tool.startsWith("files/") && this.#hides(quotedIn(noteIn(value))));
    } catch {
      // An error may name what a path may have meant.
      if (made.tool.startsWith("files/") && this.#hides(quotedIn(text))) return true;
      // A long list was cut: what is left of it cannot be read.
      return made.tool === "files/list" || made.tool === "files/search" || this.#hides(text);
    }
  }

  /** True for a text that quotes a file, or the late result of a call, which the agent may not see. */
  #hidesQuoted(text: string, calls: ReadonlyMap<string, MadeCall>): boolean {
    const file = quotedAfter("[the file ", text);
    if (file !== null) return !this.#sees(file);
    const late = quotedAfter("[late result of the call ", text);
    return late !== null && calls.get(late)?.isResultHidden !== false;
  }

  /** The kernel's own tools may answer with anything that the mind has read. Those for files are checked by path instead. */
  #maySeeProducer(tool: string): boolean {
    if (tool.startsWith("files/")) return true;
    return this.#maySee(tool.includes("/") ? tool.slice(0, tool.lastIndexOf("/")) : this.#place.agent);
  }

  /**
   * True if the agent, or one that it can pass texts to, reaches a host. Such an agent gets no text that neither the person
   * nor the model wrote, because it could leave the machine without a question.
   */
  #sendsForeign(): boolean {
    return (this.#sends ??= reachesHost(this.#authority, this.#all));
  }

  /**
   * An agent may tell what it, or one whose tools it calls, has read, now or earlier, and a mind what the agents that may
   * change its texts have read. An unknown one may tell anything.
   */
  #maySee(agent: string): boolean {
    if (agent === this.#authority.extension) return true;
    const known = this.#told.get(agent);
    if (known !== undefined) return known;
    const start = this.#all.find(({ extension }) => extension === agent);
    const told =
      start !== undefined &&
      reachedFrom(start, this.#all, isToldBy).every((one) => readsAllOf(this.#authority, one));
    this.#told.set(agent, told);
    return told;
  }

  #hides(value: unknown): boolean {
    return hiddenNameIn(this.#authority, value, this.#index) !== null;
  }

  #sees(path: string): boolean {
    const canonical = canonicalPath(path);
    return (
      canonical.ok && isVisible(this.#authority, canonical.path, "file") && !this.#index.hides(canonical.path)
    );
  }
}

export type SeenPlace = Pick<MindPlace, "agent" | "holdsForeign">;

interface MadeCall {
  readonly tool: string;
  readonly isResultHidden: boolean;
}

/** True if the first agent may get texts from the second: from its tools, or because it intercepts the first one's mind. */
function isToldBy(one: Authority, other: Authority): boolean {
  return callsToolsOf(one, other) || mayIntercept(other, one.extension);
}

function reachesHost(start: Authority, all: readonly Authority[]): boolean {
  const sends = ({ hosts = [] }: Authority): boolean => hosts.length > 0;
  return all.some(sends) && reachedFrom(start, all, passesTo).some(sends);
}

/** Returns what the kernel says about a result, in which names of files are quoted. */
function wordsOf(result: ToolResult): string {
  if (result.status === "error") return result.message;
  return result.status === "success" ? noteIn(result.value) : "";
}

function noteIn(value: unknown): string {
  const note = isJsonObject(value) ? value["note"] : undefined;
  return typeof note === "string" ? note : "";
}

/** Returns the texts between the quotation marks of a text, on either side of each: one may be missing. */
function quotedIn(text: string): string[] {
  return text.split(/(?<!\\)"/).map((part) => {
    try {
      return JSON.parse(`"${part}"`) as string;
    } catch {
      return part;
    }
  });
}

function textsOf(result: ToolResult): unknown {
  if (result.status === "success") return result.value;
  if (result.status === "error") return result.message;
  // The action's effects are about its files.
  return result.action.effects.map(({ path, from }) => ({
    path,
    ...(from === undefined ? {} : { path_from: from }),
  }));
}

/** Returns a result as an interceptor reads it: of an action that waits, what a model is told. */
function told(result: ToolResult): Record<string, unknown> {
  if (result.status !== "needs_approval") return { ...result };
  const { id, title } = result.action;
  return { status: result.status, action: { id, title }, reason: result.reason };
}

/** Returns the name that stands in quotation marks behind a heading's first words; null if the text has no such heading. */
function quotedAfter(words: string, text: string): string | null {
  if (!text.startsWith(words)) return null;
  const quoted = /^"(?:[^"\\]|\\.){0,2000}"/.exec(text.slice(words.length, words.length + 2_048))?.[0];
  // A heading that cannot be read names nothing that could be seen.
  return quoted === undefined ? "" : (JSON.parse(quoted) as string);
}

/** Returns the last messages that fit together into one question. */
function newest(messages: readonly unknown[]): unknown[] {
  let left = maxMessageCharacters;
  const first = messages.findLastIndex((message) => (left -= JSON.stringify(message).length) < 0);
  return messages.slice(first + 1);
}
