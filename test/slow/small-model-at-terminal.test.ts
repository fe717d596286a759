import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { instructModel } from "../../kernel/src/inference/testing/instruct-model.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { hasTerminals, TerminalRun } from "../support/command-line.ts";
import { runNode } from "../support/run-node.ts";
import { installWithLlama, reader, smallModels, writeFiles } from "../support/small-model.ts";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { until } from "../support/until.ts";

/** Few enough that ten turns do not fit, and the conversation has to be kept within it. */
const window = 2_560;
const model = "local/smol";
const busy: ReadonlySet<string> = new Set(["Running", "Waiting", "WaitingForApproval"]);
/** On one core that others use too. */
const answerMs = 180_000;

interface Opened {
  readonly bench: Bench;
  readonly executable: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** A workspace whose mind has the small model. Null where the model cannot be had, with why. */
async function opened(): Promise<Opened | { readonly reason: string }> {
  const found = await instructModel();
  if ("reason" in found) return found;
  const bench = await Bench.create({
    files: reader.files,
    extensions: [{ id: reader.agent, manifest: reader.manifest.extension, files: reader.prompts }],
  });
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const config = join(bench.base, "config");
  await writeFiles(join(config, "lares"), smallModels(found.path, window));
  const executable = await installWithLlama(join(bench.base, "installed"));
  return { bench, executable, environment: { XDG_CONFIG_HOME: config } };
}

/** Reads the only conversation. Its state may be newer than the entries, never older; new ones are added to `seen`. */
async function lookAt(
  client: Client,
  seen: Entry[],
): Promise<{ conversation: Conversation; entries: readonly Entry[] }> {
  const { items } = await client.request<{ items: Conversation[] }>("lares/conversations/list", {});
  const id = items[0]?.id ?? expect.unreachable("There is no conversation.");
  for (let isEnd = false; !isEnd;) {
    const after = seen.at(-1)?.seq ?? 0;
    const page = await client.request<{ items: Entry[] }>("lares/conversations/entries", {
      id,
      after,
      limit: 1_000,
    });
    seen.push(...page.items);
    isEnd = page.items.length === 0;
  }
  return {
    conversation: await client.request<Conversation>("lares/conversations/get", { id }),
    entries: seen,
  };
}

test.skipIf(!hasTerminals)(
  "a real small model holds ten turns in lares chat and calls a tool, over a compaction and a kernel that is killed in mid-answer",
  async ({ skip }) => {
    const found = await opened();
    if ("reason" in found) return skip(found.reason);
    const { bench, executable, environment } = found;
    const accepted = await runNode([executable, "permissions", bench.root, "--grant", reader.agent], {
      cwd: bench.root,
      env: { ...process.env, ...environment, LARES_HOME: bench.home },
    });
    expect(accepted.code, accepted.stderr).toBe(0);
    using run = new TerminalRun(bench, ["chat", "--folder", bench.root, "--model", "example/script"], {
      columns: 90,
      rows: 40,
      executable,
      environment,
    });
    await run.sees(/Write to Reader/);
    run.type(`${reader.first}\r`);
    await run.sees(/files\/read notes\.md {2}✓[^]*It says: Buy milk\./);
    const client = await bench.open({ executable, environment });
    run.type(`/model ${model}\r`);
    await run.sees(/local\/smol · [\d,]+ of 2,560 tokens/);

    const seen: Entry[] = [];
    let asked = 1;
    for (const text of reader.turns) {
      run.type(`${text}\r`);
      asked++;
      if (text.includes("story")) await killInMidAnswer(client, run, bench, { seen, asked });
      await until(
        `the answer to ${text}`,
        async () => {
          const now = await lookAt(client, seen).catch(() => null);
          if (now === null) return false;
          await denyAsks(client);
          const sent = now.entries.filter((entry) => entry.kind === "message" && entry.origin === "person");
          const channel = now.conversation.processes.find(({ kind }) => kind === "channel");
          const last = now.entries.findLast(({ kind }) => kind === "request")?.seq ?? 0;
          const isRead = last > (sent.at(-1)?.seq ?? 0) || channel?.state === "Failed";
          const isBusy = now.conversation.processes.some(({ state }) => busy.has(state));
          return sent.length === asked && isRead && !isBusy;
        },
        answerMs,
      );
      // The state that ended the wait may be newer than the entries before it: now nothing is running, both are the last.
      const { conversation, entries } = await lookAt(client, seen);
      const [channel] = conversation.processes.filter(({ kind }) => kind === "channel");
      const said = entries.findLast((entry) => entry.kind === "message" && entry.role === "assistant");
      const request = entries.findLast((entry) => entry.kind === "request");
      const isEmpty = entries.some((entry) => entry.kind === "void" && entry.message === request?.message);
      // A text, or an error that says of which kind it is. A model as small as this may also end a turn without a word.
      if (channel?.state === "Failed") expect(channel.error?.class, text).toBeTruthy();
      else {
        expect(channel?.state, text).toBe("WaitingForInput");
        if (!isEmpty)
          expect(said, text).toMatchObject({
            parts: [{ type: "text", text: expect.stringMatching(/\S/) as string }],
          });
      }
      expect(conversation.context.limit).toBe(window);
      expect(conversation.context.tokens, text).toBeLessThanOrEqual(window);
    }
    // Short answers may fit the window to the end: then the person asks for a summary.
    if (!isCompacted(await lookAt(client, seen))) run.type("/compact\r");
    const { conversation, entries } = await until(
      "a summary",
      async () => {
        const now = await lookAt(client, seen).catch(() => null);
        await denyAsks(client);
        return now !== null && isCompacted(now) && now;
      },
      answerMs,
    );
    // A call belongs to the last request before it of its process.
    const calls = entries.flatMap((entry, index) => {
      if (entry.kind !== "tool_call") return [];
      const request = entries
        .slice(0, index)
        .findLast((each) => each.kind === "request" && each.process === entry.process);
      return request?.kind === "request" && request.model === model ? [entry.call] : [];
    });
    const succeeded = entries.filter(
      (entry) =>
        entry.kind === "tool_result" && calls.includes(entry.call) && entry.result.status === "success",
    );
    expect(succeeded.length).toBeGreaterThan(0);
    expect(
      conversation.processes.filter(({ kind, state }) => kind === "channel" && state === "Failed"),
    ).toEqual([]);
    expect(JSON.stringify(succeeded)).toMatch(/pear tree|Call Ann|Go north|Along the river/);
    run.type("\u0004");
    expect(await run.ended).toBe(0);
  },
);

/** True if there is a summary, or a compaction that says why its model gave none. */
function isCompacted({ conversation, entries }: Awaited<ReturnType<typeof lookAt>>): boolean {
  return (
    entries.some(({ kind }) => kind === "summary") ||
    conversation.processes.some(({ kind, error }) => kind === "compaction" && error?.class !== undefined)
  );
}

/** The third equal call in a row is asked about, and small models repeat themselves. */
async function denyAsks(client: Client): Promise<void> {
  const asks = await client.request<{ id: string; digest: string; state: string }[]>("lares/asks/list", {});
  for (const { id, digest, state } of asks)
    if (state === "Pending") await client.request("lares/asks/answer", { id, digest, allow: false });
}

/**
 * Waits until a part of an answer is on the disk and on the screen, and kills the kernel. A model as small as this may ask
 * for a file instead, or be done at once: then the kernel dies after the answer.
 */
async function killInMidAnswer(
  client: Client,
  run: TerminalRun,
  bench: Bench,
  { seen, asked }: { readonly seen: Entry[]; readonly asked: number },
): Promise<void> {
  await until(
    "a part of the story, or its end",
    async () => {
      const { conversation, entries } = await lookAt(client, seen);
      await denyAsks(client);
      const last = entries.at(-1);
      if (last?.kind === "message" && last.partial === true) return true;
      const sent = entries.filter((entry) => entry.kind === "message" && entry.origin === "person");
      const request = entries.findLast(({ kind }) => kind === "request")?.seq ?? 0;
      const isRead = sent.length === asked && request > (sent.at(-1)?.seq ?? 0);
      return isRead && !conversation.processes.some(({ state }) => busy.has(state));
    },
    answerMs,
  );
  const found = execFileSync("pgrep", ["-f", `kernel --state=${join(bench.home, "workspaces")}/workspace-`], {
    encoding: "utf8",
  });
  process.kill(Number(found.trim().split("\n")[0]), "SIGKILL");
  await run.sees(/the kernel is being started again/);
}
