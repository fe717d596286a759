import { expect, test } from "vitest";
import { seeded } from "../../../test/support/seed.ts";
import { shippedScanner } from "./redact.ts";
import { corpus } from "./testing/corpus.ts";
import { alarmsInDocuments, alarmsInRepository, recallOf } from "./testing/recall.ts";

const scanner = shippedScanner();

test("of the known classes of secrets, at least 85 percent are found, whatever they stand in", () => {
  const { found, of, lines } = recallOf(scanner, corpus(seeded()));
  expect(found / of, lines.join("\n")).toBeGreaterThan(0.85);
});

test("no false alarm in the documents of the installed packages", () => {
  const { files, alarms } = alarmsInDocuments(scanner);
  expect(files).toBeGreaterThan(600);
  expect(alarms).toEqual([]);
});

test("no false alarm in this repository", () => {
  const { files, alarms } = alarmsInRepository(scanner);
  expect(files).toBeGreaterThan(1000);
  expect(alarms).toEqual([]);
});

test("words of prose, names of standards and of types after a strong name are not secrets", () => {
  for (const text of [
    "A secret in a text: UTF-16 positions",
    "The password is hashed: SHA-256 or argon2",
    "secret: AES-256-GCM",
    "passwords (see RFC-6749)",
    "readonly privateKey: Uint8Array;",
    "secret: BigUint64Array",
    "password: Float64Array",
  ])
    expect([text, scanner.find(text)]).toEqual([text, []]);
});
