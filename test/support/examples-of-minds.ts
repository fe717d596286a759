/** Examples of the protocol from a workspace with minds: their workers, memories, questions and shared blocks. */
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Action } from "../../kernel/src/base/vocabulary/action.ts";
import type { Ask } from "../../kernel/src/base/vocabulary/ask.ts";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench, tool } from "./bench.ts";
import type { Client } from "./client.ts";
import { Exchanges } from "./exchanges.ts";
import type { Message } from "./frames.ts";
import { startGemini } from "./gemini.ts";
import { curators, CURATOR, HELPER, OUTSIDER, READER, script } from "./minds-of-examples.ts";
import { noModels } from "./no-models.ts";
import type { Recorder } from "./recorded.ts";
import { until } from "./until.ts";

/** Number of looks without a new entry after which a conversation counts as at rest. */
const quietLooks = 32;

/** A provider's list of its models. */
const listing = {
  data: [
    {
      id: "small",
      context_length: 32_768,
      max_completion_tokens: 4096,
      supported_parameters: ["tools", "temperature"],
      architecture: { input_modalities: ["text"] },
    },
  ],
};

/** Registers the tests that record them. */
export function showMinds(recorderOf: () => Recorder): void {
  describe("minds", () => {
    let bench: Bench;
    let client: Client;
    let exchanges: Exchanges;
    let provider: Awaited<ReturnType<typeof startGemini>>;
    const asked: Message[] = [];
    const ask = <Result>(...given: Parameters<Exchanges["ask"]>): Promise<Result> => exchanges.ask(...given);
    const open = async (more: object = {}): Promise<string> =>
      (await client.request<Conversation>("lares/conversations/open", { agent: CURATOR, ...more })).id;
    const entriesOf = async (id: string): Promise<Entry[]> =>
      (await client.request<{ items: Entry[] }>("lares/conversations/entries", { id, limit: 1000 })).items;
    const get = (id: string): Promise<Conversation> => client.request("lares/conversations/get", { id });
    const pendingOf = (path: string): Promise<Action> =>
      until(`an action that changes ${path}`, async () => {
        const all = await client.request<Action[]>("lares/actions/list", { state: "PendingApproval" });
        return all.find(({ effects }) => effects[0]?.path === path);
      });

    /** Waits until nothing works in the conversation, and its last message is the model's. */
    const rested = async (id: string): Promise<Conversation> => {
      const ends = ["WaitingForInput", "Done", "Failed"];
      let [seq, quiet] = [0, 0];
      return await until("the conversation to rest", async () => {
        const now = await get(id);
        quiet = now.seq === seq ? quiet + 1 : 0;
        seq = now.seq;
        if (quiet < quietLooks || !now.processes.every(({ state }) => ends.includes(state))) return null;
        const channel = now.processes.find(({ kind }) => kind === "channel")?.id;
        const said = (await entriesOf(id)).findLast(
          ({ kind, process }) => kind === "conclusion" || (kind === "message" && process === channel),
        );
        return said?.kind === "message" && said.role === "assistant" && said.partial !== true && now;
      });
    };
    /** Waits until the conversation's log says that it waits for a person. */
    const waitsForPerson = (id: string): Promise<unknown> =>
      until("the question", async () =>
        (await entriesOf(id)).some(
          (entry) => entry.kind === "process" && entry.value.state === "WaitingForApproval",
        ),
      );
    const say = async (id: string, text: string): Promise<string> => {
      const { entry } = await client.request<{ entry: string }>("lares/conversations/send", { id, text });
      await rested(id);
      return entry;
    };

    /** Waits until the person is asked this kind of question, and allows it. */
    const allowed = async (wanted: Ask["kind"]): Promise<void> => {
      const { id, digest, scopes } = await until(`a question of the kind ${wanted}`, async () => {
        const all = await client.request<Ask[]>("lares/asks/list", { state: "Pending" });
        return all.find(({ kind }) => kind === wanted);
      });
      await client.request("lares/asks/answer", { id, digest, allow: true, remember: scopes.at(-1) });
    };

    /** Resolves when a conversation with the editor's model has the beginning of an answer, or there is none. */
    let shownInPart = async (): Promise<void> => undefined;
    /** The first answer is a call, the second comes in two parts, so that the first of them is stored alone. */
    const answerAsEditor = (request: Message): unknown => {
      const { method, params } = request;
      if (method === "lares/models/offered")
        return { models: [{ id: "copilot/gpt-5-mini", context_tokens: 128_000 }] };
      if (method !== "lares/models/generate") return null;
      asked.push(request);
      const { partialResultToken: token, tools = [] } = params as {
        partialResultToken: string;
        tools?: object[];
      };
      const progress = (value: object): void => client.notify("$/progress", { token, value });
      const result = { finish: "stop", usage: { input_tokens: 14, output_tokens: 1 } };
      if (tools.length > 0 && asked.length === 1) {
        const call = { call: "1", tool: "files_read", arguments: { path: "notes/circle.md" } };
        progress({ tool_call: call });
        return result;
      }
      progress({ text: "It is " });
      void shownInPart().then(() => {
        progress({ text: "round." });
        client.reply(request, { result });
      });
      return undefined;
    };

    beforeAll(async () => {
      let answers = 0;
      provider = await startGemini(() => {
        const calls = [{ id: "1", tool: "files_read", json: '{"path":"notes/circle.md"}' }];
        return answers++ === 0 ? { think: "The note says it.", calls } : { say: ["It is round."] };
      });
      const { host } = provider;
      bench = await Bench.create({
        files: {
          "notes/circle.md": "A circle is round.\n",
          "downloads/page.md": "Welcome to the page of circles.\n",
        },
        extensions: curators,
        lares: {
          shared_namespaces: [{ name: "team", extensions: [CURATOR, READER], read_write: true }],
        },
      });
      const config = join(bench.base, "config", "lares");
      await mkdir(config, { recursive: true });
      await writeFile(join(config, "script.yaml"), script);
      const models = {
        providers: {
          rehearsal: { api: "scripted", script: "./script.yaml" },
          lab: { api: "openai-compatible", base_url: "https://models.example.com/v1" },
          gem: { api: "google", base_url: `http://${host}/v1beta`, key: { secret: "gem" } },
          editor: { api: "editor" },
        },
        routes: {
          default: "rehearsal/script",
          summary: "lab/small",
          translation: "editor/copilot/gpt-5-mini",
        },
        budgets: { per_day_usd: 5 },
      };
      await writeFile(join(config, "lares.yaml"), JSON.stringify({ version: 1, models }));
      const environment = { ...noModels, XDG_CONFIG_HOME: join(bench.base, "config") };
      client = await bench.open({
        environment,
        capabilities: { experimental: { lares: { languageModels: true } } },
      });
      client.answer = answerAsEditor;
      await client.request("lares/secrets/set", { name: "gem", value: "not a real key", hosts: [host] });
      const { stateFolder } = await bench.status(client);
      const recorder = recorderOf();
      recorder.alsoAt([
        [stateFolder, "/home/ada/.local/state/lares/workspaces/school-3b0e"],
        [bench.root, "/home/ada/school"],
        [bench.base, "/home/ada"],
        [host, "127.0.0.1:8080"],
      ]);
      exchanges = new Exchanges(client, recorder);
    });
    afterAll(async () => {
      await bench[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    });

    test("a question of a conversation that continues without the answer", async () => {
      const id = await open({ title: "Circles" });
      await client.request("lares/conversations/send", { id, text: "Which circles are there?" });
      const question = await exchanges.told<Ask>("lares/asks/changed", (each) => each.conversation === id);
      await ask("lares/asks/list", { state: "Pending" });
      await waitsForPerson(id);
      await say(id, "Never mind.");
      await ask("lares/asks/answer", { id: question.id, digest: question.digest, allow: true });
      await rested(id);
      await ask("lares/conversations/entries", { id, kinds: ["ask", "tool_result"] });
    });

    test("a question of an agent whose tool a conversation has called", async () => {
      const id = await open({ title: "Summaries" });
      await client.request("lares/conversations/send", { id, text: "Summarise the circles." });
      const question = await exchanges.told<Ask>("lares/asks/changed", ({ agent }) => agent === HELPER);
      const { digest } = question;
      await ask("lares/asks/answer", { id: question.id, digest, allow: false });
      await rested(id);
      await ask("lares/conversations/list", { agent: CURATOR, limit: 1 });
    });

    test("an action after a text that nobody vouches for, and what the model thought", async () => {
      const id = await open({ title: "The page" });
      await say(id, "Read the page.");
      const action = await pendingOf("notes/page.md");
      await ask("lares/actions/get", { id: action.id });
      const [channel] = (await get(id)).processes;
      await ask("lares/conversations/entries", { id, process: channel?.id, kinds: ["action", "usage"] });
    });

    test("workers: one that waits for a follow-up, and one that failed", async () => {
      const id = await open({ title: "The fence" });
      await say(id, "Have the fence painted.");
      await say(id, "Have the gate painted.");
      await ask("lares/conversations/get", { id });
    });

    test("a message that an extension changed, and an answer that was cut", async () => {
      const id = await open({ title: "Greetings" });
      // Has begun the context, which otherwise begins beside the extension's change, before it or after it.
      await say(id, "Good morning.");
      await say(id, "macro: greet");
      await ask("lares/conversations/entries", { id, kinds: ["message"] });
    });

    test("a model behind a provider's API, and one of the editor", async () => {
      const thought = await open({ title: "Shapes", model: "gem/gemini-2.5-flash" });
      await say(thought, "Which shape has a circle?");
      await ask("lares/conversations/entries", { id: thought, kinds: ["message", "tool_call"] });
      const editors = await open({ title: "More shapes", model: "editor/copilot/gpt-5-mini" });
      shownInPart = () =>
        until("a part of the answer", async () =>
          (await entriesOf(editors)).some((entry) => entry.kind === "message" && entry.partial === true),
        ).then(() => undefined);
      const sent = { id: editors, text: "Which shape has a circle?" };
      await client.request("lares/conversations/send", sent);
      await allowed("budget");
      await rested(editors);
      shownInPart = async () => undefined;
      await ask("lares/conversations/entries", { id: editors, kinds: ["message"] });
      const translated = tool(client, HELPER, "translate", { text: "round" });
      await allowed("budget");
      await translated;
      const result = { finish: "stop", usage: { input_tokens: 14, output_tokens: 1 } };
      for (const { params } of asked.slice(-2))
        exchanges.recorder.exchange("lares/models/generate", { params, result });
    });

    test("blocks that several minds share", async () => {
      const id = await open({ title: "The harbour" });
      await say(id, "Note the harbour.");
      await allowed("block");
      await rested(id);
      await ask("lares/conversations/blocks", { agent: READER });
      await ask("lares/conversations/blocks", { agent: OUTSIDER });
      await ask("lares/conversations/editBlock", {
        agent: READER,
        name: "harbour",
        text: "The harbour is closed.",
      });
    });

    test("a memory that a person corrects and forgets, and texts that they redact", async () => {
      const memories = async (text: string): Promise<string> =>
        await until("the memory", async () => {
          const { items } = await client.request<{ items: { id: string }[] }>("lares/memory/query", {
            agent: CURATOR,
            kind: "associative",
          });
          return items.find((item) => JSON.stringify(item).includes(text))?.id;
        });
      const edit = (text: string, more: object = { name: "shelves" }) =>
        client.request("lares/conversations/editBlock", { agent: CURATOR, text, ...more });
      const nineteen = "The code of the cellar is pomegranate nineteen.";
      const twenty = "The code of the cellar is pomegranate twenty.";
      const attic = "The key of the attic hangs behind the clock.";
      const gate = "The gate opens at seven sharp.";

      await edit(nineteen);
      const id = await open({ title: "The cellar" });
      await say(id, `Remember: ${nineteen}`);
      const memory = await memories("nineteen");
      await say(id, "What do I know of the cellar?");
      await ask("lares/conversations/why", { id });
      await edit("Ada asks about the cellar.", { id, name: "visit" });
      await ask("lares/conversations/search", {
        agent: CURATOR,
        query: "cellar",
        in: ["memories", "blocks"],
      });
      const corrected = await ask<{ id: string }>("lares/memory/correct", {
        agent: CURATOR,
        id: memory,
        text: twenty,
      });
      await edit(twenty);
      await say(id, `Is it right? ${twenty}`);
      await ask("lares/memory/forget", { agent: CURATOR, id: corrected.id });

      await edit(gate);
      const house = await open({ title: "The house" });
      await say(house, `Write it down: ${gate}`);
      await pendingOf("notes/gate.md");
      await say(house, `Remember: ${attic}`);
      await ask("lares/conversations/redact", { id: house, text: gate });
      await ask("lares/conversations/entries", { id: house, kinds: ["redaction"] });
      await say(house, `Write it down: ${attic}`);
      const { id: action, digest } = await pendingOf("notes/attic.md");
      await client.request("lares/actions/approve", { id: action, digest });
      await rested(house);
      const forgotten = await memories("attic");
      // A conversation that works is not searched.
      const circles = await open({ title: "More circles" });
      await client.request("lares/conversations/send", { id: circles, text: "Count the circles." });
      await waitsForPerson(circles);
      await ask("lares/memory/forget", { agent: CURATOR, id: forgotten, copies: true });
    });

    test("a log that is not as it was written", async () => {
      const id = await open({ title: "Damage" });
      await say(id, "Are you there?");
      const { stateFolder } = await bench.status(client);
      const folder = join(stateFolder, "conversations", id);
      for (const name of await readdir(folder, { recursive: true })) {
        const path = join(folder, name);
        const text = await readFile(path, "utf8").catch(() => "");
        if (text.includes("Are you there?"))
          await writeFile(path, text.replace("Are you there?", "Who are you?"));
      }
      const { ok } = await ask<{ ok: boolean }>("lares/conversations/verify", { id });
      expect(ok).toBe(false);
    });
  });

  test("a rehearsal, and a model that was found", async () => {
    await using bench = await Bench.create();
    const config = { XDG_CONFIG_HOME: join(bench.base, "config") };
    const path = join(bench.base, "rehearsal.yaml");
    await writeFile(path, "turns: []\n");
    const recorder = recorderOf();
    recorder.alsoAt([
      [bench.root, "/home/ada/empty"],
      [bench.base, "/home/ada"],
    ]);
    {
      const rehearsal = { LARES_REHEARSE: path, LARES_REHEARSE_RUN: "first" };
      await using client = await bench.open({ environment: { ...noModels, ...config, ...rehearsal } });
      const { pid, stateFolder } = await until("rest", async () => {
        const status = await bench.status(client);
        return (status as { idle?: boolean }).idle === true && status;
      });
      recorder.alsoAt([[stateFolder, "/home/ada/.local/state/lares/workspaces/empty-0000"]]);
      const exchanges = new Exchanges(client, recorder);
      await exchanges.ask("lares/status");
      await exchanges.ask("lares/models/list", { refresh: true });
      await client.shutdown();
      await bench.kill(pid);
    }
    const found = { ...noModels, ...config, ANTHROPIC_API_KEY: "sk-ant-of-this-test-alone" };
    await using client = await bench.open({ environment: found });
    await new Exchanges(client, recorder).ask("lares/models/list", {});
  });

  test("what a provider says of its models", async () => {
    await using bench = await Bench.create();
    const provider = createServer((_, response) => void response.end(JSON.stringify(listing)));
    provider.listen(0, "127.0.0.1");
    await once(provider, "listening");
    const host = `127.0.0.1:${(provider.address() as AddressInfo).port}`;
    const config = join(bench.base, "config", "lares");
    await mkdir(config, { recursive: true });
    const models = { providers: { desk: { api: "openai-compatible", base_url: `http://${host}/v1` } } };
    await writeFile(join(config, "lares.yaml"), JSON.stringify({ version: 1, models }));
    const recorder = recorderOf();
    recorder.alsoAt([
      [bench.base, "/home/ada"],
      [host, "127.0.0.1:8080"],
    ]);
    await using client = await bench.open({
      environment: { ...noModels, XDG_CONFIG_HOME: join(bench.base, "config") },
    });
    await new Exchanges(client, recorder).ask("lares/models/list", { refresh: true });
    provider.closeAllConnections();
    provider.close();
  });
}
