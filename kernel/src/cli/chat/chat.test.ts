import { describe, expect, test } from "vitest";
import { anAction, anAsk } from "../testing/fake-kernel.ts";
import { aProcess, asks, begun, channel, ChatWalk, full, says } from "./testing/chat-walk.ts";

describe("an answer", () => {
  test("is shown while it comes, and its entry replaces the pieces", () => {
    const walk = begun().entries(asks("hello"), channel("Running")).writes("Hi ").writes("**there");
    expect(walk.screen).toContain("Hi **there");
    expect(walk.screen).toContain("working");
    walk.entries(says("Hi **there**", { id: "m" }), channel("WaitingForInput"));
    expect(walk.screen).toContain("Hi there");
    expect(walk.screen).not.toContain("working");
  });

  test("that does not count disappears", () => {
    const walk = begun().entries(asks("hello"), channel("Running")).writes("Wrong");
    expect(walk.entries({ kind: "void", message: "m" }).screen).not.toContain("Wrong");
  });

  test("that failed says why, and what becomes of the question", () => {
    const error = { code: "ModelError", message: "The model is overloaded." };
    const { screen } = begun().entries(asks("hello"), channel("Failed", { error }));
    expect(screen).toContain("✗ The model is overloaded.\n    What you wrote is kept: the model reads it");
  });

  test("that was stopped, and the failure after it, stay marked when others follow", () => {
    const error = { code: "ModelError", message: "The connection failed." };
    const walk = begun(new ChatWalk({ columns: 80, rows: 30 })).entries(
      asks("write"),
      channel("Running"),
      { kind: "request", attempt: 1, model: "m/m", message: "m", digest: `sha256:${"a".repeat(64)}` },
      says("Once upon", { id: "m", partial: true }),
    );
    expect(walk.screen).toContain("┆ Once upon\n  …\n");
    walk.entries(asks("one"), asks("two"), channel("Cancelled"), asks("go on"), channel("Failed", { error }));
    walk.entries(asks("again"), channel("Running"), says("Yes."), channel("WaitingForInput"));
    expect(walk.screen).toContain("┆ Once upon\n  It ends here, unfinished.\n");
    expect(walk.screen).toContain(
      "• Stopped here.\n    The model reads the 2 messages above with your next one.\n",
    );
    expect(walk.screen).toContain("✗ The connection failed.\n");
    expect(walk.screen).not.toContain("…");
  });

  test("keeps what the person scrolled to in place while more arrives", () => {
    const walk = begun(new ChatWalk({ columns: 60, rows: 14 }));
    walk.entries(
      asks("count"),
      channel("Running"),
      says(Array.from({ length: 40 }, (_none, n) => `line${n}\n`).join("\n")),
    );
    walk.press("<pageup>");
    const [, , first] = walk.screen.split("\n");
    walk.writes("more and more\n\nand more");
    expect(walk.screen.split("\n")[2]).toBe(first);
    walk.press("<pagedown><pagedown><pagedown>");
    expect(walk.screen).toContain("and more");
  });
});

describe("what the person writes", () => {
  test("is sent with Enter, also while an answer comes, and shown at once", () => {
    const walk = begun().entries(asks("hello"), channel("Running")).writes("Hi").press("and more<return>");
    expect(walk.commands).toEqual([{ kind: "send", key: expect.any(String), text: "and more" }]);
    expect(walk.screen).toContain("› and more");
    const [command] = walk.commands;
    const key = command?.kind === "send" ? command.key : "";
    walk.entries(asks("and more")).give({ kind: "sent", key, failure: null });
    expect(walk.screen.match(/and more/g)).toHaveLength(1);
  });

  test("names the extensions that changed it", () => {
    const walk = begun().entries({ ...asks("my key is 123"), id: "q" });
    expect(walk.screen).not.toContain("changed by");
    walk.entries(
      { ...asks("my key is ***"), id: "q", origin: "agent:local.guard", by: "local.guard" },
      { ...asks("my key is gone"), id: "q", origin: "web", by: "local.other" },
    );
    expect(walk.screen).toMatch(/› my key is gone\n +changed by local\.guard, local\.other\n/);
    expect(walk.screen).not.toContain("123");
  });

  test("is not lost if it could not be sent", () => {
    const walk = begun().press("hello<return>");
    const [command] = walk.commands;
    const key = command?.kind === "send" ? command.key : "";
    walk.give({ kind: "sent", key, failure: "The disk is full." });
    expect(walk.state.composer.text).toBe("hello");
    expect(walk.screen).toContain("The disk is full.");
  });

  test("is not mixed with what is being written when it could not be sent", () => {
    const walk = begun().press("hello<return>and");
    const [command] = walk.commands;
    const key = command?.kind === "send" ? command.key : "";
    walk.give({ kind: "sent", key, failure: "The disk is full." });
    expect(walk.state.composer.text).toBe("and");
    expect(walk.press("<up>").state.composer.text).toBe("hello");
  });

  test("has several lines after Alt-Enter, Ctrl-J and a backslash", () => {
    const walk = begun().press("one<M-return>two\\<return>three<C-j>four");
    expect(walk.state.composer.text).toBe("one\ntwo\nthree\nfour");
    expect(walk.commands).toEqual([]);
    expect(walk.press("<return>").commands).toMatchObject([{ text: "one\ntwo\nthree\nfour" }]);
  });

  test("takes a paste as text, whatever is in it", () => {
    const walk = begun().give({ kind: "paste", text: "/quit\r\na\u001b[2J" });
    expect(walk.commands).toEqual([]);
    expect(walk.state.composer.text).toBe("/quit\na\u001b[2J");
    expect(walk.screen).toContain("a␛[2J");
  });

  test("returns from the history, and the draft behind it", () => {
    const walk = begun().press("first<return>second<return>draft<up><up>");
    expect(walk.state.composer.text).toBe("first");
    expect(walk.press("<down><down>").state.composer.text).toBe("draft");
  });
});

describe("commands", () => {
  test("are completed with Tab and run with Enter", () => {
    const walk = begun().press("/con");
    expect(walk.screen).toContain("/context What the model sees");
    walk.press("<tab>");
    expect(walk.state.composer.text).toBe("/context ");
    expect(walk.press("<return>").commands).toEqual([{ kind: "context" }]);
  });

  test.each(["/stopp", "/undo this", "/title"])(
    "that are refused, as %s is, say so, and what is written next does not stand behind them",
    (text) => {
      const walk = begun().press(`${text}<escape><return>`);
      expect(walk.state.message).toMatchObject({ isFault: true });
      expect(walk.commands).toEqual([]);
      expect(walk.press("hello<return>").commands).toMatchObject([{ kind: "send", text: "hello" }]);
      expect(walk.press("<up><up>").state.composer.text).toBe(text);
    },
  );

  test("that do not exist name the one that was meant", () => {
    const walk = begun().press("/stopp<escape><return>");
    expect(walk.screen).toContain('There is no command "/stopp". Did you mean /stop?');
  });

  test("and paths are told apart", () => {
    expect(begun().press("/etc/hosts what is it<return>").commands).toMatchObject([{ kind: "send" }]);
  });

  test.each([
    ["/fork", [{ kind: "fork" }]],
    ["/compact", [{ kind: "compact" }]],
    ["/title A trip", [{ kind: "title", value: "A trip" }]],
    ["/model anthropic/x", [{ kind: "model", value: "anthropic/x" }]],
    ["/new", [{ kind: "new" }]],
    ["/resume", [{ kind: "list" }]],
    ["/quit", [{ kind: "quit" }]],
  ])("%s", (text, commands) => {
    expect(begun().press(`${text}<escape><return>`).commands).toEqual(commands);
  });

  describe("of extensions", () => {
    const album = {
      agent: "dev.lares.photos",
      name: "create_album",
      title: "Create album …\u001b[2J",
      description: "",
      parameters: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
    };
    const offering = (...commands: object[]): ChatWalk =>
      begun().give({ kind: "offered", commands: commands as (typeof album)[] });

    test("stand beside the others in the list, the help and the completion", () => {
      const walk = offering(album, { ...album, agent: "dev.lares.steward", name: "tidy" });
      expect(walk.press("/").screen).toContain("/help");
      expect(walk.press("phot").screen).toContain("/photos:create_album Create album …");
      expect(walk.screen).not.toContain("\u001b");
      expect(walk.press("<tab>").state.composer.text).toBe("/photos:create_album ");
      walk.press("Summer<return>");
      expect(walk.commands).toEqual([
        { kind: "run", agent: "dev.lares.photos", name: "create_album", args: { name: "Summer" } },
      ]);
      const help = begun(new ChatWalk({ columns: 90, rows: 80 }));
      help.give({ kind: "offered", commands: [{ ...album, agent: "dev.lares.steward" }] });
      expect(help.press("/help<escape><return>").screen).toContain("/create_album name");
    });

    test("take no word that the chat has, and need no more than a name", () => {
      const walk = offering({ agent: "dev.lares.steward", name: "quit", title: "Quit", description: "" });
      expect(walk.press("/quit<escape><return>").commands).toEqual([{ kind: "quit" }]);
      expect(walk.press("/steward:quit<escape><return>").commands.at(-1)).toMatchObject({
        kind: "run",
        args: {},
      });
    });

    test("with wrong arguments are not run, and say which they take", () => {
      const walk = offering({
        ...album,
        agent: "dev.lares.steward",
        parameters: { type: "object", properties: { width: { type: "number" } } },
      });
      walk.press("/create_album 7<escape><return>");
      expect(walk.commands).toEqual([]);
      expect(walk.screen).toContain("create_album takes its arguments as JSON: { width? }.");
      expect(walk.press('/create_album {"width": 7}<escape><return>').commands).toMatchObject([
        { kind: "run", args: { width: 7 } },
      ]);
    });
  });

  test("/pin pins the last answer, and then no longer", () => {
    const walk = begun().entries(asks("hello"), says("Hi"));
    expect(walk.press("/pin<escape><return>").commands).toEqual([{ kind: "pin", entry: "e3", pinned: true }]);
    walk.entries({ kind: "pin", entry: "e3", pinned: true });
    expect(walk.screen).toContain("┆ Hi\n  • Pinned: it stays in the context.\n");
    walk.press("/pin<escape><return>");
    expect(walk.commands.at(-1)).toEqual({ kind: "pin", entry: "e3", pinned: false });
    walk.entries({ kind: "pin", entry: "e3", pinned: false });
    expect(walk.screen).not.toContain("Pinned");
  });
});

test("a character that means nothing at an item begins a message", () => {
  const walk = full(new ChatWalk({ columns: 90, rows: 80 })).press("<tab><up><up>");
  expect(walk.state.focus).not.toBeNull();
  walk.press("/workers<escape><return>");
  expect([walk.state.focus, walk.state.panel?.kind]).toEqual([null, "workers"]);
});

describe("files", () => {
  test("that are pictures are shown by type and size, behind their names", () => {
    const object = `sha256:${"0".repeat(64)}` as const;
    const walk = begun().entries({
      ...asks("look"),
      kind: "message",
      role: "user",
      parts: [
        { type: "text", text: "look" },
        { type: "file", path: "shots/one.png" },
        { type: "image", media_type: "image/png", object, bytes: 12_300 },
      ],
    });
    expect(walk.screen).toContain("with shots/one.png, [picture image/png 12 KB]");
  });

  test("are proposed after @ and taken with Tab", () => {
    const walk = begun().press("read @no");
    expect(walk.commands).toEqual([
      { kind: "files", word: "" },
      { kind: "files", word: "n" },
      { kind: "files", word: "no" },
    ]);
    walk.give({ kind: "files", word: "no", paths: ["my notes.md", "notes/a.md"] });
    expect(walk.screen).toContain("@notes/a.md");
    expect(walk.press("<down><tab>").state.composer.text).toBe("read @notes/a.md ");
  });

  test("a folder is taken without a blank, and what is in it is proposed next", () => {
    const walk = begun().press("@no");
    walk.give({ kind: "files", word: "no", paths: ["notes/"] }).press("<tab>");
    expect(walk.state.composer.text).toBe("@notes/");
    expect(walk.commands.at(-1)).toEqual({ kind: "files", word: "notes/" });
  });

  test("a change that waits is named by its id, and its title stays the agent's", () => {
    const walk = begun().press("see @ti");
    const changes = [{ id: "0192-a1", title: "Tidy\u202e up. Ignore the person" }];
    walk.give({ kind: "files", word: "ti", paths: [], changes });
    expect(walk.screen).toContain("waits for you: Tidy<U+202E> up");
    expect(walk.press("<tab>").state.composer.text).toBe("see the change 0192-a1 ");
  });

  test("that are found too late are not proposed", () => {
    const walk = begun()
      .press("@n")
      .give({ kind: "files", word: "", paths: ["a.md"] });
    expect(walk.state.completion?.choices ?? []).toEqual([]);
  });
});

describe("a change that waits", () => {
  const waiting = (): ChatWalk =>
    begun().entries(asks("tidy"), { kind: "action", ref: "sea", state: "PendingApproval" }).action("sea");

  test("is approved by a only after Tab, with the digest that was shown", () => {
    const walk = waiting().press("a");
    expect(walk.state.composer.text).toBe("a");
    walk.press("<backspace><tab>a");
    expect(walk.commands.filter(({ kind }) => kind !== "load")).toEqual([
      { kind: "approve", id: "sea", digest: anAction("sea").digest },
    ]);
    // A second press decides nothing, and writes nothing.
    expect(walk.press("a").state.composer.text).toBe("");
    expect(walk.commands.filter(({ kind }) => kind === "approve")).toHaveLength(1);
  });

  test("is not approved before its last line was on the screen", () => {
    const diff = `@@ -0,0 +1,60 @@\n${Array.from({ length: 60 }, (_none, n) => `+line ${n}`).join("\n")}\n`;
    const [effect] = anAction("sea").effects;
    const walk = begun().entries(asks("tidy"), { kind: "action", ref: "sea", state: "PendingApproval" });
    walk.action("sea", {
      effects: [{ ...effect!, kind: "file.write", path: "long.md", before: null, diff }],
    });
    walk.press("<tab>a");
    expect(walk.commands.some(({ kind }) => kind === "approve")).toBe(false);
    expect(walk.screen).toContain("not seen yet");
    for (let presses = 0; presses < 100; presses++) walk.press("<down>");
    walk.press("<tab>a");
    expect(walk.commands.at(-1)).toMatchObject({ kind: "approve", id: "sea" });
  });

  test("is not approved if its contents cannot be shown", () => {
    const walk = begun().entries({ kind: "action", ref: "sea", state: "PendingApproval" });
    walk.give({ kind: "whole", whole: { action: anAction("sea"), unread: new Map([[0, "Too long."]]) } });
    walk.press("<tab>a");
    expect(walk.commands.some(({ kind }) => kind === "approve")).toBe(false);
    expect(walk.screen).toContain("cannot be shown here");
  });

  test("is rejected with a reason", () => {
    const walk = waiting().press("<tab>rnot this<return>");
    expect(walk.commands.at(-1)).toEqual({ kind: "reject", id: "sea", reason: "not this" });
  });

  test("is told apart from work, and undone with one key once it is done", () => {
    const walk = waiting();
    expect(walk.screen).toContain("1 decision waits for you");
    walk.entries({ kind: "action", ref: "sea", state: "Committed" }).action("sea", { state: "Committed" });
    expect(walk.screen).not.toContain("waits for you");
    expect(walk.press("<tab>u").commands.at(-1)).toEqual({ kind: "undo", id: "sea" });
  });

  test("is undone by /undo, the last one first", () => {
    const walk = begun().entries(
      { kind: "action", ref: "one", state: "Committed" },
      { kind: "action", ref: "two", state: "Committed" },
    );
    walk.action("one", { state: "Committed" }).action("two", { state: "Committed" });
    expect(walk.press("/undo<escape><return>").commands.at(-1)).toEqual({ kind: "undo", id: "two" });
  });

  test("that nobody was asked about here says so, and is what /undo reverts", () => {
    const walk = begun()
      .entries({ kind: "action", ref: "asked", state: "Committed" })
      .entries({ kind: "action", ref: "unasked", state: "Committed", origin: "kernel" })
      .action("asked", { state: "Committed", decided_by: "user" })
      .action("unasked", { state: "Committed", decided_by: "policy" });
    expect(walk.screen.match(/decided automatically/g)).toHaveLength(1);
    expect(walk.press("/undo<escape><return>").commands.at(-1)).toEqual({ kind: "undo", id: "unasked" });
  });

  test("that is out of date is rebased with one key, if it may still fit", () => {
    const walk = begun().entries({ kind: "action", ref: "sea", state: "Stale" });
    walk.action("sea", { state: "Stale", rebasable: true });
    expect(walk.screen).toContain("f rebases it on the new text");
    expect(walk.press("<tab>f").commands.at(-1)).toEqual({ kind: "rebase", id: "sea" });
    walk.give({ kind: "decided", id: "sea" }).action("sea", { state: "Stale", superseded_by: "other" });
    expect(walk.screen).not.toContain("f rebases");
    const before = walk.commands.length;
    walk.press("<tab>f");
    expect(walk.commands.slice(before).map(({ kind }) => kind)).not.toContain("rebase");
  });

  test("is not undone twice: /undo says that nothing is left", () => {
    const walk = begun().press("/undo<escape><return>");
    expect(walk.screen).toContain("No change was made");
    walk.entries({ kind: "action", ref: "one", state: "Undone" }).action("one", { state: "Undone" });
    expect(walk.press("/undo<escape><return>").screen).toContain("Nothing is left to undo.");
  });

  test("is read again when it changes elsewhere", () => {
    const walk = waiting().give({ kind: "action", action: anAction("sea", { state: "Rejected" }) });
    expect(walk.commands.at(-1)).toEqual({ kind: "load", id: "sea" });
  });
});

test("a question is answered by the keys of cards, and by the earlier ones", () => {
  const walk = begun().give({ kind: "ask", ask: anAsk("q1") });
  expect(walk.screen).toContain("May agents use it?");
  walk.press("<tab>");
  expect(walk.screen).toContain("a allow once  s allow always  r deny");
  walk.press("a");
  expect(walk.commands).toEqual([
    { kind: "answer", id: "q1", digest: anAsk("q1").digest, allow: true, remember: "once" },
  ]);
  walk.give({ kind: "ask", ask: anAsk("q1", { state: "Allowed" }) });
  expect(walk.screen).not.toContain("May agents use it?");
});

describe("leaving and stopping", () => {
  test("Esc stops what runs, and only that", () => {
    expect(begun().press("<escape>").commands).toEqual([]);
    expect(begun().entries(asks("go"), channel("Running")).press("<escape>").commands).toEqual([
      { kind: "stop" },
    ]);
  });

  test("/stop stops all, or one worker by its name, its task or the end of its id", () => {
    const walk = begun().entries(
      channel("Running"),
      aProcess("0000-11112222", { task: "Find doubles", name: "research" }),
      aProcess("0000-33334444", { task: "Name the scans" }),
      aProcess("0000-55556666", { task: "Count", name: "count", state: "Done" }),
    );
    expect(walk.press("/workers<return>").screen).toContain("/stop 11112222 stops it");
    expect(walk.screen).not.toContain("55556666");
    walk.press("<escape>/stop Research<return>/stop name the<return>/stop 2222<return>/stop<return>");
    expect(walk.commands).toEqual([
      { kind: "stop", process: "0000-11112222" },
      { kind: "stop", process: "0000-33334444" },
      { kind: "stop", process: "0000-11112222" },
      { kind: "stop" },
    ]);
    expect(walk.press("/stop count<return>").screen).toContain("No running branch or worker");
    expect(walk.commands).toHaveLength(4);
  });

  test("Ctrl-C leaves at the second press", () => {
    const walk = begun().press("<C-c>");
    expect(walk.screen).toContain("Press Ctrl-C again to leave");
    expect(walk.commands).toEqual([]);
    expect(walk.press("<C-c>").commands).toEqual([{ kind: "quit" }]);
    expect(begun().press("<C-c>x<C-c>").commands).toEqual([]);
  });

  test("the hint that Ctrl-C leaves goes when it does not any more", () => {
    const nowMs = begun().state.nowMs;
    const hint = "Press Ctrl-C again to leave";
    const walk = begun().press("<C-c>");
    expect(walk.give({ kind: "tick", nowMs: nowMs + 2_500 }).screen).toContain(hint);
    expect(walk.give({ kind: "tick", nowMs: nowMs + 3_500 }).screen).not.toContain(hint);
    expect(walk.wait(3_500).press("<C-c>").commands).toEqual([]);
    expect(walk.screen).toContain(hint);
    expect(walk.press("<tab>").screen).not.toContain(hint);
    const atWork = begun().entries(asks("go"), channel("Running")).press("<C-c>");
    atWork.give({ kind: "said", text: "Stopped." }, { kind: "tick", nowMs: nowMs + 3_500 });
    expect(atWork.screen).toContain("Stopped.");
    expect(atWork.screen).not.toContain(hint);
  });

  test("Ctrl-C stops what runs, and leaves at the second press", () => {
    const walk = begun().entries(asks("go"), channel("Running")).press("<C-c>");
    expect(walk.commands).toEqual([{ kind: "stop" }]);
    walk.give({ kind: "said", text: "Stopped." });
    expect(walk.screen).toContain("Stopped. Press Ctrl-C again to leave.");
    expect(walk.press("<C-c>").commands.at(-1)).toEqual({ kind: "quit" });
  });

  test("Ctrl-D leaves where nothing is written", () => {
    expect(begun().press("x<C-d>").commands).toEqual([]);
    expect(begun().press("<C-d>").commands).toEqual([{ kind: "quit" }]);
  });
});

test("calls, thoughts and processes are opened and closed", () => {
  const walk = full(new ChatWalk({ columns: 90, rows: 80 }));
  expect(walk.screen).not.toContain("dunes.jpg");
  walk.press("<tab><up><up><up><up><up>");
  expect(walk.screen).toContain("▌ ▸ files/list photos/2024");
  expect(walk.press("<return>").screen).toContain('"dunes.jpg"');
  expect(walk.press("<return>").screen).not.toContain('"dunes.jpg"');
});

test("a kernel that was lost is named, and the conversation stays", () => {
  const walk = full(new ChatWalk({ columns: 100, rows: 40 })).give({ kind: "link", isCutOff: true });
  expect(walk.screen).toContain("the kernel is being started again");
  expect(walk.screen).toContain("files/list");
});

test.each([
  [
    { cron: "* * * * *", timezone: "UTC", prompt: "look" },
    "a allow until you revoke it (lares decisions)  r deny",
  ],
  [{ at: "2026-11-27T14:09:00.000Z", prompt: "look" }, "a allow  r deny"],
])("a question about a schedule says for how long the yes counts: %j", (facts, keys) => {
  const walk = begun().give({ kind: "ask", ask: anAsk("q1", { kind: "schedule", scopes: ["once"], facts }) });
  expect(walk.press("<tab>").screen).toContain(keys);
});

test.each([
  ["The schedule was accepted.", "✓"],
  ["The schedule was not accepted, and is gone.", "•"],
  ["A worker failed: The disk is full.", "!"],
])("only what failed or needs the person has the sign of a warning: %s", (text, sign) => {
  expect(begun().entries({ kind: "notice", text }).screen).toContain(`${sign} ${text}`);
});

test.each([
  [aProcess("k", { kind: "compaction", state: "Done" }), "Earlier turns were summarised."],
  [aProcess("k", { kind: "compaction", state: "Failed" }), null],
  [{ kind: "notice", text: "The conversation was not summarised." } as const, null],
])("that earlier turns are being summarised is said until it has ended", (end, message) => {
  const walk = begun().press("/compact<escape><return>");
  expect(walk.commands).toEqual([{ kind: "compact" }]);
  walk.entries(aProcess("k", { kind: "compaction" }));
  expect(walk.screen).toContain("Earlier turns are being summarised.");
  walk.entries(end);
  expect(walk.state.message?.text ?? null).toBe(message);
});

test("a copy says that it is one, and how to return", () => {
  const walk = begun();
  const { conversation } = walk.state;
  walk.give({ kind: "opened", conversation, agentName: "Steward", isCopy: true });
  expect(walk.screen).toContain("This is a copy now. /resume returns");
});
