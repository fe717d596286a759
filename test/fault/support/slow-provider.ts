/** A provider of language models in the test's own process: OpenAI's Chat Completions, streamed slowly. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as the provider reads it. */
export interface Sent {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** The provider's answer: words, then calls. A tool is given by the end of its name on the wire. */
export interface Said {
  readonly text: string;
  readonly calls?: readonly { readonly tool: string; readonly arguments: object }[];
}

/** The pause between two pieces of an answer. */
const pieceEveryMs = 40;

const event = (choice: object, more: object = {}): string =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, ...choice }], ...more })}\n\n`;

export class SlowProvider implements AsyncDisposable {
  /** Tools that an answer should have called and the request did not offer. */
  readonly missing: string[] = [];
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

function pieces({ tools = [] }: Sent, { text, calls = [] }: Said, missing: string[]): string[] {
  const named = calls.flatMap((call) => {
    const name = tools
      .map(({ function: { name: offered } }) => offered)
      .find((each) => each.endsWith(call.tool));
    if (name === undefined) missing.push(call.tool);
    return name === undefined ? [] : [{ name, arguments: JSON.stringify(call.arguments) }];
  });
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return [
    ...(text.match(/\s*\S+/g) ?? []).map((content) => event({ delta: { content } })),
    ...named.map((called, index) =>
      event({
        delta: { tool_calls: [{ index, id: `call_${index}`, type: "function", function: called }] },
      }),
    ),
    `${event({ delta: {}, finish_reason: named.length > 0 ? "tool_calls" : "stop" }, { usage })}data: [DONE]\n\n`,
  ];
}

/** Writes one piece after the other, as long as somebody reads them. */
function stream(response: ServerResponse, left: readonly string[]): void {
  const [piece, ...others] = left;
  if (piece === undefined) return void response.end();
  const timer = setTimeout(() => {
    response.write(piece);
    stream(response, others);
  }, pieceEveryMs);
  response.once("close", () => clearTimeout(timer));
}
