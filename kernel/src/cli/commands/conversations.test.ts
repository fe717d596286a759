import { expect, test } from "vitest";
import { LaresError } from "../../base/errors.ts";
import { aConversation } from "../chat/testing/chat-walk.ts";
import { testShell } from "../testing/test-shell.ts";

const shell = testShell();
const lares = (...argv: string[]): Promise<number> =>
  shell.lares(["conversations", shell.folder, "why", aConversation.id.slice(-8), ...argv]);

const answer = "01a2162a-6b76-708b-abc7-00006305ccc0";

function withConversation(why: unknown): void {
  shell.kernel.memories
    .set("lares/conversations/list", { items: [aConversation], total: 1 })
    .set("lares/conversations/entries", { items: [{ id: answer, seq: 1, kind: "request" }], total: 1 })
    .set("lares/conversations/blocks", { items: [] })
    .set("lares/conversations/why", why);
}

test("why says of a conversation without an answer that nothing was answered", async () => {
  withConversation(new LaresError("NotFound", 'There is no answer in the conversation "01a2".'));
  expect(await lares()).toBe(1);
  expect(shell.errors).toContain('error: Nothing was answered in "Photos of a trip" yet.');
});

test("why takes the end of an answer's id", async () => {
  withConversation({ entry: answer, model: "m", asked: "", blocks: [], memories: [], summaries: 0 });
  expect(await lares("--entry", "6305ccc0")).toBe(0);
  expect(shell.kernel.requests.find(({ method }) => method === "lares/conversations/why")?.params).toEqual({
    id: aConversation.id,
    entry: answer,
  });
  expect(await lares("--entry", "6305ccc1")).toBe(2);
  expect(shell.errors).toContain('No entry of this conversation has an id that ends in "6305ccc1"');
});
