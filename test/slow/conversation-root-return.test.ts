import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench } from "../support/bench.ts";
import { MIND, mind } from "../support/mind.ts";
import { startTokenProvider } from "../support/token-provider.ts";
import { until } from "../support/until.ts";

test("a message that is sent while the folder is away is refused because of that, also the next one, and answered once it is back", async () => {
  await using provider = await startTokenProvider();
  await using bench = await Bench.create({ extensions: [mind()] });
  const folder = join(bench.base, "config", "lares");
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, "lares.yaml"),
    JSON.stringify({
      version: 1,
      models: {
        providers: { lab: { api: "openai-compatible", base_url: `http://${provider.host}/v1` } },
        routes: { default: "lab/m" },
      },
      egress: { private_hosts: [provider.host] },
    }),
  );
  const client = await bench.open({ environment: { XDG_CONFIG_HOME: join(bench.base, "config") } });
  const { id } = await client.request<Conversation>("lares/conversations/open", { agent: MIND });
  const send = (key: string): Promise<unknown> =>
    client.request("lares/conversations/send", { id, text: `stream ${key} of 3`, key });
  const log = async (): Promise<Entry[]> =>
    (await client.request<{ items: Entry[] }>("lares/conversations/entries", { id, limit: 1000 })).items;
  const errors = async (): Promise<string[]> =>
    (await log()).flatMap((entry) =>
      entry.kind === "process" && entry.value.state === "Failed" ? [entry.value.error?.message ?? ""] : [],
    );
  const isAnswered = async (key: string): Promise<boolean> => {
    const entries = await log();
    const said = entries.findLastIndex(
      (entry) => entry.kind === "message" && JSON.stringify(entry.parts).includes(`stream ${key} of`),
    );
    return (
      said >= 0 &&
      entries.slice(said).some((entry) => entry.kind === "message" && entry.role === "assistant") &&
      entries.findLast((entry) => entry.kind === "process")?.value.state === "WaitingForInput"
    );
  };

  await send("before");
  await until("the first answer", () => isAnswered("before"));
  const away = join(bench.base, "away");
  await rename(bench.root, away);
  await until("its agent to be gone", async () => {
    const agents = await client.request<{ id: string }[]>("lares/agents/list");
    return !agents.some((agent) => agent.id === MIND);
  });
  await send("away");
  await until("the reason", async () => (await errors()).length === 1);
  expect(await errors()).toEqual([expect.stringMatching(/the folder .*workspace is gone/)]);
  await send("twice");
  await until("the reason of the second", async () => (await errors()).length === 2);
  await rename(away, bench.root);
  // Its agent may not be known again yet.
  await send("back");
  await until("the answer to all of them", () => isAnswered("back"));
});
