import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";

/** Serves the files of a folder at an address of this machine. */
export class ServedFolder implements AsyncDisposable {
  readonly url: string;
  /** Requested paths, oldest first. */
  readonly requested: string[];
  readonly #close: () => Promise<void>;

  private constructor(url: string, requested: string[], close: () => Promise<void>) {
    this.url = url;
    this.requested = requested;
    this.#close = close;
  }

  static async start(folder: string): Promise<ServedFolder> {
    const requested: string[] = [];
    const server = createServer(({ url = "" }, response) => {
      requested.push(url);
      void readFile(join(folder, basename(url))).then(
        (body) => response.writeHead(200, { "Content-Type": "application/json" }).end(body),
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    return new ServedFolder(`http://localhost:${port}/lares@1/schemas`, requested, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}
