/**
 * Taplo's language server, run like Even Better TOML's own server process: messages are passed over Node's channel
 * between processes. It can reach only this machine, because it would ask a public catalogue at its start.
 */
import { accessSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { isAbsolute, join } from "node:path";
import process from "node:process";

/** The used part of `@taplo/lsp`, which only the suites that use it install. */
interface Taplo {
  readonly TaploLsp: {
    initialize(
      environment: object,
      options: { onMessage(message: unknown): void },
    ): Promise<{ send(message: unknown): void }>;
  };
}
const taplo = createRequire(new URL("../servers/package.json", import.meta.url))("@taplo/lsp") as Taplo;

const fetchAnywhere = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const { hostname } = new URL(input instanceof Request ? input.url : input);
  if (hostname !== "localhost") throw new TypeError(`${hostname} is not asked in tests`);
  return fetchAnywhere(input, init);
};

const starting = taplo.TaploLsp.initialize(
  {
    cwd: () => process.cwd(),
    envVar: (name: string) => process.env[name],
    envVars: () => Object.entries(process.env).map(([name, value = ""]) => [name, value]),
    findConfigFile: (folder: string) =>
      [".taplo.toml", "taplo.toml"].map((name) => join(folder, name)).find((path) => isThere(path)),
    glob: () => [],
    isAbsolute,
    now: () => new Date(),
    readFile: (path: string) => readFile(path),
    writeFile: (path: string, bytes: Uint8Array) => writeFile(path, bytes),
    stdErrAtty: () => false,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    // It also asks for addresses that are not files.
    urlToFilePath: (url: string) => decodeURIComponent(url).slice("file://".length),
  },
  { onMessage: (message) => void process.send?.(message) },
);

process.on("message", (message: unknown) => void starting.then((server) => server.send(message)));
process.on("disconnect", () => process.exit());

function isThere(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false;
  }
}
