import { expect, test } from "vitest";
import type { Conversation, Entry, Process } from "../../base/vocabulary/conversation.ts";
import type { KernelConnection } from "../ports.ts";
import { FakeKernel, portsOf } from "../testing/fake-kernel.ts";
import { keepWritten } from "../testing/test-shell.ts";
import { Terminal } from "../terminal.ts";
import { Asking } from "./asking.ts";
import type { OpenedChat } from "./open.ts";
import { runInLines } from "./plain-commands.ts";
import type { SlashName } from "./state/slash.ts";
import {
  aConversation,
  anEntry,
  aProcess,
  asks,
  channel,
  says,
  type EntryFields,
} from "./testing/chat-walk.ts";

const written = keepWritten({ output: "", errors: "" });
/** How much later than an answer the entries of it arrive. */
const lateMs = 40;

/** A kernel with one conversation, whose entries arrive behind the answers to requests. */
class TalkingKernel {
  readonly entries: Entry[] = [];
  readonly requests: { readonly method: string; readonly params: object }[] = [];
  summaries = "";
  /** What a compaction comes to. */
  end: Partial<Process> | "taken up" = { state: "Done" };
  readonly #fake = new FakeKernel();

  add(...fields: readonly EntryFields[]): void {
    for (const each of fields) {
      const entry = anEntry(this.entries.length + 1, each);
      this.entries.push(entry);
      setTimeout(() => this.#fake.tell("lares/conversations/entry", { subscription: "s", entry }), lateMs);
    }
  }

  async chat(): Promise<OpenedChat> {
    const fake = await portsOf(this.#fake).connect({ folder: "/w" });
    const connection: KernelConnection = {
      ...fake,
      request: async (method, params) => {
        this.requests.push({ method, params });
        return (
          this.#answer(method, params as Record<string, unknown>) ?? (await fake.request(method, params))
        );
      },
    };
    return {
      connection,
      connect: async () => connection,
      conversation: this.#conversation,
      isNew: false,
      agents: [],
      rehearsal: null,
      again: "lares chat",
      place: "",
    };
  }

  get #conversation(): Conversation {
    return { ...aConversation, seq: this.entries.length };
  }

  #answer(method: string, params: Readonly<Record<string, unknown>>): object | undefined {
    switch (method) {
      case "lares/conversations/follow":
        for (const entry of this.entries)
          this.#fake.tell("lares/conversations/entry", { subscription: "s", entry });
        return { subscription: "s" };
      case "lares/conversations/get":
        return this.#conversation;
      case "lares/conversations/pin":
        this.add({ kind: "pin", entry: String(params["entry"]), pinned: params["pinned"] === true });
        return this.#conversation;
      case "lares/conversations/context":
        return {
          sections: [{ name: "summaries", tokens: 1, text: this.summaries }],
          model: "m",
          tokens: 1,
          limit: 8,
        };
      case "lares/conversations/compact":
        this.#compact();
        return this.#conversation;
      default:
        return undefined;
    }
  }

  #compact(): void {
    const { end } = this;
    if (end === "taken up") {
      this.summaries = "They talked.";
      return;
    }
    const state = (value: Partial<Process>): EntryFields =>
      aProcess("summary", { kind: "compaction", ...value });
    setTimeout(() => {
      this.add(state({ state: "Running" }));
      setTimeout(() => {
        this.add(state(end));
        if (end.state === "Done") setTimeout(() => (this.summaries = "They talked."), lateMs);
      }, lateMs);
    }, lateMs);
  }
}

async function lines(kernel: TalkingKernel, names: readonly SlashName[]): Promise<TalkingKernel> {
  kernel.add(channel("WaitingForInput"), asks("a"), says("b", { id: "answer" }));
  using terminal = new Terminal();
  const opened = await kernel.chat();
  await using asking = new Asking(terminal, opened, { remark: () => undefined });
  await asking.begin();
  for (const name of names) await runInLines(asking, opened, terminal, { name, rest: "" }, []);
  return kernel;
}

test("a command sees what the one before it did: /pin, /pin and /pin pin, let go and pin again", async () => {
  const { requests } = await lines(new TalkingKernel(), ["pin", "pin", "pin"]);
  const pins = requests.flatMap(({ method, params }) => (method.endsWith("/pin") ? [params] : []));
  expect(pins.map((params) => "pinned" in params && params.pinned)).toEqual([true, false, true]);
  expect(written.errors).toMatch(/stays in the context\.\n.*no longer pinned\.\n.*stays in the context\.\n$/);
});

test("/compact ends when the context begins with the summary", async () => {
  const kernel = await lines(new TalkingKernel(), ["compact"]);
  expect(written.errors).toBe("Earlier turns were summarised.\n");
  expect(kernel.summaries).not.toBe("");
});

test("/compact with a summary from before waits for nothing", async () => {
  const kernel = new TalkingKernel();
  kernel.end = "taken up";
  await lines(kernel, ["compact"]);
  expect(written.errors).toBe("Earlier turns were summarised.\n");
});

test.each<[Partial<Process>, string]>([
  [
    { state: "Failed", error: { code: "ModelError", message: "The key is wrong." } },
    "Earlier turns were not summarised. The key is wrong.",
  ],
  [{ state: "Cancelled" }, "Earlier turns were not summarised: it was stopped."],
])("/compact that ends with %j fails", async (end, message) => {
  const kernel = new TalkingKernel();
  kernel.end = end;
  await expect(lines(kernel, ["compact"])).rejects.toThrow(message);
});
