import { expect, test } from "vitest";
import { LaresError } from "../base/errors.ts";
import { personAt } from "../base/vocabulary/principal.ts";
import { Clients } from "./clients.ts";
import type { Services } from "./ports.ts";

const person = personAt();

function aKernel({ isAnswered = false } = {}) {
  const asked: string[] = [];
  const counts: [number, number][] = [];
  const state = { failsToRevoke: false };
  const services = {
    status: { read: () => ({ version: "1" }) },
    trust: {
      reloadAndCheckAnswered: async () => isAnswered,
      accept: async (_by: unknown, digest?: string) => void asked.push(`accept ${digest ?? "anything"}`),
      revoke: async () => {
        asked.push("revoke");
        if (state.failsToRevoke) throw new LaresError("StorageError", "The disk is full.");
      },
      question: async () => ({ answered: isAnswered }),
    },
  } as unknown as Services;
  const clients = new Clients({
    services,
    counted: (trusted, untrusted) => void counts.push([trusted, untrusted]),
  });
  return { asked, clients, counts, state };
}

test.each([
  [true, false, true, ["accept anything"]],
  [true, true, true, ["accept anything"]],
  [undefined, true, true, []],
  [undefined, false, false, []],
  [false, true, false, []],
])(
  "a client that begins with trusted: %s, where a person answered: %s",
  async (wish, isAnswered, ...expected) => {
    const { asked, clients } = aKernel({ isAnswered });
    const client = clients.connect(person);
    await client.begin(wish);
    expect([client.trusted, asked]).toEqual(expected);
  },
);

test("an untrusted client reaches only open services until a person accepts through it", async () => {
  const { clients } = aKernel();
  const [one, other] = [clients.connect(person), clients.connect(person)];
  await Promise.all([one.begin(undefined), other.begin(undefined)]);
  expect(one.status()).toEqual({ version: "1", trusted: false, clients: 2 });
  expect(() => one.services).toThrow(expect.objectContaining({ code: "Untrusted" }));
  await one.accept();
  expect(one.services).toBe(one.open);
  expect(await one.question()).toMatchObject({ trusted: true });
  expect(() => other.services).toThrow(expect.objectContaining({ code: "Untrusted" }));
});

test("clients of all doors are counted together, from their beginning until they go", async () => {
  const { clients, counts } = aKernel();
  const [editor, bridge] = [clients.connect(person), clients.connect(person)];
  expect(counts).toEqual([]);
  await editor.begin(true);
  await bridge.begin(false);
  await bridge.accept();
  editor[Symbol.dispose]();
  await bridge.revoke();
  bridge[Symbol.dispose]();
  expect(counts).toEqual([
    [1, 0],
    [1, 1],
    [2, 0],
    [1, 0],
    [0, 1],
    [0, 0],
  ]);
});

test("a client that went while it began is never counted", async () => {
  const { clients, counts } = aKernel();
  const client = clients.connect(person);
  const begun = client.begin(true);
  client[Symbol.dispose]();
  await begun;
  expect(counts).toEqual([[0, 0]]);
});

test("a revocation that cannot be stored still makes the client untrusted, with an error", async () => {
  const { clients, state } = aKernel();
  const client = clients.connect(person);
  await client.begin(true);
  const told: boolean[] = [];
  client.trustChanged.on((trusted) => told.push(trusted));
  state.failsToRevoke = true;
  await expect(client.revoke()).rejects.toMatchObject({ code: "StorageError" });
  expect([client.trusted, told]).toEqual([false, [false]]);
});
