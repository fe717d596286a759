import { afterAll, beforeAll, expect, test } from "vitest";
import { call, host, probe } from "../support/agents.ts";
import { Bench, leave } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { isAlive, until } from "../support/until.ts";

const WRITER = "test.writer";
const READER = "test.reader";
let bench: Bench;
let client: Client;

beforeAll(async () => {
  bench = await Bench.create({
    extensions: [
      probe({ id: WRITER, permissions: { shared_data: { read: ["people"], write: ["people"] } } }),
      probe({ id: READER, permissions: { shared_data: { read: ["people"] } } }),
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

test("an agent reads what another one shared by key; the version counts the writes", async () => {
  expect(await call(client, READER, "shared.read", "people")).toBeNull();
  await call(client, WRITER, "shared.write", "people", { ada: 1 });
  expect(await call(client, READER, "shared.read", "people")).toEqual({ version: 1, value: { ada: 1 } });
  await call(client, WRITER, "shared.write", "people", "all", { version: 1 });
  expect(await call(client, READER, "shared.read", "people")).toEqual({ version: 2, value: "all" });
});

test("a write on an older version is a conflict that names the newest", async () => {
  const { error } = await host(client, WRITER, "shared.write", "people", 0, { version: 7 });
  expect(error).toMatchObject({
    code: "Conflict",
    message: expect.stringMatching(/"people" is now at version 2, not 7/),
  });
});

for (const [what, agent, method, key] of [
  ["writing a key that may only be read", READER, "shared.write", "people"],
  ["reading a key that the manifest does not list", READER, "shared.read", "places"],
] as const) {
  test(`${what} is refused`, async () => {
    const { error } = await host(client, agent, method, key, 1);
    expect(error).toMatchObject({
      code: "PermissionDenied",
      message: expect.stringMatching(/list it in its manifest/),
    });
  });
}

test("it survives the kernel", async () => {
  const { pid } = await bench.status(client);
  await leave(client);
  await until("the kernel to end", () => !isAlive(pid));
  await using next = await bench.open();
  expect(await call(next, READER, "shared.read", "people")).toEqual({ version: 2, value: "all" });
});
