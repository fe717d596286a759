import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

const sources = new URL("../", import.meta.url).href;
const packages = new URL("../../../node_modules/", import.meta.url).href;

/** The rooms and packages that a front may load before `initialize` is answered. */
const roomsAtStart = ["main.ts", "front", "protocol", "platform", "base"];
const packagesAtStart = ["canonicalize", "vscode-languageserver-textdocument"];
/** Every further file slows down each editor's start; raise this only after `npm run bench -- start`. */
const filesAtStart = 64;

const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { capabilities: {} } });

/** Returns the URLs of all modules loaded before the first byte of the answer arrived. */
async function loadedBeforeTheAnswer(folder: string): Promise<string[]> {
  const list = join(folder, "loaded.txt");
  const hook = join(folder, "hook.mjs");
  await writeFile(list, "");
  await writeFile(
    hook,
    `import { appendFileSync } from "node:fs";
     import { registerHooks } from "node:module";
     registerHooks({
       load(url, context, next) {
         appendFileSync(${JSON.stringify(list)}, url + "\\n");
         return next(url, context);
       },
     });`,
  );
  const main = new URL("../main.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, ["--import", pathToFileURL(hook).href, main, "serve", "--stdio"], {
    env: { PATH: process.env["PATH"] ?? "", LARES_HOME: folder },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.stdin.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const loaded = (await readFile(list, "utf8")).trim().split("\n");
  child.stdin.end();
  await exited;
  return loaded;
}

test("before initialize is answered, the front loads a few files of its own and nothing heavy", async () => {
  const folder = await mkdtemp(join(tmpdir(), "lares-start-"));
  try {
    const loaded = (await loadedBeforeTheAnswer(folder)).filter((url) => !url.startsWith("node:"));
    const firstName = (url: string, base: string): string => String(url.slice(base.length).split("/")[0]);
    const ofPackages = loaded.filter((url) => url.startsWith(packages));
    const ofRooms = loaded.filter((url) => url.startsWith(sources));
    expect(ofRooms).not.toEqual([]);
    expect(loaded).toHaveLength(ofPackages.length + ofRooms.length);
    expect(ofPackages.filter((url) => !packagesAtStart.includes(firstName(url, packages)))).toEqual([]);
    expect(ofRooms.filter((url) => !roomsAtStart.includes(firstName(url, sources)))).toEqual([]);
    expect(loaded.length).toBeLessThanOrEqual(filesAtStart);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
