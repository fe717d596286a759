import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChildProcess, type ChildProcessOptions, startChildProcess } from "./child-process.ts";

let folder = "";
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "lares-child-")));
});
afterAll(() => rm(folder, { recursive: true }));

/** A child that runs `body`, with `channel` and `say` (a line to the parent) at hand. */
async function child(
  name: string,
  body: string,
  more: Pick<ChildProcessOptions, "writable" | "environment" | "nativeCode"> = {},
): Promise<ChildProcess> {
  const channel = new URL("./child-process.ts", import.meta.url).href;
  const entry = join(folder, `${name}.mjs`);
  await writeFile(
    entry,
    `import { openParentChannel } from "${channel}";
     const channel = openParentChannel();
     const say = (value) => channel.write(new TextEncoder().encode(JSON.stringify(value) + "\\n"));
     ${body}`,
  );
  return startChildProcess({
    entry: pathToFileURL(entry),
    readable: [folder, new URL("../../", import.meta.url)],
    workers: false,
    ...more,
  });
}

function firstLine(running: ChildProcess): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  let text = "";
  const listening = running.channel.chunks.on((chunk) => {
    text += new TextDecoder().decode(chunk);
    if (!text.includes("\n")) return;
    listening[Symbol.dispose]();
    resolve(JSON.parse(text));
  });
  return promise;
}

test("a child sees no environment, reads only what it may, writes nothing, starts nothing", async () => {
  await using running = await child(
    "narrow",
    `import { readFileSync, writeFileSync } from "node:fs";
     import { spawnSync } from "node:child_process";
     import { Worker } from "node:worker_threads";
     const tried = (run) => { try { run(); return "done"; } catch (error) { return error.code; } };
     say({
       environment: Object.keys(process.env),
       own: tried(() => readFileSync(new URL(import.meta.url))),
       other: tried(() => readFileSync("/etc/passwd")),
       write: tried(() => writeFileSync(new URL("./x", import.meta.url), "")),
       spawn: tried(() => spawnSync("true")),
       worker: tried(() => new Worker("0", { eval: true })),
     });`,
  );
  expect(await firstLine(running)).toEqual({
    environment: [],
    own: "done",
    other: "ERR_ACCESS_DENIED",
    write: "ERR_ACCESS_DENIED",
    spawn: "ERR_ACCESS_DENIED",
    worker: "ERR_ACCESS_DENIED",
  });
});

test("a child with more permissions writes to its folders, loads native code and gets its environment", async () => {
  const writable = join(folder, "writable");
  await mkdir(writable);
  const body = `import { writeFileSync } from "node:fs";
     const tried = (run) => { try { run(); return "done"; } catch (error) { return error.code; } };
     say({
       environment: process.env,
       inside: tried(() => writeFileSync(new URL("./writable/x", import.meta.url), "")),
       beside: tried(() => writeFileSync(new URL("./x", import.meta.url), "")),
       native: tried(() => process.dlopen({ exports: {} }, new URL("./no.node", import.meta.url).pathname)),
     });`;
  const environment = { NAME: "value" };
  await using wide = await child("wide", body, { writable: [writable], environment, nativeCode: true });
  expect(await firstLine(wide)).toEqual({
    environment,
    inside: "done",
    beside: "ERR_ACCESS_DENIED",
    native: "ERR_DLOPEN_FAILED",
  });
  await using narrow = await child("without", body);
  expect(await firstLine(narrow)).toMatchObject({
    environment: {},
    inside: "ERR_ACCESS_DENIED",
    native: "ERR_DLOPEN_DISABLED",
  });
});

test("bytes go both ways, and a megabyte at once arrives whole", async () => {
  await using running = await child("echo", `channel.chunks.on((chunk) => channel.write(chunk.slice()));`);
  let received = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  running.channel.chunks.on((chunk) => (received += chunk.length) === 1_000_003 && resolve());
  running.channel.write(new Uint8Array(3), new Uint8Array(1_000_000));
  await promise;
});

test("a child notices its parent's end by the end of the channel", async () => {
  const running = await child("waits", `void channel.closed.then(() => process.exit(7)); say("ready");`);
  await firstLine(running);
  running.channel.close();
  expect(await running.exited).toBe("ended with exit code 7");
});

test("its output arrives as lines and disturbs nothing; if it is killed, the signal is reported", async () => {
  const running = await child(
    "prints",
    `console.log("to stdout"); console.error("to stderr"); say("fine"); setInterval(() => {}, 1000);`,
  );
  const lines: string[] = [];
  running.output.on((line) => lines.push(line));
  expect(await firstLine(running)).toBe("fine");
  await expect.poll(() => lines.toSorted(), { timeout: 30_000 }).toEqual(["to stderr", "to stdout"]);
  await running.kill();
  expect(await running.exited).toBe("ended by SIGKILL");
});

test("a child of an editor's own Node is a Node and no window", () => {
  // Node reads the versions when the module is loaded; an editor's executable has "electron" among them.
  const script = `
    Object.defineProperty(process.versions, "electron", { value: "40.0.0" });
    const { startChildProcess } = await import(${JSON.stringify(new URL("./child-process.ts", import.meta.url).href)});
    const started = await startChildProcess({
      entry: new URL(${JSON.stringify(pathToFileURL(join(folder, "environment.mjs")).href)}),
      readable: [${JSON.stringify(folder)}],
      workers: false,
    });
    started.output.on((line) => console.log(line));
    await started.exited;`;
  writeFileSync(
    join(folder, "environment.mjs"),
    "console.log(JSON.stringify(process.env.ELECTRON_RUN_AS_NODE ?? null));",
  );
  const said = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  expect(said).toBe('"1"\n');
});

test("a child finds a package that it may read behind a nearer folder of packages, and reads no further one", async () => {
  const wanted = join(folder, "node_modules", "wanted");
  await mkdir(wanted, { recursive: true });
  await writeFile(join(wanted, "package.json"), '{ "name": "wanted", "main": "index.js" }');
  await writeFile(join(wanted, "index.js"), 'module.exports = "found";');
  const program = join(folder, "checkout", "program");
  await mkdir(program, { recursive: true });
  await mkdir(join(folder, "checkout", "node_modules", "other"), { recursive: true });
  const entry = join(program, "entry.mjs");
  await writeFile(
    entry,
    `import { createRequire } from "node:module";
     import { readdirSync } from "node:fs";
     import { openParentChannel } from "${new URL("./child-process.ts", import.meta.url).href}";
     let said;
     try { said = createRequire(import.meta.url)("wanted"); } catch (error) { said = error.code; }
     let beside;
     try { beside = readdirSync(${JSON.stringify(folder)}); } catch (error) { beside = error.code; }
     openParentChannel().write(new TextEncoder().encode(JSON.stringify([said, beside]) + "\\n"));`,
  );
  await using running = await startChildProcess({
    entry: pathToFileURL(entry),
    readable: [program, new URL("../../", import.meta.url), join(folder, "node_modules")],
    workers: false,
  });
  expect(await firstLine(running)).toEqual(["found", "ERR_ACCESS_DENIED"]);
});
