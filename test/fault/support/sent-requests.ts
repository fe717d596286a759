import { expect } from "vitest";

/** A request as the provider reads it. */
export interface Sent {
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content?: string | readonly unknown[] | null;
    readonly tool_calls?: readonly { readonly id: string }[];
    readonly tool_call_id?: string;
  }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

type Message = Sent["messages"][number];

const isSummary = (message: Message | undefined): boolean =>
  message?.role === "user" && JSON.stringify(message.content).includes("summary of the entries");

/**
 * Checks every request that arrives at the provider. Each conversation has a model of its own, so the requests of its
 * channel are known by that: each begins with the tools and messages of the one before it, except where a summary begins them.
 */
export class SentRequests {
  /** Faults of the requests that arrived. */
  readonly wrong: string[] = [];
  /** How often the channel's requests with a model began with another summary than before. */
  readonly begunAgain = new Map<string, number>();
  readonly #last = new Map<string, readonly string[]>();

  take(sent: Sent): void {
    const { model, messages, tools = [] } = sent;
    this.wrong.push(...faultsOf(messages).map((fault) => `${model}: ${fault}`));
    if (!tools.some(({ function: { name } }) => name === "schedule")) return;
    const texts = [tools, ...withoutSuffix(messages)].map((part) => JSON.stringify(part));
    const last = this.#last.get(model);
    this.#last.set(model, texts);
    if (last === undefined || last.every((text, index) => text === texts[index])) return;
    this.begunAgain.set(model, (this.begunAgain.get(model) ?? 0) + 1);
    if (isSummary(messages[1]) && texts[2] !== last[2]) return;
    const at = last.findIndex((text, index) => text !== texts[index]);
    this.wrong.push(`${model}: part ${at} was ${last[at]} and is ${texts[at]}, without a new summary`);
  }

  check(): void {
    expect(this.wrong.splice(0)).toEqual([]);
  }
}

/** The suffix is never cached. It comes last, and providers may get it in one message with what was said before it. */
function withoutSuffix(messages: readonly Message[]): readonly Message[] {
  return messages.slice(0, messages.findLastIndex(({ role }) => role !== "user" && role !== "system") + 1);
}

/** Returns what a provider refuses in the messages. */
function faultsOf(messages: readonly Message[]): string[] {
  const faults: string[] = [];
  let open = new Set<string>();
  for (const [
    index,
    { role, content, tool_calls: calls = [], tool_call_id: of = "" },
  ] of messages.entries()) {
    if (role === "tool") {
      if (!open.delete(of))
        faults.push(`message ${index} is the result of ${of}, which was not called before it`);
    } else if (open.size > 0) {
      faults.push(`message ${index} comes before the results of ${[...open].join(", ")}`);
      open = new Set();
    }
    const isEmpty = content === undefined || content === null || content === "" || content.length === 0;
    if (isEmpty && calls.length === 0 && role !== "tool") faults.push(`message ${index} is empty`);
    if (role !== "assistant") continue;
    open = new Set(calls.map(({ id }) => id));
    if (open.size < calls.length) faults.push(`message ${index} has two calls of one id`);
  }
  if (open.size > 0) faults.push(`the results of ${[...open].join(", ")} are missing`);
  if (!messages.some(({ role }) => role === "user")) faults.push("no message is a user's");
  return faults;
}
