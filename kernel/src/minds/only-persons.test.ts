import { expect, test } from "vitest";
import { ownAccord, type Principal } from "../base/vocabulary/principal.ts";
import type { ConversationService } from "../services/conversations.ts";
import { agent, MindBench } from "./testing/mind-bench.ts";

const others: readonly Principal[] = [
  { kind: "agent", id: "dev.agent", lineage: ownAccord },
  { kind: "process", process: "channel", agent, conversation: "c1", lineage: ownAccord },
  { kind: "schedule", agent: "dev.clock", schedule: "daily", lineage: ownAccord },
  { kind: "kernel", lineage: ownAccord },
];

const changes: Readonly<
  Record<string, (service: ConversationService, by: Principal, id: string) => Promise<unknown>>
> = {
  open: (service, by) => service.open(by, { agent }),
  send: (service, by, id) => service.send(by, { id, text: "hello" }),
  runPrompt: (service, by, id) => service.runPrompt(by, { id, prompt: "tidy", said: "hello" }),
  cancel: (service, by, id) => service.cancel(by, id),
  fork: (service, by, id) => service.fork(by, id),
  compact: (service, by, id) => service.compact(by, id),
  pin: (service, by, id) => service.pin(by, id, "e", true),
  redact: (service, by, id) => service.redact(by, { id, text: "hello" }),
  editBlock: (service, by) => service.editBlock(by, { agent, name: "project", text: "new" }),
  update: (service, by, id) => service.update(by, id, { title: "new" }),
  delete: (service, by, id) => service.delete(by, id),
};

test.each(Object.keys(changes))(
  "%s is refused to anybody but a person, before anything is written",
  async (name) => {
    const bench = await MindBench.open();
    const { id, seq } = await bench.open();
    for (const by of others)
      await expect(changes[name]?.(bench.service, by, id), by.kind).rejects.toMatchObject({
        code: "PermissionDenied",
      });
    expect((await bench.service.get(id)).seq).toBe(seq);
    expect((await bench.service.list({})).items).toHaveLength(1);
  },
);
