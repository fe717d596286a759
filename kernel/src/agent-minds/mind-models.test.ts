import { expect, test } from "vitest";
import type { Authority, Permissions } from "../base/vocabulary/permissions.ts";
import { mindModels } from "./mind-models.ts";

const use = { kind: "task", process: "worker" } as const;
const asker = {
  agent: "test.mind",
  conversation: "c",
  process: "worker" as const,
  isScheduled: false,
};

function mindWith(permissions: Permissions | null, denied: Authority["denied"] = []) {
  const authority: Authority | null = permissions && {
    extension: "test.mind",
    requested: { use_models: [{ category: "chat" }] },
    effective: permissions,
    denied,
    locations: [],
    protectedPaths: [],
    forbiddenPaths: [],
    memory: true,
    namespaces: {},
  };
  const asked: unknown[] = [];
  const chosen: unknown[] = [];
  const models = mindModels({
    authorityOf: () => authority,
    // oxlint-disable-next-line require-yield -- What it was asked is what counts here.
    answer: async function* (need) {
      asked.push(need);
    },
    choose: async (need) => {
      chosen.push(need);
      return { model: "lab/m", contextTokens: 1000 };
    },
  });
  const ask = async (): Promise<unknown[]> =>
    await Array.fromAsync(models.answer(use, { messages: [] }, asker, new AbortController().signal));
  return { models, ask, asked, chosen };
}

test.each<[string, Permissions | null, Authority["denied"], string]>([
  ["that was not granted models", {}, [], "use_models"],
  ["that was denied models", {}, ["use_models"], "was denied"],
  [
    "that may use models for other things only",
    { use_models: [{ category: "summary" }] },
    [],
    'category "chat"',
  ],
  ["that is gone", null, [], "test.mind"],
])("no model is asked for a mind of an agent %s", async (_which, permissions, denied, why) => {
  const { ask, asked } = mindWith(permissions, denied);
  await expect(ask()).rejects.toThrow(why);
  expect(asked).toEqual([]);
});

test.each([
  [true, true],
  [false, false],
])("local_only: %s of a mind's models holds for its choice and for its requests", async (local, expected) => {
  const { models, ask, asked, chosen } = mindWith({ use_models: [{ category: "chat", local_only: local }] });
  await models.choose("test.mind", use);
  await ask();
  expect([...chosen, ...asked]).toEqual([
    { use, localOnly: expected },
    { use, localOnly: expected },
  ]);
});
