import { expect, test } from "vitest";
import { tomlValidation } from "./toml-validation.ts";

test("each document's schema is looked for below the address", () => {
  expect(tomlValidation("https://example.com/lares/1.0")).toEqual([
    { fileMatch: "lares.toml", url: "https://example.com/lares/1.0/lares.schema.json" },
    { fileMatch: "extension.toml", url: "https://example.com/lares/1.0/extension.schema.json" },
  ]);
});

test.each([
  ["https://example.com", "https://example.com"],
  ["https://example.com/schemas//", "https://example.com/schemas"],
  // As registries that serve packages' files write versions.
  ["https://example.com/lares@1.0.0/schemas", "https://example.com/lares@1.0.0/schemas"],
  [" HTTPS://Example.com:443/a b/../c/ ", "https://example.com/c"],
  ["http://localhost:8080/", "http://localhost:8080"],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
  ["http://[::1]:8080", "http://[::1]:8080"],
])("%s is taken, whatever slash is at its end", (given, base) => {
  expect(tomlValidation(given).map(({ url }) => url)).toEqual([
    `${base}/lares.schema.json`,
    `${base}/extension.schema.json`,
  ]);
});

test.each([
  ["", /is not an address/],
  ["example.com/schemas", /is not an address/],
  ["./dist/schemas", /is not an address/],
  ["http://example.com/schemas", /must begin with https/],
  ["http://localhost.example.com/schemas", /must begin with https/],
  ["file:///schemas", /must begin with https/],
  ["data:application/json,{}", /must begin with https/],
  ["https://example.com/schemas?version=1", /a query or a fragment/],
  ["https://example.com/schemas?", /a query or a fragment/],
  ["https://example.com/schemas#top", /a query or a fragment/],
])("%j is refused, and it is said why", (given, why) => {
  expect(() => tomlValidation(given)).toThrow(why);
});

test("an address with credentials is refused, and they are not repeated", () => {
  expect(() => tomlValidation("https://someone:secret@example.com/schemas")).toThrow(
    /^--schemas-url example\.com: it names a user or a password/,
  );
  expect(() => tomlValidation("https://someone@example.com/schemas")).toThrow(/a user or a password/);
});
