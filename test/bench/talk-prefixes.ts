/** Counts the requests that begin with all of the one before, its suffix aside. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { RunOptions } from "./figure.ts";
import { MindSession } from "./mind-session.ts";
import type { Row } from "./report.ts";

const script = `
turns:
  - { process: worker, say: "Found", delay_ms: 50, repeat: true }
`;

interface Message {
  readonly role: string;
  readonly content: string | null | readonly { readonly text?: string }[];
}
interface Sent {
  readonly messages: readonly Message[];
  readonly tools?: readonly unknown[];
}

/** Every so many turns a worker is started; its end changes the status and wakes the channel. */
const workerEvery = 5;

export async function prefixes({ isShort, say }: RunOptions): Promise<Row[]> {
  const turns = isShort ? 15 : 50;
  const requests: Sent[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
    request.on("end", () => {
      const sent = JSON.parse(body) as Sent;
      requests.push(sent);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(answerTo(sent));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    await using talk = await MindSession.open({
      script,
      models: {
        providers: { lab: { api: "openai-compatible", base_url: baseUrl, context_tokens: 1_000_000 } },
        routes: { default: "lab/m", worker: "script/script" },
        // Counted as for everybody.
        budgets: { per_day_tokens: 1_000_000_000 },
      },
    });
    const conversation = await talk.begin();
    for (let turn = 0; turn < turns; turn++)
      await talk.say(conversation, turn % workerEvery === 0 ? `start a worker, ${turn}` : `turn ${turn}`);
    say(`${requests.length} requests in ${turns} turns: done`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
  const pairs = requests.slice(1).map((request, index) => [requests[index], request] as const);
  const suffixes = new Set(requests.map((request) => textsOf(request).suffix));
  return [
    {
      what: `requests over ${turns} turns that begin with all bytes of the one before, the suffix aside`,
      value: (100 * pairs.filter(([before, after]) => continues(before, after)).length) / pairs.length,
      unit: "%",
      target: { atLeast: 100 },
      samples: pairs.length,
      note: `${suffixes.size} different suffixes`,
    },
  ];
}

/** The suffix of a context begins with how things stand, or with the time; the adapter adds it to the last message. */
const suffixStart = /^\["(?:status|time)"\]/;

/** Returns the texts that a provider reads, one behind the other: it knows no difference between a text and a list of one. */
function textsOf({ messages, tools = [] }: Sent): { readonly kept: string; readonly suffix: string } {
  const texts = messages.flatMap(({ content, ...rest }) => {
    const parts = typeof content === "string" ? [{ text: content }] : (content ?? []);
    return [
      rest.role,
      ...parts.map(({ text, ...more }) => text ?? JSON.stringify(more)),
      JSON.stringify(rest),
    ];
  });
  // Behind the last text is only the rest of its message.
  const at = texts.length - 2;
  const hasSuffix = suffixStart.test(texts[at] ?? "");
  const isAlone = hasSuffix && texts[at - 1] === messages.at(-1)?.role;
  const kept = hasSuffix ? texts.slice(0, isAlone ? at - 1 : at) : texts;
  return { kept: [JSON.stringify(tools), ...kept].join("\n"), suffix: hasSuffix ? (texts[at] ?? "") : "" };
}

function continues(before: Sent | undefined, after: Sent): boolean {
  return before !== undefined && textsOf(after).kept.startsWith(textsOf(before).kept);
}

/** OpenAI's Chat Completions: one event of the answer. */
function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices })}\n\n`;
}

function answerTo({ messages }: Sent): string {
  const last = JSON.stringify(messages.findLast(({ role }) => role !== "system"));
  const call = {
    index: 0,
    id: `call_${messages.length}`,
    type: "function",
    function: { name: "spawn_worker", arguments: JSON.stringify({ task: `look ${messages.length}` }) },
  };
  const answer = last.includes("start a worker")
    ? chunk({ role: "assistant", tool_calls: [call] }) + chunk({}, "tool_calls")
    : chunk({ role: "assistant", content: "Well." }) + chunk({}, "stop");
  return `${answer}data: [DONE]\n\n`;
}
