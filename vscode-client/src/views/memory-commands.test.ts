import { beforeEach, describe, expect, it } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { seen, Uri, window } from "../testing/vscode.ts";
import { exportMemory, forget, importMemory, verifyAloud } from "./memory-commands.ts";

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

  it("shows what is in the file and its head, and imports what was shown", async () => {
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
    question?.answer("Import");
    await expect(done).resolves.toBe(true);
    expect(asked[1]).toEqual({
      method: "lares/memory/import",
      params: { agent: "storage", path: "/home/me/storage.lares", head },
    });
  });

  it("changes nothing where the person thought better of it", async () => {
    const { asked, done, settle } = start();
    await settle();
    seen.messages[0]?.answer(undefined);
    await expect(done).resolves.toBe(false);
    expect(asked).toHaveLength(1);
  });

  it("asks nothing of the kernel where no file was chosen", async () => {
    const { context, asked } = fakeContext();
    await expect(importMemory(context.kernel, "storage")).resolves.toBe(false);
    expect(asked).toEqual([]);
  });
});

describe("exporting a memory", () => {
  it("tells the head, to be compared, without waiting for it to be read", async () => {
    window.chosenFile = Uri.file("/home/me/storage.lares");
    const { context, settle } = fakeContext({
      "lares/memory/export": () => ({ path: "", records: 2, head, bytes: 1_536, vectors: 0 }),
    });
    await expect(exportMemory(context.kernel, "storage")).resolves.toBe(true);
    expect(seen.messages[0]?.text).toContain("Exported 2 records (1.5 KiB) of storage. Head");
    expect(seen.messages[0]?.text).toContain(head);
    seen.messages[0]?.answer("Copy Head");
    await settle();
    expect(seen.clipboard).toBe(head);
  });

  it("says a refusal in one line", async () => {
    window.chosenFile = Uri.file("/home/me/storage.lares");
    const { context } = fakeContext({
      "lares/memory/export": () => {
        throw new Error("There is nothing\nin this memory yet.");
      },
    });
    await expect(exportMemory(context.kernel, "storage")).resolves.toBe(false);
    expect(seen.messages).toMatchObject([
      { severity: "error", text: "There is nothing in this memory yet." },
    ]);
  });
});

describe("forgetting", () => {
  it("is asked about first, with what it is about as text", async () => {
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

  it("does not happen where the person thought better of it", async () => {
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
    [{ ok: true, records: 3, head }, "info", `whole: 3 records proven. Head: ${head}`],
    [{ ok: true, records: 0, head: null }, "info", "Head: none yet"],
    [
      { ok: false, records: 3, head, firstBad: { seq: 2, reason: "Its hash is another." } },
      "error",
      "broken at record 2: Its hash is another.",
    ],
  ])("%j", async (verdict, severity, sentence) => {
    const { context } = fakeContext({ "lares/memory/verify": () => verdict });
    await verifyAloud(context.kernel, "storage");
    expect(seen.messages).toMatchObject([{ severity }]);
    expect(seen.messages[0]?.text).toContain(sentence);
  });
});
