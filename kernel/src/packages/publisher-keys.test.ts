import { expect, test } from "vitest";
import { LaresError } from "../base/errors.ts";
import { isSignedBy, signMessage } from "../platform/signatures.ts";
import type { PublisherKeyRow } from "../user-state/package-rows.ts";
import { PublisherKeys } from "./publisher-keys.ts";

function keysWith(rows: PublisherKeyRow[] = [], id = "key") {
  return {
    rows,
    keys: new PublisherKeys({
      clock: { now: () => Date.parse("2026-11-23T10:00:00.000Z") },
      encryptionKey: async () => ({ bytes: new Uint8Array(32).fill(7), id }),
      rows: {
        keys: async () => rows,
        addKey: async (row) => {
          if (rows.some(({ name }) => name === row.name)) throw new LaresError("Conflict", "taken");
          rows.push(row);
        },
      },
    }),
  };
}

test("a stored key signs what its public key verifies, and its private half is nowhere in clear", async () => {
  const { keys, rows } = keysWith();
  const made = await keys.create("default");
  expect(made.fingerprint).toMatch(/^SHA256:[A-Za-z0-9+/]{43}$/);
  const { publicKey, privateKey } = await keys.pair();
  expect(Buffer.from(publicKey).toString("base64")).toBe(made.publicKey);
  const signature = signMessage("words", privateKey);
  expect(isSignedBy("words", publicKey, signature)).toBe(true);
  expect(isSignedBy("other", publicKey, signature)).toBe(false);
  const seed = Buffer.from(privateKey).subarray(-32).toString("hex");
  for (const { record } of rows) expect(Buffer.from(record).toString("hex")).not.toContain(seed);
});

test("a name is used once; several keys need a name, unless one is called default", async () => {
  const { keys } = keysWith();
  await expect(keys.pair()).rejects.toThrow("lares keys new");
  await keys.create("work");
  expect((await keys.named()).name).toBe("work");
  await keys.create("home");
  await expect(keys.named()).rejects.toThrow("Name one with --key: work, home");
  await expect(keys.create("work")).rejects.toThrow("never replaced");
  await expect(keys.create("Bad name")).rejects.toThrow("lower case");
  await expect(keys.named("none")).rejects.toThrow("There are: work, home");
  await keys.create("default");
  expect((await keys.named()).name).toBe("default");
});

test("a row that was changed, or encrypted with another key, signs nothing", async () => {
  const { keys, rows } = keysWith();
  await keys.create("one");
  await keys.create("two");
  const [one, two] = rows as [PublisherKeyRow, PublisherKeyRow];
  await expect(keysWith([{ ...one, public_key: two.public_key }]).keys.pair()).rejects.toThrow(
    "cannot be decrypted",
  );
  await expect(keysWith([{ ...one, record: two.record }]).keys.pair()).rejects.toThrow("cannot be decrypted");
  await expect(keysWith([one], "other").keys.pair()).rejects.toThrow("cannot be decrypted");
});
