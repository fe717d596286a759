import { expect, test } from "vitest";
import { anAsk } from "../testing/fake-kernel.ts";
import { aConversation, asks, begun, ChatWalk } from "./testing/chat-walk.ts";

const document = "/home/ada/.local/state/lares/workspaces/notes-1a2b/lares.yaml";
const by = (conversation: string) => ({
  on_behalf_of: [
    {
      kind: "process" as const,
      agent: "dev.lares.steward",
      conversation,
      process: "worker" as const,
      id: "w",
    },
  ],
});
const sentence = "A rule asks about every change.";

const withChange = (conversation: string, path: string): string =>
  begun(new ChatWalk({ columns: 100, rows: 60 }))
    .give({ kind: "workspace", ownDocument: document })
    .entries(asks("tidy"), { kind: "action", ref: "sea", state: "PendingApproval" })
    .action("sea", { ...by(conversation), asked_because: { sentence, place: { path, line: 11 } } })
    .screen.replaceAll(/[\s│]+/g, " ");

test("a card says that it comes from this conversation, and names another one", () => {
  expect(withChange(aConversation.id, document)).toContain("in this conversation.");
  expect(withChange(aConversation.id, document)).not.toContain(aConversation.id);
  expect(withChange("another", document)).toContain('in the conversation "another".');
});

test("a card names the document of a rule, but not the one that Lares wrote itself", () => {
  expect(withChange(aConversation.id, document)).toContain(sentence);
  expect(withChange(aConversation.id, document)).not.toContain("lares.yaml");
  expect(withChange(aConversation.id, "lares.yaml")).toContain(`${sentence} (lares.yaml:11)`);
});

test("a question about a call shows its arguments, and more of them when it is opened", () => {
  const given = { pad: "a".repeat(900), url: "https://evil.test/SECRET" };
  const walk = begun(new ChatWalk({ columns: 100, rows: 60 }));
  walk.give({ kind: "ask", ask: anAsk("q1", { facts: { arguments: given } }) });
  expect(walk.screen).toContain("The call's arguments:");
  expect(walk.screen).toContain("more characters are not shown.");
  expect(walk.screen).not.toContain("SECRET");
  walk.press("<tab><return>");
  expect(walk.screen).toContain("SECRET");
  expect(walk.screen).not.toContain("are not shown");
});

test("a question says that it comes from this conversation", () => {
  const walk = begun(new ChatWalk({ columns: 100, rows: 30 }));
  walk.give({ kind: "ask", ask: anAsk("q1", by(aConversation.id)) });
  expect(walk.screen).toContain("in this conversation.");
  expect(walk.screen).not.toContain(aConversation.id);
});
