import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly input: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** Writes this many blanks first; without end if it is Infinity. */
  readonly blanks?: number;
  /** The request is never answered. */
  readonly isSilent?: boolean;
  /** The connection is closed in the middle of the answer. */
  readonly isCut?: boolean;
}

/** A local server that speaks `/v1/embeddings`, or answers what a test tells it to. */
export async function endpoint(
  answer: (asked: Asked, count: number) => Answer,
): Promise<{ url: string; asked: Asked[]; server: Server }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    request.on("end", () => {
      const body = JSON.parse(text) as Asked["body"];
      asked.push({
        path: request.url ?? "",
        headers: request.headers,
        input: body["input"] as string[],
        body,
      });
      const {
        status,
        headers,
        body: says,
        blanks,
        isSilent,
        isCut,
      } = answer(asked.at(-1) as Asked, asked.length);
      if (isSilent === true) return;
      response.writeHead(status ?? 200, { "content-type": "application/json", ...headers });
      if (isCut === true) return response.write('{"data": [', () => response.destroy());
      if (blanks === Infinity) return pour();
      if (blanks !== undefined) response.write(" ".repeat(blanks));
      response.end(typeof says === "string" ? says : JSON.stringify(says));
      function pour(): void {
        while (!response.destroyed && response.write(" ".repeat(65_536)));
        if (!response.destroyed) response.once("drain", pour);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, server };
}

/** Answers as real services do. */
export const embedded = (vectors: readonly (readonly number[])[]): Answer => ({
  body: {
    object: "list",
    data: vectors.map((embedding, index) => ({ object: "embedding", index, embedding })),
    usage: { prompt_tokens: 1 },
  },
});
