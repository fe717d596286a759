import { beforeEach, describe, expect, it } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { agent } from "../testing/things.ts";
import { seen, Uri, window } from "../testing/vscode.ts";
import { chooseMemory, exportMemory, forget, importMemory, verifyAloud } from "./memory-commands.ts";

beforeEach(() => seen.forget());

const head = "ab".repeat(32);
const described = {
  records: 205,
  head,
  from: "extension/\u202Eevil",
  created: "2026-03-01T12:00:00.000Z",
  first: "2026-02-01T12:00:00.000Z",
  last: "2026-03-01T11:00:00.000Z",
  bytes: 121_856,
  vectors: 40,
  imported: false,
};

describe("importing a memory", () => {
  const start = () => {
    window.chosenFile = Uri.file("/home/me/storage.lares");
    const fake = fakeContext({ "lares/memory/import": () => described });
    return { ...fake, done: importMemory(fake.context.kernel, "storage") };
  };

  it("shows the file's contents and its head, and imports what was shown", async () => {
    const { asked, done, settle } = start();
    await settle();
    expect(asked).toEqual([
      {
        method: "lares/memory/import",
        params: { agent: "storage", path: "/home/me/storage.lares", preview: true },
      },
    ]);
    const [question] = seen.messages;
    expect(question).toMatchObject({ isModal: true, buttons: ["Import"] });
    expect(question?.text).toBe("Import the memory of extension/<U+202E>evil into storage?");
    expect(question?.detail).toContain(head);
    expect(question?.detail).toContain("40 vectors, unproven: ");
    question?.answer("Import");
    await expect(done).resolves.toBe(true);
    expect(asked[1]).toEqual({
      method: "lares/memory/import",
      params: { agent: "storage", path: "/home/me/storage.lares", head },
    });
  });

  it("does not mention vectors if the file has none", async () => {
    window.chosenFile = Uri.file("/home/me/storage.lares");
    const { context, settle } = fakeContext({ "lares/memory/import": () => ({ ...described, vectors: 0 }) });
    const done = importMemory(context.kernel, "storage");
    await settle();
    expect(seen.messages[0]?.detail).not.toMatch(/vector|unproven/);
    seen.messages[0]?.answer(undefined);
    await done;
  });

  it("changes nothing if the person cancels", async () => {
    const { asked, done, settle } = start();
    await settle();
    seen.messages[0]?.answer(undefined);
    await expect(done).resolves.toBe(false);
    expect(asked).toHaveLength(1);
  });

  it("sends no request if no file was chosen", async () => {
    const { context, asked } = fakeContext();
    await expect(importMemory(context.kernel, "storage")).resolves.toBe(false);
    expect(asked).toEqual([]);
  });
});

describe("exporting a memory", () => {
  it("shows the head for comparison, without waiting for the person", async () => {
    window.chosenFile = Uri.file("/home/me/storage.lares");
    const { context, settle } = fakeContext({
      "lares/memory/export": () => ({ path: "", records: 2, head, bytes: 1_536, vectors: 0 }),
    });
    await expect(exportMemory(context.kernel, { agent: "storage" })).resolves.toBe(true);
    expect(seen.messages[0]?.text).toContain("Exported 2 records (1.5 KiB) of storage. Head");
    expect(seen.messages[0]?.text).toContain(head);
    seen.messages[0]?.answer("Copy Head");
    await settle();
    expect(seen.clipboard).toBe(head);
  });

  it("of a shared memory names it, not the agent through which it is requested", async () => {
    window.chosenFile = Uri.file("/home/me/team.lares");
    const { context, asked } = fakeContext({
      "lares/memory/export": () => ({ path: "", records: 2, head, bytes: 1_536, vectors: 0 }),
    });
    await exportMemory(context.kernel, { agent: "storage", namespace: "team" });
    expect(asked[0]?.params).toMatchObject({ agent: "storage", namespace: "team" });
    expect(seen.messages[0]?.text).toContain("of team (shared).");
  });

  it("shows a refusal in one line", async () => {
    window.chosenFile = Uri.file("/home/me/storage.lares");
    const { context } = fakeContext({
      "lares/memory/export": () => {
        throw new Error("There is nothing\nin this memory yet.");
      },
    });
    await expect(exportMemory(context.kernel, { agent: "storage" })).resolves.toBe(false);
    expect(seen.messages).toMatchObject([
      { severity: "error", text: "There is nothing in this memory yet." },
    ]);
  });
});

describe("the choice of a memory", () => {
  const known = agent({ id: "storage" });
  const team = { name: "team", agents: ["storage"], access: "read_write" as const, records: 3 };
  const imported = { ...team, name: "theirs", workspace: "/w" };

  it("offers the agents' own and their shared ones, without another workspace's", async () => {
    seen.holdsPicks = true;
    const choosing = chooseMemory([known], [team, imported, { ...team, name: "nobody's", agents: [] }]);
    window.pick((items) => {
      expect(items).toMatchObject([{ label: "storage" }, { label: "team", description: "shared" }]);
      return items[1];
    });
    await expect(choosing).resolves.toEqual({ agent: "storage", namespace: "team" });
  });

  it("is skipped if there is only one", async () =>
    await expect(chooseMemory([known], [])).resolves.toEqual({ agent: "storage" }));

  it("is impossible without an agent", async () => {
    await expect(chooseMemory([], [])).resolves.toBeUndefined();
    expect(seen.messages).toHaveLength(1);
  });
});

describe("forgetting", () => {
  it("is confirmed first, with the item as text", async () => {
    const { context, asked, settle } = fakeContext({ "lares/memory/forget": () => ({ seq: 1 }) });
    const done = forget(context.kernel, "storage", "item-1", "a\u202Eb");
    await settle();
    expect(asked).toEqual([]);
    expect(seen.messages[0]).toMatchObject({ severity: "warning", isModal: true, buttons: ["Forget"] });
    expect(seen.messages[0]?.detail).toContain("a<U+202E>b");
    seen.messages[0]?.answer("Forget");
    await expect(done).resolves.toBe(true);
    expect(asked).toMatchObject([
      { method: "lares/memory/forget", params: { agent: "storage", id: "item-1" } },
    ]);
  });

  it("does not happen if the person cancels", async () => {
    const { context, asked, settle } = fakeContext();
    const done = forget(context.kernel, "storage", "item-1", "a");
    await settle();
    seen.messages[0]?.answer(undefined);
    await expect(done).resolves.toBe(false);
    expect(asked).toEqual([]);
  });
});

describe("verifying", () => {
  it.each([
    [{ ok: true, records: 3, head }, "info", `intact: 3 records proven. Head: ${head}`],
    [{ ok: true, records: 0, head: null }, "info", "Head: none yet"],
    [
      { ok: false, records: 3, head, firstBad: { seq: 2, reason: "Its hash is another." } },
      "error",
      "broken at record 2: Its hash is another.",
    ],
  ])("%j", async (verdict, severity, sentence) => {
    const { context } = fakeContext({ "lares/memory/verify": () => verdict });
    await verifyAloud(context.kernel, { agent: "storage" });
    expect(seen.messages).toMatchObject([{ severity }]);
    expect(seen.messages[0]?.text).toContain(sentence);
  });
});
