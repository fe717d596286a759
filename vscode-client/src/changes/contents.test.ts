import { describe, expect, it } from "vitest";
import { action } from "../testing/things.ts";
import { maxShownBytes } from "../deciding/content.ts";
import { ChangeContents, maxEdited } from "./contents.ts";

const digest = action().digest;
const mebibyte = 1024 * 1024;

/** Contents from a kernel in which every text has this size. */
function start(sizeBytes = 1) {
  const asked: unknown[] = [];
  let refuses = false;
  const contents = new ChangeContents({
    request: (async (_method: string, params: { offset: number; length: number }) => {
      asked.push(params);
      if (refuses) throw new Error("The kernel is gone.");
      const length = Math.min(params.length, sizeBytes - params.offset);
      return { base64: Buffer.alloc(length).toString("base64"), eof: params.offset + length >= sizeBytes };
    }) as never,
  });
  const read = (effect: number, state: "PendingApproval" | "Stale" = "PendingApproval") =>
    contents.read({ digest, state }, { action: "a", effect, side: "after" });
  return { contents, asked, read, refuse: (does: boolean) => (refuses = does) };
}

describe("contents of the kernel", () => {
  it("are read once for all views, and concurrent readers share the answer", async () => {
    const { asked, read } = start();
    await Promise.all([read(0), read(0)]);
    await read(0);
    expect(asked).toHaveLength(1);
  });

  it("are read again when the action has changed its state", async () => {
    const { asked, read } = start();
    await read(0);
    await read(0, "Stale");
    expect(asked).toHaveLength(2);
  });

  it("are bounded in total: the least recently used is read again", async () => {
    const { contents, asked, read } = start(9 * mebibyte);
    for (const effect of [0, 1, 2]) await read(effect);
    await read(0);
    await read(3);
    expect(contents.keptBytes).toBeLessThanOrEqual(32 * mebibyte);
    const before = asked.length;
    await read(0);
    expect(asked).toHaveLength(before);
    await read(1);
    expect(asked.length).toBeGreaterThan(before);
  });

  it("are bounded in number", async () => {
    const { contents, read } = start();
    for (let effect = 0; effect < 200; effect++) await read(effect);
    expect(contents.keptBytes).toBe(64);
  });

  it("that the kernel refuses while it is gone are requested again when it is back", async () => {
    const { read, refuse } = start();
    refuse(true);
    await expect(read(0)).rejects.toThrow("gone");
    refuse(false);
    await expect(read(0)).resolves.toHaveLength(1);
  });
});

describe("texts that a person edits", () => {
  const open = (contents: ChangeContents, key: string, of = digest): void =>
    contents.edit(key, { action: key, effect: 0, digest: of, proposedBytes: 1 });
  const bytes = (length = 1): Uint8Array => new Uint8Array(length);

  it("keep what was typed when the same proposal is opened again, and start over for another one", () => {
    const { contents } = start();
    open(contents, "a");
    contents.type(contents.edited("a")!, bytes(3));
    open(contents, "a");
    expect(contents.edited("a")?.typed).toHaveLength(3);
    open(contents, "a", `sha256:${"1".repeat(64)}`);
    expect(contents.edited("a")?.typed).toBe(undefined);
  });

  it("are never dropped for newer ones; only unchanged texts are", () => {
    const { contents } = start();
    for (let index = 0; index < maxEdited; index++) open(contents, `text ${index}`);
    contents.type(contents.edited("text 0")!, bytes());
    open(contents, "one more");
    expect(contents.edited("text 0")?.typed).toHaveLength(1);
    expect(contents.edited("text 1")).toBe(undefined);
    for (let index = 2; index < maxEdited; index++) contents.type(contents.edited(`text ${index}`)!, bytes());
    contents.type(contents.edited("one more")!, bytes());
    expect(() => open(contents, "too many")).toThrow("are open already");
    expect(contents.edited("text 0")).not.toBe(undefined);
  });

  it("are refused if they are too large, and keep their old content", () => {
    const { contents } = start();
    open(contents, "a");
    contents.type(contents.edited("a")!, bytes(2));
    expect(() => contents.type(contents.edited("a")!, bytes(maxShownBytes + 1))).toThrow("10 MiB");
    expect(contents.edited("a")?.typed).toHaveLength(2);
  });
});
