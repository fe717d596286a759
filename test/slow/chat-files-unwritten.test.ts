import { describe, expect, test } from "vitest";
import type { Bench } from "../support/bench.ts";
import { CHAT_CAPABILITIES, ChatEditor } from "../support/chat-editor.ts";
import { useChats, benchWith, connected, run } from "../support/chats.ts";
import type { Client } from "../support/client.ts";
import { writingMind } from "../support/mind.ts";
import { until } from "../support/until.ts";

let bench: Bench;
let client: Client;
const { opened, conversations, newest, sentIn } = useChats((shared) => {
  ({ bench, client } = shared);
});

describe("an answer that the editor does not take", () => {
  test("is offered after a bounded number of attempts, and written when the person chooses that", async () => {
    const editor = opened("");
    editor.beforeEdit = () => false;
    editor.type("## You\n\nhello\n");
    await editor.choose("Lares: send to Steward");
    await until("the message", () =>
      editor.messages().some((message) => message.includes("because the editor refused the edit")),
    );
    expect(editor.edits.length).toBeLessThan(20);
    expect(editor.text).toBe("## You\n\nhello\n");
    await until("the diagnostic", () =>
      editor.diagnostics().some(({ code }) => code === "chat-answer-missing"),
    );
    expect(await editor.lensTitles()).toEqual(["Lares: write the missing answer below"]);
    expect(await editor.actionTitles()).toEqual(["Lares: write the missing answer below"]);
    editor.beforeEdit = () => true;
    await editor.choose("Lares: write the missing answer below");
    await editor.shows("## You\n\nhello\n\n## Steward\n\nHi there\n\n## You\n\n");
    await until("no diagnostic", () => editor.diagnostics().length === 0);
    expect(await editor.actionTitles()).toEqual([]);
  });

  test("comes with the answer to the next message", async () => {
    const editor = opened("");
    editor.beforeEdit = () => false;
    editor.type("## You\n\nhello\n");
    await editor.choose("Lares: send to Steward");
    await until("the end of the attempts", () => editor.diagnostics().length > 0);
    editor.beforeEdit = () => true;
    editor.add("\n## You\n\nagain\n");
    await editor.choose("Lares: send to Steward");
    await editor.shows(
      "## You\n\nhello\n\n## You\n\nagain\n\n## Steward\n\nHi there\n\nOnce more\n\n## You\n\n",
    );
  });

  test("is asked for again where the editor says that it applied the edit, and did not", async () => {
    const editor = opened("");
    editor.type("## You\n\nhello\n");
    const own = client.answer;
    let dropped = 0;
    client.answer = (request) => {
      if (request.method !== "workspace/applyEdit" || dropped++ > 0) return own(request);
      setImmediate(() => editor.add("typed\n"));
      return { applied: true };
    };
    await editor.choose("Lares: send to Steward");
    await editor.shows("## You\n\nhello\n\n## Steward\n\nHi there\n\n## You\n\ntyped\n");
  });

  test("is shown as a message to a client without edits and lenses, and written by the edit of a code action", async () => {
    const plain = await connected(bench, {
      capabilities: { textDocument: { codeAction: CHAT_CAPABILITIES.textDocument.codeAction } },
    });
    const editor = opened("", plain);
    editor.type("## You\n\nhello\n");
    await run(editor, "lares.chat.send");
    await until("both messages", () => editor.messages().length >= 2);
    expect(editor.messages()).toEqual([
      "Lares: your message is with Steward.",
      expect.stringMatching(/^Lares: Steward answered\. [^]*## Steward\n\nHi there$/),
    ]);
    expect(editor.edits).toEqual([]);
    await editor.choose("Lares: write the missing answer below", "action");
    expect(editor.text).toBe("## You\n\nhello\n\n## Steward\n\nHi there\n\n## You\n\n");
    await until("nothing to be missing", async () => (await editor.actionTitles()).length === 0);
    await plain.shutdown();
  });
});

test("a kernel that is killed in mid-answer: the next one answers, and the session is offered the answer", async () => {
  await using own = await benchWith(writingMind({ name: "Steward" }));
  const at = await connected(own);
  const editor = new ChatEditor(own, at, "talk.chat.md");
  editor.type("## You\n\nsoon\n");
  await editor.choose("Lares: send to Steward");
  await until("the request", async () => (await newest(at)).processes[0]?.state === "Running");
  const { pid } = await own.status(at);
  await own.kill(pid);
  editor.add("\n## You\n\nhello\n");
  await editor.choose("Lares: write the missing answer below");
  await editor.shows("## You\n\nsoon\n\n## Steward\n\nHere it is\n\n## You\n\nhello\n");
  // Text that the person typed while there was no kernel is theirs.
  await editor.choose("Lares: send to Steward");
  await editor.shows(/hello\n\n## Steward\n\nHi there\n\n## You\n\n$/);
  expect(await conversations(at)).toHaveLength(1);
  expect(await sentIn((await newest(at)).id, at)).toEqual(["soon", "hello"]);
});

describe("a kernel that is killed while the editor inserts its answer", () => {
  const answered = "## You\n\nhello\n\n## Steward\n\nHi there\n\n## You\n\n";

  async function killedAtTheEdit(isApplied: boolean) {
    const own = await benchWith(writingMind({ name: "Steward" }));
    const at = await connected(own);
    const editor = new ChatEditor(own, at, "talk.chat.md");
    const { pid } = await own.status(at);
    editor.beforeEdit = () => {
      editor.beforeEdit = () => true;
      process.kill(pid, "SIGKILL");
      return isApplied;
    };
    editor.type("## You\n\nhello\n");
    // The kernel may be gone before it has answered the command.
    await editor.choose("Lares: send to Steward").catch(() => null);
    await until("the edit", () => editor.edits.length > 0);
    await until("the next kernel", async () => (await own.status(at)).pid !== pid);
    return { own, at, editor };
  }

  test("has written it: it is not offered again, and what the person writes below is sent", async () => {
    const { own, at, editor } = await killedAtTheEdit(true);
    await using _own = own;
    expect(editor.text).toBe(answered);
    await until(
      "nothing to be missing",
      async () => !(await editor.actionTitles()).some((title) => /missing/.test(title)),
    );
    editor.type(`${answered}again\n`);
    await editor.choose("Lares: send to Steward");
    await editor.shows(`${answered}again\n\n## Steward\n\nOnce more\n\n## You\n\n`);
    expect(await sentIn((await newest(at)).id, at)).toEqual(["hello", "again"]);
    expect(await conversations(at)).toHaveLength(1);
  });

  test("has written it, and the person edited it meanwhile: their text stays, and is not sent", async () => {
    const { own, at, editor } = await killedAtTheEdit(true);
    await using _own = own;
    const edited = answered.replace("Hi there\n", "Hi there\n\nA note of mine.\n");
    editor.type(`${edited}again\n`);
    await until(
      "nothing to be missing",
      async () => !(await editor.actionTitles()).some((title) => /missing/.test(title)),
    );
    await editor.choose("Lares: send to Steward");
    await editor.shows(`${edited}again\n\n## Steward\n\nOnce more\n\n## You\n\n`);
    expect(await sentIn((await newest(at)).id, at)).toEqual(["hello", "again"]);
  });

  test("has not: it is offered once, and written once, where it belongs", async () => {
    const { own, at, editor } = await killedAtTheEdit(false);
    await using _own = own;
    editor.add("\n## You\n\nlater\n");
    await editor.choose("Lares: write the missing answer below");
    await editor.shows("## You\n\nhello\n\n## Steward\n\nHi there\n\n## You\n\nlater\n");
    expect(await editor.actionTitles()).not.toContainEqual(expect.stringMatching(/missing/));
    expect(await sentIn((await newest(at)).id, at)).toEqual(["hello"]);
  });
});
