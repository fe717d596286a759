import { describe, expect, it } from "vitest";
import { conversation, entry, said } from "../testing/conversations.ts";
import { fakeContext } from "../testing/context.ts";
import { agent } from "../testing/things.ts";
import { chat } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";
import { chatParticipant, conversationIn } from "./chat-participant.ts";

/** A chat's answer that is being written. */
function stream() {
  const written: string[] = [];
  const buttons: string[] = [];
  return {
    written,
    buttons,
    markdown: (value: string | { value: string }) =>
      void written.push(typeof value === "string" ? value : value.value),
    button: ({ command }: { command: string }) => void buttons.push(command),
    progress: () => undefined,
    reference: () => undefined,
  };
}
const channel = (seq: number, state: string) =>
  entry(seq, {
    kind: "process",
    value: { id: "channel", kind: "channel", state: state as "Running", started: "" },
  });
const token = { onCancellationRequested: () => ({ dispose: () => undefined }) };

function start(isMind = true) {
  const fake = fakeContext({
    "lares/conversations/entries": () => {
      if (isMind) return { items: [], total: 0 };
      throw Object.assign(new Error("no"), { data: { code: "NotFound" } });
    },
    "lares/conversations/open": () => conversation(),
    "lares/conversations/get": () => conversation(),
    "lares/conversations/follow": () => ({ subscription: "s1", seq: 1 }),
    "lares/conversations/unfollow": () => null,
    "lares/conversations/send": () => ({ entry: "e2" }),
  });
  fake.agents = [agent()];
  chatParticipant(fake.context);
  const respond = (history: readonly unknown[], to: ReturnType<typeof stream>) =>
    chat.participants.get("lares.chat")?.(
      { prompt: "Hello", references: [] } as never,
      { history } as never,
      to as never,
      token as never,
    );
  return { fake, respond };
}

describe("@lares", () => {
  it("answers a turn of the chat with a turn of a conversation, and names the conversation", async () => {
    const { fake, respond } = start();
    const to = stream();
    const answered = respond([], to);
    await settled();
    await settled();
    const tell = (one: ReturnType<typeof said>): void =>
      fake.tell("lares/conversations/entry", { subscription: "s1", entry: one });
    tell(said(2, "Hello", "user"));
    tell(channel(3, "Running"));
    fake.tell("lares/conversations/delta", {
      subscription: "s1",
      process: "channel",
      message: "e4",
      part: 0,
      type: "text",
      text: "[x](command:y) ",
    });
    tell({ ...said(4, "[x](command:y) done"), id: "e4" });
    tell(entry(5, { kind: "action", ref: "a1", state: "PendingApproval" }));
    // Decided in the conversation: its question was shown.
    tell(entry(6, { kind: "action", ref: "a1", state: "Committed", origin: "person" }));
    tell(entry(7, { kind: "action", ref: "a2", state: "Committed", origin: "kernel" }));
    tell(channel(8, "WaitingForInput"));
    fake.tell("lares/conversations/changed", conversation({ seq: 8 }));
    expect(await answered).toEqual({ metadata: { conversation: "c1" } });
    expect(to.written.join("")).not.toContain("[x](command:y)");
    expect(to.written.join("")).toContain("done");
    expect(to.written.join("").match(/made without asking/g)).toHaveLength(1);
    const shown = ["lares.showChanges", "lares.review"];
    expect(to.buttons).toEqual([...shown, ...shown, "lares.openConversation"]);
  });

  it("continues the conversation that an earlier answer named", () => {
    const history = [{ prompt: "a" }, { result: { metadata: { conversation: "c7" } } }, { prompt: "b" }];
    expect(conversationIn({ history } as never)).toBe("c7");
    expect(conversationIn({ history: [{ result: {} }] } as never)).toBeUndefined();
  });

  it("says how to add the steward where no agent has a mind", async () => {
    const { respond } = start(false);
    const to = stream();
    expect(await respond([], to)).toEqual({});
    expect(to.written.join("")).toContain("dev.lares.steward");
  });
});
