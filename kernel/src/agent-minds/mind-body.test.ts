import { expect, test } from "vitest";
import type { AgentDefinition } from "../base/vocabulary/agent-definition.ts";
import { madeHandler } from "../base/vocabulary/made-schedule.ts";
import { mindBody } from "./mind-body.ts";

const definition = { id: "dev.mind", hooks: [] as unknown } as AgentDefinition;
const noPrompts = async (): Promise<void> => undefined;
const handlers = { call: async () => null, notify: () => undefined, stderr: () => undefined };

test("a mind starts without a place and ends when it is asked to", async () => {
  const body = mindBody(definition, () => definition.hooks, noPrompts);
  using _place = await body.takePlace("dev.mind");
  const session = await body.start(definition, handlers);
  const heard: unknown[] = [];
  await body.boot(definition, session.request, (abilities) => heard.push(abilities));
  expect(heard).toEqual([{ maxOpenHooks: 1, jobs: new Set(), tasks: new Set(), cancelsTools: false }]);
  expect(session.gone.aborted).toBe(false);
  await body.end(session);
  expect(await session.ended).toEqual({ reason: "It was unloaded." });
  expect(session.gone.aborted).toBe(true);
});

test("a mind refuses what only a program could answer", async () => {
  const session = await mindBody(definition, () => definition.hooks, noPrompts).start(definition, handlers);
  await expect(session.request("hook", {})).rejects.toMatchObject({
    code: "AgentError",
    message: 'dev.mind has no program, so there is nothing in it that answers "hook". People can talk to it.',
  });
});

const prompt = { name: "morning", text: "What changed?", target: "notify" };
const event = { id: "e1" };

test("a schedule's prompt goes to the mind, and is answered once the mind has it", async () => {
  const hooks = [{ handler: "prompts/morning.md", schedule: "0 8 * * *", prompt }] as unknown;
  const ran: unknown[] = [];
  const session = await mindBody(
    definition,
    () => hooks as AgentDefinition["hooks"],
    async (...given) => void ran.push(given),
  ).start(definition, handlers);
  expect(await session.request("hook", { handler: "prompts/morning.md", event })).toEqual({});
  expect(ran).toEqual([["dev.mind", { ...prompt, timezone: "UTC" }, event, "prompts/morning.md"]]);
  await expect(session.request("hook", { handler: "other", event })).rejects.toMatchObject({
    code: "AgentError",
  });
});

test("a schedule that a mind makes while its session runs is found; a run of one that was removed does nothing", async () => {
  const handler = madeHandler({ id: "s1" });
  let hooks: unknown = [];
  const ran: unknown[] = [];
  const session = await mindBody(
    definition,
    () => hooks as AgentDefinition["hooks"],
    async (_agent, _prompt, _event, name) => void ran.push(name),
  ).start(definition, handlers);
  hooks = [{ handler, schedule: "0 8 * * *", prompt }];
  expect(await session.request("hook", { handler, event })).toEqual({});
  hooks = [];
  expect(await session.request("hook", { handler, event })).toEqual({});
  expect(ran).toEqual([handler]);
});
