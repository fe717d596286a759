/**
 * Examples of the protocol from minds that have a bulletin. Nothing that a scripted model says comes into one, so these
 * have a service of this machine that speaks a provider's API.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench } from "./bench.ts";
import type { Client } from "./client.ts";
import { Exchanges } from "./exchanges.ts";
import { startGemini, type GeminiAnswer, type GeminiQuestion } from "./gemini.ts";
import { clockAt } from "./kernel-clock.ts";
import { mind } from "./mind.ts";
import { noModels } from "./no-models.ts";
import type { Recorder } from "./recorded.ts";
import { until } from "./until.ts";

const CARETAKER = "dev.example.caretaker";
const PORTER = "dev.example.porter";
const fact = "The museum closes at five on Mondays.";
/** The kernel's words to a cortex. */
const bulletinAsked = "answer with the bulletin";
/** Longer than the time between two looks of a cortex. */
const longAgoMs = 2 * 60 * 60 * 1000;

/** The answers of the model: a branch saves what the person says, and the cortex recalls it for its bulletin. */
function answerOf({ contents }: GeminiQuestion): GeminiAnswer {
  const call = (tool: string, args: object): GeminiAnswer => ({
    calls: [{ id: "1", tool, json: JSON.stringify(args) }],
  });
  const asked = contents
    .slice(contents.findLastIndex(({ role }) => role === "model") + 1)
    .flatMap(({ parts }) => parts);
  const text = asked.map((part) => part.text ?? "").join("\n");
  const isAnswered = asked.some(({ functionResponse }) => functionResponse !== undefined);
  if (isAnswered)
    return {
      say: [JSON.stringify(contents).includes(bulletinAsked) ? "They ask about the museum." : "Good."],
    };
  if (text.includes(bulletinAsked)) return call("memory_recall", { query: "museum" });
  if (text.includes("Save the hours")) return call("memory_save", { type: "Fact", text: fact });
  if (text.includes("Remember:")) return call("branch", { task: "Save the hours" });
  return { say: ["Good."] };
}

/** Registers the tests that record them. */
export function showBulletins(recorderOf: () => Recorder): void {
  describe("minds with a bulletin", () => {
    let bench: Bench;
    let client: Client;
    let provider: Awaited<ReturnType<typeof startGemini>>;
    let environment: NodeJS.ProcessEnv;

    /** Sends this in a new conversation, and waits until its mind has answered so many times and rests. */
    const said = async (agent: string, text: string, answers = 1): Promise<string> => {
      const { id } = await client.request<Conversation>("lares/conversations/open", { agent });
      await client.request("lares/conversations/send", { id, text });
      await until("the conversation to rest", async () => {
        const { processes, unread } = await client.request<Conversation>("lares/conversations/get", { id });
        const isAtRest = processes.every(({ state }) => state === "WaitingForInput" || state === "Done");
        return isAtRest && unread === answers;
      });
      return id;
    };
    const memoryOf = (agent: string): Promise<string> =>
      until("the memory", async () => {
        const { items } = await client.request<{ items: { id: string }[] }>("lares/memory/query", {
          agent,
          kind: "associative",
        });
        return items[0]?.id;
      });

    beforeAll(async () => {
      provider = await startGemini(answerOf);
      bench = await Bench.create({
        extensions: [mind({ id: CARETAKER, name: "Caretaker" }), mind({ id: PORTER, name: "Porter" })],
      });
      const config = join(bench.base, "config", "lares");
      await mkdir(config, { recursive: true });
      const models = {
        providers: {
          gem: { api: "google", base_url: `http://${provider.host}/v1beta`, key: { secret: "gem" } },
        },
        routes: { default: "gem/gemini-2.5-flash" },
      };
      await writeFile(join(config, "lares.yaml"), JSON.stringify({ version: 1, models }));
      environment = { ...noModels, XDG_CONFIG_HOME: join(bench.base, "config") };
      client = await bench.open({ environment: { ...environment, ...clockAt(Date.now() - longAgoMs) } });
      const key = { name: "gem", value: "not a real key", hosts: [provider.host] };
      await client.request("lares/secrets/set", key);
    });
    afterAll(async () => {
      await bench[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    });

    test("a bulletin that was written from a memory, which a person corrects or forgets", async () => {
      for (const agent of [CARETAKER, PORTER]) {
        // The second answer is to what the branch says.
        await said(agent, `Remember: ${fact}`, 2);
        await memoryOf(agent);
      }
      const { pid, stateFolder } = await bench.status(client);
      await client.shutdown();
      await bench.kill(pid);

      // This kernel finds what was said long ago, and has it read at once.
      client = await bench.open({ environment });
      const recorder = recorderOf();
      recorder.alsoAt([
        [stateFolder, "/home/ada/.local/state/lares/workspaces/museum-5c1d"],
        [bench.root, "/home/ada/museum"],
        [bench.base, "/home/ada"],
      ]);
      const exchanges = new Exchanges(client, recorder);
      for (const agent of [CARETAKER, PORTER])
        await until("the bulletin", async () => {
          const { items } = await client.request<{ items: Entry[] }>("lares/conversations/entries", {
            agent,
          });
          return items.some((entry) => entry.kind === "block" && entry.text !== "");
        });
      const id = await said(CARETAKER, "Good morning.");
      const why = await exchanges.ask<{ bulletin?: object; memories: object[] }>("lares/conversations/why", {
        id,
      });
      expect(why).toMatchObject({ bulletin: { present: true }, memories: [{ read: "bulletin" }] });
      await exchanges.ask("lares/memory/correct", {
        agent: CARETAKER,
        id: await memoryOf(CARETAKER),
        text: "The museum closes at six on Mondays.",
      });
      await exchanges.ask("lares/memory/forget", { agent: PORTER, id: await memoryOf(PORTER) });
    });
  });
}
