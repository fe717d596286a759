import { expect, test } from "vitest";
import { ownAccord, personAt, type Principal } from "../base/vocabulary/principal.ts";
import { systemClock } from "../platform/clock.ts";
import { neverAborted } from "../base/abort.ts";
import { createCommandService } from "../services/command-service.ts";
import { createMemoryService } from "./memory-service.ts";
import { createModelServices } from "../outside/model-services.ts";
import { createDecisionService } from "../decisions/decision-service.ts";
import { createNotificationService } from "../notifications/notification-service.ts";

/** Records what reached the room behind a service; every method of it returns nothing. */
function room(reached: string[]): never {
  const methods = { get: (_target: object, name: string) => () => void reached.push(name) };
  return new Proxy({}, methods) as never;
}

const others: readonly Principal[] = [
  { kind: "agent", id: "dev.agent", lineage: ownAccord },
  { kind: "process", process: "worker", agent: "dev.mind", conversation: "c1", lineage: ownAccord },
  { kind: "schedule", agent: "dev.clock", schedule: "daily", lineage: ownAccord },
  { kind: "kernel", lineage: ownAccord },
];

function calls(reached: string[]) {
  const { secrets } = createModelServices(
    { secrets: room(reached) } as unknown as Parameters<typeof createModelServices>[0],
    systemClock,
  );
  const memory = createMemoryService({
    memories: room(reached),
    checkAgent: async () => void reached.push("an agent"),
  } as never);
  const decisions = createDecisionService({ store: room(reached), file: "" }, room(reached));
  const commands = createCommandService({
    agents: { definitions: () => (reached.push("an agent"), []), get: room(reached) },
    tools: room(reached),
    conversations: room(reached),
  });
  const notifications = createNotificationService(room(reached), {
    agents: room(reached),
    actions: room(reached),
    rules: () => ({ person: [], workspace: [] }),
  });
  return {
    "notifications.dismiss": (by: Principal) => notifications.dismiss(by, ["id"]),
    "notifications.act": (by: Principal) => notifications.act(by, "id"),
    "commands.run": (by: Principal) => commands.run(by, "dev.agent", "tidy", {}, neverAborted),
    "secrets.set": (by: Principal) => secrets.set(by, "a", "value", ["a.example"]),
    "secrets.remove": (by: Principal) => secrets.remove(by, "a"),
    "memory.import": (by: Principal) => memory.import(by, "dev.agent", "/file", { preview: false }),
    "memory.correct": (by: Principal) => memory.correct(by, "dev.agent", "id", "new"),
    "memory.forget": (by: Principal) => memory.forget(by, "dev.agent", "id"),
    "decisions.revoke": (by: Principal) => decisions.revoke(by, "id"),
  };
}

test.each(Object.keys(calls([])) as (keyof ReturnType<typeof calls>)[])(
  "%s is refused to anybody but a person, before anything is read or changed",
  async (name) => {
    const reached: string[] = [];
    const call = calls(reached)[name];
    for (const by of others) await expect(call(by)).rejects.toMatchObject({ code: "PermissionDenied" });
    expect(reached).toEqual([]);
    await call(personAt()).catch(() => undefined);
    expect(reached).not.toEqual([]);
  },
);
