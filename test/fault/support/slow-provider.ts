/** A provider of language models in the test's own process: OpenAI's Chat Completions, streamed slowly. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Sent, SentRequests } from "./sent-requests.ts";

/** The provider's answer: words, then calls. A tool is given by the end of its name on the wire. */
export interface Said {
  readonly text: string;
  readonly calls?: readonly { readonly tool: string; readonly arguments: object }[];
}

/** The pause between two pieces of an answer. */
const pieceEveryMs = 40;
const maxWords = 10;

const event = (choice: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, ...choice }], ...more })}\n\n`;

export class SlowProvider implements AsyncDisposable {
  /** Tools that an answer should have called and the request did not offer. */
  readonly missing: string[] = [];
  readonly sent = new SentRequests();
  readonly host: string;
  /** Requests that arrived. */
  requests = 0;
  readonly #close: () => void;

  private constructor(host: string, close: () => void) {
    this.host = host;
    this.#close = close;
  }

  static async start(answer: (sent: Sent) => Said): Promise<SlowProvider> {
    const server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
      request.on("end", () => {
        const sent = JSON.parse(body) as Sent;
        provider.requests++;
        provider.sent.take(sent);
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.flushHeaders();
        stream(response, pieces(sent, answer(sent), provider.missing));
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const provider = new SlowProvider(`127.0.0.1:${(server.address() as AddressInfo).port}`, () => {
      server.closeAllConnections();
      server.close();
    });
    return provider;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
  }
}

function usageOf(sent: Pick<Sent, "messages" | "tools">, text: string): object {
  const [input, output] = [JSON.stringify(sent).length, text.length].map((length) => Math.ceil(length / 4));
  return { prompt_tokens: input, completion_tokens: output, total_tokens: (input ?? 0) + (output ?? 0) };
}

function pieces(
  { messages, tools = [] }: Omit<Sent, "model">,
  { text, calls = [] }: Said,
  missing: string[],
): string[] {
  const named = calls.flatMap((call) => {
    const name = tools
      .map(({ function: { name: offered } }) => offered)
      .find((each) => each.endsWith(call.tool));
    if (name === undefined) missing.push(call.tool);
    return name === undefined ? [] : [{ name, arguments: JSON.stringify(call.arguments) }];
  });
  const usage = usageOf({ messages, tools }, text);
  // The end of a long text comes in one piece.
  const words = text.match(/\s*\S+/g) ?? [];
  const spoken = [...words.slice(0, maxWords), words.slice(maxWords).join("")].filter((each) => each !== "");
  return [
    ...spoken.map((content) => event({ delta: { content } })),
    ...named.map((called, index) =>
      event({
        delta: { tool_calls: [{ index, id: `call_${index}`, type: "function", function: called }] },
      }),
    ),
    `${event({ delta: {}, finish_reason: named.length > 0 ? "tool_calls" : "stop" }, { usage })}data: [DONE]\n\n`,
  ];
}

/** Writes one piece after the other, as long as somebody reads them. */
function stream(response: ServerResponse, pieces: readonly string[]): void {
  const left = [...pieces];
  const timer = setInterval(() => {
    response.write(left.shift() ?? "");
    if (left.length > 0) return;
    clearInterval(timer);
    response.end();
  }, pieceEveryMs);
  response.once("close", () => clearInterval(timer));
}
