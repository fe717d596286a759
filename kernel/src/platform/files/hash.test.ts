import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sha256, sha256File } from "./hash.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

test("the published example has the published digest, as bytes and as text", () => {
  const expected = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  expect(sha256("abc")).toBe(expected);
  expect(sha256(new Uint8Array([0x61, 0x62, 0x63]))).toBe(expected);
});

test.each([0, 1, 256 * 1024, 256 * 1024 + 1, 1_000_003])(
  "a file of %i bytes has the digest of its bytes",
  async (size) => {
    const path = join(await temporaryFolder(), "file");
    const bytes = Buffer.alloc(size, "lares ");
    await writeFile(path, bytes);
    expect(await sha256File(path)).toBe(sha256(bytes));
    await using handle = await open(path);
    expect(await sha256File(handle)).toBe(sha256(bytes));
  },
);
